package httpapi_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// queues holds the depths of the queues; absent queues are empty.
type queues names.Queues[status.Depth]

func (q queues) Depths(context.Context) (names.Queues[status.Depth], error) {
	return names.Queues[status.Depth](q), nil
}

// count counts attempts of acme's endpoint at the time.
func (b *bundle) count(t *testing.T, id string, at time.Time, attempts ...stats.Attempt) {
	t.Helper()

	var c stats.Counts
	for _, a := range attempts {
		c.Count(a)
	}
	if _, err := b.store.Count(t.Context(), "acme", hook.EndpointID(id), &c, at); err != nil {
		t.Fatalf("Count = %v", err)
	}
}

// mixed is four attempts: a success at the first attempt, one at the third, and two failures.
func mixed() []stats.Attempt {
	return []stats.Attempt{
		{Class: hook.ClassDelivered, Number: 1, Duration: 100 * time.Millisecond, State: hook.StateDelivered, Age: time.Second},
		{Class: hook.ClassConnect, Number: 1, Duration: time.Millisecond, State: hook.StateRetrying},
		{Class: hook.ClassDelivered, Number: 3, Duration: time.Second, State: hook.StateDelivered, Age: 10*time.Second + 999*time.Microsecond},
		{Class: hook.ClassRefused, Number: 3, Duration: 3 * time.Second, State: hook.StateDead},
	}
}

// quiet is a window without attempts.
func quiet(since string) string {
	return `{"since":"` + since + `","attempts":0,"delivered":0,"dead":0,"attempts_by_number":[],"attempts_by_outcome":{}}`
}

func TestHealth_endpoint(t *testing.T) {
	t.Parallel()

	const hour, day = "2026-11-21T08:00:00.000Z", "2026-11-20T10:00:00.000Z"
	// The percentiles are 1 s and 3 s, with an error of up to 5 %.
	const busy = `"attempts":4,"success_rate":0.5,"first_attempt_success_rate":0.5,` +
		`"dead_rate":0.3333333333333333,"delivered":2,"dead":1,"latency":{"samples":3,"p50":"1.043229s","p95":"3.134693s","p99":"3.134693s"},` +
		`"mean_delivery_time":"5.5s","attempts_by_number":[2,0,2],"final_success_rate":0.6666666666666666,"attempts_by_outcome":{"connect":1,"delivered":2,"refused":1}}`
	closed := `"speed":"unproven","slow":false,"fragile":false,"warned":0,"timeout":"10s","limits":{"rate_per_second":0,"max_in_flight":0},"circuit_state":{"state":"closed","strained":false,"failures":0,"waiting":false}`
	tests := []struct {
		name  string
		ago   time.Duration // age of the attempts; 0: no attempts
		flags review.Flags
		state string // JSON of the condition
		want  string // JSON between condition and complete
		hour  string
		day   string
	}{
		{name: "without attempts", ago: 0, flags: review.Flags{}, state: `"quiet"`, want: closed, hour: quiet(hour), day: quiet(day)},
		{name: "with attempts in the hour before", ago: time.Hour, flags: review.Flags{}, state: `"degraded","since":"2026-11-21T08:30:00.000Z","class":"connect"`, want: closed, hour: `{"since":"` + hour + `",` + busy, day: `{"since":"` + day + `",` + busy},
		{name: "with attempts 23 hours ago", ago: 23 * time.Hour, flags: review.Flags{}, state: `"degraded","since":"2026-11-20T10:30:00.000Z","class":"connect"`, want: closed, hour: quiet(hour), day: `{"since":"` + day + `",` + busy},
		{name: "with attempts 24 hours ago", ago: 24 * time.Hour, flags: review.Flags{}, state: `"degraded","since":"2026-11-20T09:30:00.000Z","class":"connect"`, want: closed, hour: quiet(hour), day: quiet(day)},
		{
			name: "slow", ago: 0,
			state: `"paused","since":"2026-11-21T09:30:00.000Z","reason":"manual"`,
			flags: review.Flags{Slow: true, Fragile: true, Timeout: 7800 * time.Millisecond, Warned: review.WarnedTwice},
			want: `"speed":"slow","slow":true,"fragile":true,"warned":40,"timeout":"7.8s","limits":{"rate_per_second":0,"max_in_flight":0},` +
				`"circuit_state":{"state":"open","strained":false,"failures":0,"opened_at":"2026-11-21T09:30:00.000Z","cooldown":"5m","next_probe_at":"2026-11-21T09:35:00.000Z","waiting":true}`,
			hour: quiet(hour), day: quiet(day),
		},
		{
			name: "slow, with a timeout lowered later", ago: 0,
			state: `"quiet"`,
			flags: review.Flags{Timeout: time.Minute},
			want:  strings.Replace(closed, `"failures":0`, `"failures":2`, 1),
			hour:  quiet(hour), day: quiet(day),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			id := idOf(t, b.create(t, `{"url":"https://example.com/","uid":"crm"}`))
			if tt.ago > 0 {
				b.count(t, id, b.now.Add(-tt.ago), mixed()...)
			}
			if tt.flags != (review.Flags{}) {
				r := admission.NewRecord("acme", hook.EndpointID(id))
				if r.Review, r.Failures = tt.flags, 2; tt.flags.Slow {
					r.State, r.Failures, r.OpenedAt, r.Cooldown = circuit.Open, 0, b.now, 5*time.Minute
					r.ProbeAt, r.Waiting = b.now.Add(5*time.Minute), true
				}
				if err := b.store.SaveCircuit(t.Context(), r); err != nil {
					t.Fatalf("SaveCircuit = %v", err)
				}
			}
			delivered := 0
			if strings.Contains(tt.day, `"delivered":2`) {
				delivered = 2
			}
			want := fmt.Sprintf(`{"endpoint_id":%q,"at":"2026-11-21T09:30:00.000Z","status":"active","condition":{"state":%s},%s,`+
				`"deliveries":{"queued_estimate":0,"retrying":0,"parked":0,"parked_by_reason":{},"dead":0,"delivered":%d},"complete":true,"windows":{"1h":%s,"24h":%s}}`,
				id, tt.state, tt.want, delivered, tt.hour, tt.day)
			if w := b.do(t, reader, "GET", endpoints+"/crm/health", ""); w.Code != 200 || w.Body.String() != want {
				t.Errorf("GET = %d\n%s; want 200\n%s", w.Code, w.Body, want)
			}
		})
	}
}

func TestHealth_counts(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	w := e.do(t, reader, "GET", endpoints+"/crm/health", "")
	if want := `"deliveries":{"queued_estimate":0,"retrying":1,"parked":0,"parked_by_reason":{},"dead":1,"delivered":0},"complete":true,`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("GET = %d %s; want %s", w.Code, w.Body, want)
	}
}

func TestHealth_backlog(t *testing.T) {
	t.Parallel()

	p := story(t)
	d := p.retrying
	d.State, d.Reason, d.NextAttemptAt = hook.StateParked, hook.ReasonRate, time.Time{}
	if err := p.store.SaveDelivery(t.Context(), d, nil); err != nil {
		t.Fatalf("SaveDelivery = %v", err)
	}
	p.now = p.now.Add(time.Minute)
	url := endpoints + "/" + string(d.ID.Endpoint)
	for _, of := range []struct{ change, want string }{
		{change: `{"rate_per_second":0.25}`, want: `"backlog":{"per_second":0.25,"drains_by":"2026-11-21T09:31:04.000Z","at_risk":0},"complete":true`},
		{change: `{"rate_per_second":0.01,"max_age":"2m"}`, want: `"backlog":{"per_second":0.01,"drains_by":"2026-11-21T09:31:00.000Z","at_risk":1,"first_loss_at":"2026-11-21T09:32:00.000Z"},"complete":true`},
		{change: `{"rate_per_second":0,"max_age":"1h"}`, want: `"delivered":0},"complete":true`},
	} {
		if w := p.do(t, admin, "PATCH", url, of.change); w.Code != 200 {
			t.Fatalf("PATCH %s = %d %s", of.change, w.Code, w.Body)
		}
		if w := p.do(t, reader, "GET", url+"/health", ""); !strings.Contains(w.Body.String(), of.want) {
			t.Errorf("GET after %s = %d %s; want %s", of.change, w.Code, w.Body, of.want)
		}
	}
	if w := p.do(t, admin, "POST", url+"/pause", ""); w.Code != 200 {
		t.Fatalf("POST pause = %d %s", w.Code, w.Body)
	}
	if w, want := p.do(t, reader, "GET", url+"/health", ""), `"backlog":{"per_second":0,"at_risk":1,"first_loss_at":"2026-11-21T10:30:00.000Z"}`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("GET of a paused endpoint = %d %s; want %s", w.Code, w.Body, want)
	}
}

func TestHealth_pipeline(t *testing.T) {
	t.Parallel()

	const idle = `{"visible":0,"in_flight":0,"delayed":0}`
	const rest = `"slot":` + idle + `,"overflow":` + idle + `,"coalesce":` + idle + `,"replay_jobs":` + idle + `,"circuits":` + idle
	b := setup(t)
	w := b.do(t, admin, "GET", "/v1/health", "")
	want := `{"at":"2026-11-21T09:30:00.000Z","complete":true,"queued":4,"in_flight":2,"retrying":0,"parked":0,"parked_by_reason":{},"at_risk":0,"dead":0,"open_circuits":0,"open_circuits_by_tenant":[],"attention":[],` +
		`"last_hour":{"since":"2026-11-21T08:00:00.000Z","delivered":0,"failed":0,"dead":0},"queues":{"events":{"visible":0,"in_flight":0,"delayed":0},"rejects":{"visible":0,"in_flight":0,"delayed":0},"live":{"visible":3,"in_flight":2,"delayed":1},` +
		`"retry":` + idle + `,"replay":` + idle + `,` + rest + `,"dead_letters":` + idle + `,"undeliverable":` + idle + `}}`
	if w.Code != 200 || w.Body.String() != want {
		t.Errorf("GET of nothing = %d\n%s; want 200\n%s", w.Code, w.Body, want)
	}

	e := furnish(t)
	e.status.Queues = queues{Retry: status.Depth{InFlight: 3, Delayed: 1}, DeadLetters: status.Depth{Visible: 1}, Undeliverable: status.Depth{Visible: 4}, UndeliverableRetry: status.Depth{Visible: 5}}
	e.count(t, string(e.delivery.Endpoint), e.now, mixed()...)
	open := func(tenant hook.TenantID, endpoint hook.EndpointID) {
		r := admission.NewRecord(tenant, endpoint)
		r.State, r.Failures, r.OpenedAt, r.AttendAt = circuit.HalfOpen, 5, e.now, e.now
		if err := e.store.SaveCircuit(t.Context(), r); err != nil {
			t.Fatalf("SaveCircuit = %v", err)
		}
	}
	open("acme", e.delivery.Endpoint)
	tenants := make([]string, 10)
	for i := range tenants {
		open(hook.TenantID(fmt.Sprintf("other-%d", i)), hook.EndpointID(fmt.Sprintf("ep_%d", i)))
		tenants[i] = fmt.Sprintf(`{"tenant":"other-%d","count":1}`, i-1)
	}
	open("other-9", "ep_second") // the first, and the last of eleven tenants is absent
	tenants[0] = `{"tenant":"other-9","count":2}`
	tenants = slices.Insert(tenants, 1, `{"tenant":"acme","count":1}`)[:10]
	e.now = e.now.Add(1500 * time.Millisecond)
	w = e.do(t, admin, "GET", "/v1/health", "")
	want = fmt.Sprintf(`{"at":"2026-11-21T09:30:01.500Z","complete":true,"queued":0,"in_flight":3,"retrying":1,"parked":0,"parked_by_reason":{},"at_risk":1,"first_loss_at":"2026-11-24T09:30:00.000Z","dead":1,`+
		`"oldest_pending":{"delivery_id":%q,"tenant":"acme","state":"retrying","created_at":"2026-11-21T09:30:00.000Z","age":"1.5s"},"open_circuits":12,"open_circuits_by_tenant":[%s],`+
		`"attention":[{"tenant":"acme","condition":{"state":"failing","since":"2026-11-21T09:30:00.000Z","class":"connect"},"endpoints":1,"dead":1,"waiting":1,"at_risk":1,"first_loss_at":"2026-11-24T09:30:00.000Z",`+
		`"worst":[{"endpoint_id":%q,"uid":"crm","url":"https://example.com/","condition":{"state":"failing","since":"2026-11-21T09:30:00.000Z","class":"connect"},"complete":true,"dead":1,"waiting":1,"at_risk":1,"first_loss_at":"2026-11-24T09:30:00.000Z"}]}],`+
		`"last_hour":{"since":"2026-11-21T08:00:00.000Z","delivered":2,"failed":2,"dead":1,"mean_delivery_time":"5.5s"},"queues":{"events":{"visible":0,"in_flight":0,"delayed":0},"rejects":{"visible":0,"in_flight":0,"delayed":0},"live":%s,`+
		`"retry":{"visible":0,"in_flight":3,"delayed":1},"replay":%s,%s,"dead_letters":{"visible":1,"in_flight":0,"delayed":0},`+
		`"undeliverable":{"visible":9,"in_flight":0,"delayed":0}}}`, e.delivery, strings.Join(tenants, ","), e.delivery.Endpoint, idle, idle, rest)
	if w.Code != 200 || w.Body.String() != want {
		t.Errorf("GET = %d\n%s; want 200\n%s", w.Code, w.Body, want)
	}
}

// The health has ten endpoints of a cause, and the cursor for the list of all.
func TestHealth_allOfACause(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"works"}`)
	for i := range 11 {
		b.count(t, idOf(t, b.create(t, fmt.Sprintf(`{"url":"https://example.com/%d"}`, i))), b.now, mixed()[3:]...)
	}
	type row struct {
		ID        string         `json:"endpoint_id"`
		Condition map[string]any `json:"condition"`
	}
	health := get[struct {
		Attention []struct {
			Endpoints int
			Worst     []row
			Cursor    string
		}
	}](t, b, admin, 200, "GET", "/v1/health", "")
	if len(health.Attention) != 1 || health.Attention[0].Endpoints != 11 || len(health.Attention[0].Worst) != 10 || health.Attention[0].Cursor == "" {
		t.Fatalf("GET health = %+v; want 11 endpoints of one cause, ten of them, and a cursor", health)
	}
	list := get[struct{ Data []row }](t, b, reader, 200, "GET", "/v1/tenants/acme/attention?cursor="+health.Attention[0].Cursor, "")
	if len(list.Data) != 11 || list.Data[0].Condition["state"] != "failing" {
		t.Errorf("GET attention = %+v; want the 11 endpoints", list)
	}
	if w := b.do(t, admin, "GET", "/v1/tenants/globex/attention?cursor="+health.Attention[0].Cursor, ""); w.Code != 400 {
		t.Errorf("GET attention of another tenant = %d %s; want 400", w.Code, w.Body)
	}
}

// A tenant becomes known by its first use. Its health says so before, as its id may be mistyped.
func TestHealth_unknownTenant(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/"}`)
	for path, unknown := range map[string]bool{"acme/health": false, "acme/health?search=nobody": false, "acm/health": true, "acmee/health": true} {
		w := b.do(t, admin, "GET", "/v1/tenants/"+path, "")
		if got := strings.Contains(w.Body.String(), `"unknown":true`); w.Code != 200 || got != unknown {
			t.Errorf("GET %s = %d %s; want unknown %t", path, w.Code, w.Body, unknown)
		}
	}
}

func TestHealth_tenant(t *testing.T) {
	t.Parallel()

	b := setup(t)
	quiet := idOf(t, b.create(t, `{"url":"https://example.com/quiet"}`))
	busy := idOf(t, b.create(t, `{"url":"https://example.com/","uid":"crm"}`))
	b.count(t, busy, b.now.Add(-time.Hour), mixed()...)
	for state, reason := range map[hook.State]hook.Reason{hook.StateParked: hook.ReasonRate, hook.StateRetrying: hook.ReasonNone} {
		event := hook.NewEventID()
		d := hook.Delivery{
			ID: hook.DeliveryID{Event: event, Endpoint: hook.EndpointID(busy), Generation: 1}, Tenant: "acme", EventType: "a",
			State: state, Reason: reason, CreatedAt: b.now, UpdatedAt: b.now, ExpiresAt: b.now.Add(90 * 24 * time.Hour),
		}
		if err := b.store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatalf("SaveDelivery = %v", err)
		}
	}
	const head = `{"at":"2026-11-21T09:30:00.000Z","since":"2026-11-20T09:00:00.000Z","endpoints":2,"waiting":{"complete":true,"queued_estimate":0,"retrying":1,"parked":1,"parked_by_reason":{"in_flight":1},"at_risk":0},"data":[`
	first := fmt.Sprintf(`{"endpoint_id":%q,"uid":"crm","url":"https://example.com/","status":"active",`+
		`"condition":{"state":"degraded","since":"2026-11-21T08:30:00.000Z","class":"connect"},"attention":true,"circuit":"closed",`+
		`"attempts":4,"delivered":2,"failed":2,"dead":1,"waiting":2,"success_rate":0.5,"latency_p95":"3.134693s",`+
		`"hours":[{"hour":"2026-11-21T08:00:00.000Z","delivered":2,"failed":2,"dead":1}]}`, busy)
	second := fmt.Sprintf(`{"endpoint_id":%q,"uid":"","url":"https://example.com/quiet","status":"active","condition":{"state":"quiet"},`+
		`"attention":false,"circuit":"closed","attempts":0,"delivered":0,"failed":0,"dead":0,"hours":[]}`, quiet)
	for query, rows := range map[string]string{"": first + "," + second, "?limit=500": first + "," + second, "?limit=1": first} {
		if w := b.do(t, reader, "GET", "/v1/tenants/acme/health"+query, ""); w.Code != 200 || w.Body.String() != head+rows+"]}" {
			t.Errorf("GET health%s = %d\n%s; want 200\n%s", query, w.Code, w.Body, head+rows+"]}")
		}
	}
	for search, want := range map[string][]string{"/quIET": {quiet}, "/Quiet": {quiet}, "example.com": {busy, quiet}, quiet: {quiet}, "nobody": {}} {
		found := get[struct {
			Endpoints int
			Data      []struct {
				ID string `json:"endpoint_id"`
			}
		}](t, b, reader, 200, "GET", "/v1/tenants/acme/health?search="+search, "")
		var ids []string
		for _, e := range found.Data {
			ids = append(ids, e.ID)
		}
		if !slices.Equal(ids, want) || found.Endpoints != len(want) {
			t.Errorf("search for %s = %v of %d; want %v", search, ids, found.Endpoints, want)
		}
	}
	for query, wrong := range map[string][2]string{
		"?limit=0": {"limit", "must be 1 to 500"}, "?limit=501": {"limit", "must be 1 to 500"}, "?limit=x": {"limit", "must be 1 to 500"},
		"?cursor=a": {"cursor", "is not a known parameter"}, "?search=" + strings.Repeat("x", 201): {"search", "must have at most 200 bytes"},
	} {
		if w := b.do(t, reader, "GET", "/v1/tenants/acme/health"+query, ""); w.Code != 400 || w.Body.String() != invalid(wrong[0], wrong[1]) {
			t.Errorf("GET health%s = %d %s; want 400: %s %s", query, w.Code, w.Body, wrong[0], wrong[1])
		}
	}
}

func TestHealth_history(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	for i, n := range []hook.Notification{
		{Type: hook.NotificationSlow, Reason: "Slow.", Figures: map[string]float64{"p95_ms": 2210, "samples": 104}},
		{Type: hook.NotificationDisabled, Reason: "Gone.", Delivery: e.dead},
	} {
		n.Tenant, n.Endpoint, n.At, n.Key = "acme", e.dead.Endpoint, e.now.Add(time.Duration(i)*time.Minute), n.Type
		if err := e.store.PutNotification(t.Context(), n); err != nil {
			t.Fatalf("PutNotice = %v", err)
		}
	}
	want := fmt.Sprintf(`{"data":[{"event_type":"webhook.endpoint.disabled","at":"2026-11-21T09:31:00.000Z","reason":"Gone.","figures":{},"delivery_id":%q},`+
		`{"event_type":"webhook.endpoint.slow","at":"2026-11-21T09:30:00.000Z","reason":"Slow.","figures":{"p95_ms":2210,"samples":104}}],"next_cursor":null}`, e.dead)
	if w := e.do(t, reader, "GET", endpoints+"/crm/decisions", ""); w.Code != 200 || w.Body.String() != want {
		t.Errorf("GET = %d\n%s; want 200\n%s", w.Code, w.Body, want)
	}
}

// TestHealth_slow checks the flag slow in lists and in single endpoints.
func TestHealth_slow(t *testing.T) {
	t.Parallel()

	b := setup(t)
	slow := idOf(t, b.create(t, `{"url":"https://example.com/slow"}`))
	b.review(t, "acme")
	fast := idOf(t, b.create(t, `{"url":"https://example.com/fast"}`))
	for query, want := range map[string][]string{"": {slow, fast}, "?slow=true": {slow}, "?slow=false": {fast}} {
		found := get[struct{ Data []object }](t, b, reader, 200, "GET", endpoints+query, "").Data
		ids := make(map[string]bool)
		for _, e := range found {
			ids[idOf(t, e)] = true
		}
		if len(found) != len(want) || !ids[want[0]] || !ids[want[len(want)-1]] {
			t.Errorf("GET endpoints%s = %v; want %v", query, ids, want)
		}
	}
	for id, want := range map[string]bool{slow: true, fast: false} {
		if got := get[object](t, b, reader, 200, "GET", endpoints+"/"+id, "")["slow"]; got != want {
			t.Errorf("slow of %s = %v; want %t", id, got, want)
		}
	}
	for _, bad := range []string{"", "1", "TRUE", "yes"} {
		w := b.do(t, reader, "GET", endpoints+"?slow="+bad, "")
		if w.Code != 400 || w.Body.String() != invalid("slow", "must be true or false") {
			t.Errorf("GET endpoints?slow=%s = %d %s; want 400 naming it", bad, w.Code, w.Body)
		}
	}
}

// TestReplay_cancelFinished checks that a finished job cannot be cancelled.
func TestReplay_cancelFinished(t *testing.T) {
	t.Parallel()

	b := setup(t)
	j := b.job(t, "acme")
	j.Version, j.State, j.EndedAt = 1, replay.JobFinished, b.now
	if err := b.store.SaveJob(t.Context(), j); err != nil {
		t.Fatalf("SaveJob = %v", err)
	}
	w := b.do(t, owner, "POST", "/v1/tenants/acme/replays/"+string(j.ID)+"/cancel", "")
	if want := plain(409, "conflict", "it is finished"); w.Code != 409 || w.Body.String() != want {
		t.Errorf("POST cancel = %d %s; want %s", w.Code, w.Body, want)
	}
}
