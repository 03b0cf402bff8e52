package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/trace"
)

const at = `"2026-11-21T09:30:00.000Z"`

// past is an event for two endpoints: one delivery is queued, the other failed once.
type past struct {
	*bundle
	event            hook.Event
	queued, retrying hook.Delivery
}

func story(t *testing.T) past {
	t.Helper()

	b := setup(t)
	p := past{bundle: b}
	for range 2 {
		b.create(t, `{"url":"https://example.com/","retry":{"schedule":["1m","1h","48h"],"jitter":"none"}}`)
	}
	get[object](t, b, owner, 202, "POST", eventsURL, `{"event_type":"order.paid","payload":{"n":1}}`, "Idempotency-Key: k")
	var err error
	if p.event, err = b.store.Event(t.Context(), hook.KeyedEventID("acme", "k")); err != nil {
		t.Fatalf("Event = %v", err)
	}
	p.queued = hook.QueuedDelivery(p.event, p.event.Targets[0])
	p.retrying = hook.QueuedDelivery(p.event, p.event.Targets[1])
	p.retrying.State, p.retrying.Attempts, p.retrying.NextAttemptAt = hook.StateRetrying, 1, b.now.Add(2*time.Minute)
	p.retrying.Last = hook.Outcome{
		Class: hook.ClassUnavailable, Status: 503, Error: "the endpoint answered 503", URL: "https://example.com/",
		Body: []byte("d\xffown"), Duration: 81 * time.Millisecond, RetryAfter: 2 * time.Minute,
	}
	attempt := &hook.Attempt{
		Delivery: p.retrying.Ref(), Number: 1, Trigger: hook.TriggerEvent, StartedAt: b.now,
		NextAttemptAt: p.retrying.NextAttemptAt, Outcome: p.retrying.Last,
	}
	if err := b.store.SaveDelivery(t.Context(), p.retrying, attempt); err != nil {
		t.Fatalf("SaveDelivery = %v", err)
	}
	if p.retrying, err = b.store.Delivery(t.Context(), p.retrying.Ref()); err != nil {
		t.Fatalf("Delivery = %v", err)
	}
	return p
}

const (
	outcomeJSON = `"class":"unavailable","status":503,"error":"the endpoint answered 503","url":"https://example.com/",` +
		`"duration":"81ms","retry_after":"2m","body":"d` + "\ufffd" + `own"`
	nextJSON = `"next_attempt_at":"2026-11-21T09:32:00.000Z"`
	endJSON  = `"gives_up_at":"2026-11-24T09:30:00.000Z"` // 72 hours after the creation
)

func (p past) queuedJSON() string {
	return fmt.Sprintf(`{"id":%q,"event_id":%q,"endpoint_id":%q,"event_type":"order.paid","generation":1,"state":"queued","attempts":0,`+
		`"created_at":%s,"updated_at":%s,%s}`, p.queued.ID, p.event.ID, p.queued.ID.Endpoint, at, at, endJSON)
}

func (p past) retryingJSON() string {
	return fmt.Sprintf(`{"id":%q,"event_id":%q,"endpoint_id":%q,"event_type":"order.paid","generation":1,"state":"retrying","attempts":1,`+
		`"created_at":%s,"updated_at":%s,%s,%s,"last":{%s}}`, p.retrying.ID, p.event.ID, p.retrying.ID.Endpoint, at, at, nextJSON, endJSON, outcomeJSON)
}

func (p past) attemptJSON() string {
	return fmt.Sprintf(`{"delivery_id":%q,"endpoint_id":%q,"number":1,"trigger":"event","started_at":%s,%s,%s}`,
		p.retrying.ID, p.retrying.ID.Endpoint, at, outcomeJSON, nextJSON)
}

func TestHistory(t *testing.T) {
	t.Parallel()

	p := story(t)
	event := eventsURL + "/" + string(p.event.ID)
	endpoint := endpoints + "/" + string(p.retrying.ID.Endpoint)
	tests := []struct{ name, target, want string }{
		{name: "the event", target: event, want: fmt.Sprintf(
			`{"id":%q,"event_type":"order.paid","idempotency_key":"k","trace_id":%q,"endpoints":[%q,%q],"accepted_at":%s,"expires_at":"2027-02-19T09:30:00.000Z","payload":{"n":1}}`,
			p.event.ID, trace.Of(&p.event), p.event.Targets[0].Endpoint, p.event.Targets[1].Endpoint, at,
		)},
		{name: "its deliveries", target: event + "/deliveries", want: `{"data":[` + p.queuedJSON() + "," + p.retryingJSON() + `],"next_cursor":null}`},
		{name: "its attempts", target: event + "/attempts", want: `{"data":[` + p.attemptJSON() + `],"next_cursor":null}`},
		{
			name: "a queued delivery", target: "/v1/tenants/acme/deliveries/" + p.queued.ID.String(),
			want: strings.TrimSuffix(p.queuedJSON(), "}") + `,"history":[],"planned_at":[]}`,
		},
		{
			// 1 m after the failure, but the endpoint asked for 2 m; then 1 h; 48 h more is within the 72 h of max_age.
			name: "a retrying delivery", target: "/v1/tenants/acme/deliveries/" + p.retrying.ID.String(),
			want: strings.TrimSuffix(p.retryingJSON(), "}") + `,"history":[` + p.attemptJSON() +
				`],"planned_at":["2026-11-21T09:32:00.000Z","2026-11-21T10:32:00.000Z","2026-11-23T10:32:00.000Z"]}`,
		},
		{name: "an endpoint's deliveries", target: endpoint + "/deliveries?state=retrying", want: `{"data":[` + p.retryingJSON() + `],"next_cursor":null}`},
		{name: "an empty list", target: endpoint + "/deliveries?state=dead", want: `{"data":[],"next_cursor":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if w := p.do(t, reader, "GET", tt.target, ""); w.Code != 200 || w.Body.String() != tt.want {
				t.Errorf("GET %s = %d\n%s; want 200\n%s", tt.target, w.Code, w.Body, tt.want)
			}
		})
	}
}

func TestPages(t *testing.T) {
	t.Parallel()

	p := story(t)
	target := eventsURL + "/" + string(p.event.ID) + "/deliveries?limit=1"
	first := get[struct {
		Data       []object
		NextCursor *string `json:"next_cursor"`
	}](t, p.bundle, reader, 200, "GET", target, "")
	if len(first.Data) != 1 || first.Data[0]["id"] != p.queued.ID.String() || first.NextCursor == nil {
		t.Fatalf("first page = %v; want the queued delivery and a cursor", first)
	}
	w := p.do(t, reader, "GET", target+"&cursor="+*first.NextCursor, "")
	if want := `{"data":[` + p.retryingJSON() + `],"next_cursor":null}`; w.Code != 200 || w.Body.String() != want {
		t.Errorf("second page = %d %s; want 200 %s", w.Code, w.Body, want)
	}
	other := eventsURL + "/" + string(p.event.ID) + "/attempts?cursor=" + *first.NextCursor
	if w := p.do(t, reader, "GET", other, ""); w.Code != 400 {
		t.Errorf("another list with the cursor = %d %s; want 400", w.Code, w.Body)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()

	b := setup(t)
	w := b.do(t, admin, "POST", "/v1/keys", `{"name":"backend","tenant":"acme","scopes":["events:write","read"]}`)
	keys, err := b.store.Keys(t.Context())
	if err != nil || len(keys) != 1 || w.Code != 201 {
		t.Fatalf("POST = %d %s; %d keys, %v; want 201 and one", w.Code, w.Body, len(keys), err)
	}
	record := fmt.Sprintf(`{"id":%q,"name":"backend","tenant":"acme","scopes":["events:write","read"],"created_at":%s`, keys[0].ID, at)
	rest, ok := strings.CutPrefix(w.Body.String(), record+`,"key":"`)
	if key, end := strings.CutSuffix(rest, `"}`); !ok || !end || hook.HashKey(key) != keys[0].Hash {
		t.Errorf("POST = %s; want %s and the key", w.Body, record)
	}
	if w := b.do(t, admin, "GET", "/v1/keys", ""); w.Body.String() != `{"data":[`+record+`}],"next_cursor":null}` {
		t.Errorf("GET = %s; want the record alone", w.Body)
	}
	if w := b.do(t, admin, "DELETE", "/v1/keys/"+string(keys[0].ID), ""); w.Code != 204 {
		t.Errorf("DELETE = %d %s; want 204", w.Code, w.Body)
	}
	if w := b.do(t, admin, "DELETE", "/v1/keys/"+string(keys[0].ID), ""); w.Code != 404 || w.Body.String() != plain(404, "not_found", "no such key") {
		t.Errorf("second DELETE = %d %s; want 404", w.Code, w.Body)
	}
	const scopes = "must be one of events:write, endpoints:write, transformations, private, read, replay, audit, portal:write, tenants:read, admin"
	if w := b.do(t, admin, "POST", "/v1/keys", `{"name":"a","tenant":"*","scopes":["write"]}`); w.Body.String() != invalid("scopes[0]", scopes) {
		t.Errorf("POST of an unknown scope = %d %s; want the field scopes[0]", w.Code, w.Body)
	}
}
