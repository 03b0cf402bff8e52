package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"surehook/internal/hook"
)

// TestLimits_endpoints holds every documented bound of an endpoint: the value
// at the bound is taken, the one past it is refused under the name of its field.
func TestLimits_endpoints(t *testing.T) {
	t.Parallel()

	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	list := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	entries := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"X-%d":"v"`, i)
		}
		return "{" + strings.TrimPrefix(b.String(), ",") + "}"
	}
	entry := func(name, value int) string { return "{" + text(name) + ":" + text(value) + "}" }
	url := func(n int) string {
		return `"https://example.com/` + strings.Repeat("a", n-len("https://example.com/")) + `"`
	}
	exponential := func(attempts int) string {
		return fmt.Sprintf(`{"exponential":{"base":"1s","factor":2,"cap":"1h","attempts":%d}}`, attempts)
	}
	const (
		metadata = "keys must be 1 to 64 bytes and values at most 512"
		uid      = "must be 1 to 128 of A-Z a-z 0-9 _ . - and not begin with ep_"
		pattern  = `must be a type such as "order.paid", a prefix such as "order.*", or "*"`
	)
	tests := []struct {
		name, member, at, past, field, message string
	}{
		{"the length of a URL", "url", url(2048), url(2049), "url", "must be at most 2048 bytes"},
		{"the port of a URL", "url", `"https://example.com:8443/"`, `"https://example.com:8444/"`, "url", "must use port 443, 8443, 80 or 8080"},
		{"the length of a uid", "uid", text(128), text(129), "uid", uid},
		{"the length of a description", "description", text(1024), text(1025), "description", "must be at most 1024 bytes"},
		{"bytes, not characters, of a description", "description", `"` + strings.Repeat("é", 512) + `"`, `"` + strings.Repeat("é", 512) + `x"`, "description", "must be at most 1024 bytes"},
		{"the number of event types", "event_types", list(100, `"a"`), list(101, `"a"`), "event_types", "must name 1 to 100 types"},
		{"no event types", "event_types", `["*"]`, `[]`, "event_types", "must name 1 to 100 types"},
		{"the length of an event type", "event_types", list(1, text(128)), list(1, text(129)), "event_types[0]", pattern},
		{"the length of a prefix", "event_types", `["` + strings.Repeat("x", 126) + `.*"]`, `["` + strings.Repeat("x", 127) + `.*"]`, "event_types[0]", pattern},
		{"the number of metadata entries", "metadata", entries(50), entries(51), "metadata", "must have at most 50 entries"},
		{"the length of a metadata key", "metadata", entry(64, 1), entry(65, 1), "metadata", metadata},
		{"an empty metadata key", "metadata", entry(1, 0), entry(0, 1), "metadata", metadata},
		{"the length of a metadata value", "metadata", entry(1, 512), entry(1, 513), "metadata", metadata},
		{"the number of headers", "headers", entries(20), entries(21), "headers", "must have at most 20 entries"},
		{"the length of a header name", "headers", entry(64, 1), entry(65, 1), "headers", "names must be 1 to 64 characters of an HTTP token"},
		{"the length of a header value", "headers", `{"X":` + text(1024) + `}`, `{"X":` + text(1025) + `}`, "headers.X", "must be 1 to 1024 visible ASCII characters, spaces inside"},
		{"an empty header value", "headers", `{"X":"a"}`, `{"X":""}`, "headers.X", "must be 1 to 1024 visible ASCII characters, spaces inside"},
		{"the longest timeout", "timeout", `"30s"`, `"30001ms"`, "timeout", "must be 1s to 30s"},
		{"the shortest timeout", "timeout", `"1s"`, `"999ms"`, "timeout", "must be 1s to 30s"},
		{"the longest max_age", "max_age", `"336h"`, `"336h1ns"`, "max_age", "must be 1s to 336h"},
		{"the shortest max_age", "max_age", `"1s"`, `"999ms"`, "max_age", "must be 1s to 336h"},
		{"the most attempts of a schedule", "retry", `{"schedule":` + list(20, `"1s"`) + `}`, `{"schedule":` + list(21, `"1s"`) + `}`, "retry.schedule", "must have 1 to 20 delays"},
		{"the longest delay", "retry", `{"schedule":["168h"]}`, `{"schedule":["168h1ns"]}`, "retry.schedule[0]", "must be 1s to 168h"},
		{"the shortest delay", "retry", `{"schedule":["1s"]}`, `{"schedule":["999ms"]}`, "retry.schedule[0]", "must be 1s to 168h"},
		{"the most attempts", "retry", exponential(21), exponential(22), "retry.exponential.attempts", "must be 2 to 21"},
		{"the fewest attempts", "retry", exponential(2), exponential(1), "retry.exponential.attempts", "must be 2 to 21"},
		{"the highest rate", "rate_per_second", `1000`, `1000.1`, "rate_per_second", "must be 0.01 to 1000"},
		{"the lowest rate", "rate_per_second", `0.01`, `0.0099`, "rate_per_second", "must be 0.01 to 1000"},
		{"a rate below none", "rate_per_second", `0`, `-1`, "rate_per_second", "must be 0.01 to 1000"},
		{"the most in flight", "max_in_flight", `100`, `101`, "max_in_flight", "must be 1 to 100"},
		{"fewer in flight than none", "max_in_flight", `0`, `-1`, "max_in_flight", "must be 1 to 100"},
		{"the most failures of a circuit", "circuit", `{"failures":100}`, `{"failures":101}`, "circuit.failures", "must be 1 to 100"},
		{"the highest rate of a circuit", "circuit", `{"rate":1}`, `{"rate":1.01}`, "circuit.rate", "must be 0.01 to 1"},
		{"the lowest rate of a circuit", "circuit", `{"rate":0.01}`, `{"rate":0.009}`, "circuit.rate", "must be 0.01 to 1"},
		{"the longest cooldown", "circuit", `{"max_cooldown":"24h"}`, `{"max_cooldown":"24h1ns"}`, "circuit.max_cooldown", "must be circuit.cooldown to 24h"},
		{"the shortest cooldown", "circuit", `{"cooldown":"1s"}`, `{"cooldown":"999ms"}`, "circuit.cooldown", "must be 1s to 24h"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			body := func(value string) string {
				if tt.member == "url" {
					return `{"url":` + value + `}`
				}
				return fmt.Sprintf(`{"url":"https://example.com/",%q:%s}`, tt.member, value)
			}
			if w := b.do(t, owner, http.MethodPost, endpoints, body(tt.at)); w.Code != http.StatusCreated {
				t.Errorf("POST %.200s = %d %s; want 201 at the bound", body(tt.at), w.Code, w.Body)
			}
			w := b.do(t, owner, http.MethodPost, endpoints, body(tt.past))
			if want := invalid(tt.field, tt.message); w.Code != http.StatusBadRequest || w.Body.String() != want {
				t.Errorf("POST %.200s = %d %s; want 400 %s past the bound", body(tt.past), w.Code, w.Body, want)
			}
		})
	}
}

// TestLimits_events is the same for what posts events.
func TestLimits_events(t *testing.T) {
	t.Parallel()

	event := func(payload int) string { return `{"type":"a","payload":"` + strings.Repeat("x", payload-2) + `"}` }
	events := func(n int) string {
		return `{"events":[` + strings.TrimSuffix(strings.Repeat(`{"type":"a","payload":1},`, n), ",") + `]}`
	}
	padded := func(body string, n int) string { return body + strings.Repeat(" ", n-len(body)) }
	typed := func(n int) string { return `{"type":"` + strings.Repeat("t", n) + `","payload":1}` }
	keyed := func(n int) string {
		return `{"type":"a","payload":1,"idempotency_key":"` + strings.Repeat("k", n) + `"}`
	}
	const (
		kib   = 1 << 10
		batch = eventsURL + "/batch"
	)
	tests := []struct {
		name, target, at, past string
		status                 int
		want                   string
	}{
		{
			"a payload of 256 KiB", eventsURL, event(256 * kib), event(256*kib + 1), 413,
			strings.TrimSuffix(plain(413, "too_large", "the event is too large"), "}") + `,"errors":[{"field":"payload","message":"must be at most 262144 bytes"}]}`,
		},
		{
			"a request of 16 KiB more than a payload", eventsURL, padded(event(2), 272*kib), padded(event(2), 272*kib+1), 413,
			plain(413, "too_large", "the body must be at most 278528 bytes"),
		},
		{"a batch of 100 events", batch, events(100), events(101), 400, invalid("events", "must hold 1 to 100 events")},
		{"a batch of one event", batch, events(1), events(0), 400, invalid("events", "must hold 1 to 100 events")},
		{
			"a batch of 4 MiB", batch, padded(events(1), 4096*kib), padded(events(1), 4096*kib+1), 413,
			plain(413, "too_large", "the body must be at most 4194304 bytes"),
		},
		{"a type of 128", eventsURL, typed(128), typed(129), 400, invalid("type", "must be 1 to 128 of A-Z a-z 0-9 _ . -")},
		{"a key of 255", eventsURL, keyed(255), keyed(256), 400, invalid("idempotency_key", "must be 1 to 255 visible ASCII characters")},
		{
			"an endpoint's request of 64 KiB", endpoints, padded(`{"url":"https://example.com/"}`, 64*kib), padded(`{"url":"https://example.com/"}`, 64*kib+1), 413,
			plain(413, "too_large", "the body must be at most 65536 bytes"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			if w := b.do(t, owner, http.MethodPost, tt.target, tt.at); w.Code != http.StatusAccepted && w.Code != http.StatusCreated {
				t.Errorf("POST %.100s = %d %s; want success at the bound", tt.at, w.Code, w.Body)
			}
			w := b.do(t, owner, http.MethodPost, tt.target, tt.past)
			if w.Code != tt.status || w.Body.String() != tt.want {
				t.Errorf("POST %.100s = %d %s; want %d %s past the bound", tt.past, w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
}

// TestLimits_replays is the same for what chooses deliveries anew.
func TestLimits_replays(t *testing.T) {
	t.Parallel()

	job := func(member string) string { return `{"filter":{},"dry_run":true,` + member + `}` }
	filter := func(member string) string { return `{"dry_run":true,"filter":{` + member + `}}` }
	types := func(n int) string {
		return filter(`"event_types":[` + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + `]`)
	}
	note := func(n int) string { return `{"reason":"` + strings.Repeat("n", n) + `"}` }
	const (
		rate     = "must be 0.1 to 500"
		someText = "must be at most 200 bytes of text on one line"
		aTime    = `must be a time such as "2026-11-21T09:30:00Z"`
		hours    = "must be 1 to 336"
	)
	tests := []struct {
		name, method, target, at, past string
		want                           string
	}{
		{"the highest rate", "POST", replaysURL, job(`"rate_per_second":500`), job(`"rate_per_second":500.1`), invalid("rate_per_second", rate)},
		{"the lowest rate", "POST", replaysURL, job(`"rate_per_second":0.1`), job(`"rate_per_second":0.09`), invalid("rate_per_second", rate)},
		{"no rate at all", "POST", replaysURL, `{"filter":{},"dry_run":true}`, job(`"rate_per_second":0`), invalid("rate_per_second", rate)},
		{"20 types", "POST", replaysURL, types(20), types(21), invalid("filter.event_types", "must name at most 20 types")},
		{"a type", "POST", replaysURL, types(1), types(0), invalid("filter.event_types", "must not be empty")},
		{"the state of a filter", "POST", replaysURL, filter(`"state":"discarded"`), filter(`"state":"retrying"`), invalid("filter.state", "must be one of dead, parked, delivered, discarded")},
		{"an unknown state", "POST", replaysURL, filter(`"state":"parked"`), filter(`"state":""`), invalid("filter.state", "must be one of dead, parked, delivered, discarded")},
		{"an endpoint", "POST", replaysURL, filter(`"endpoint":"crm"`), filter(`"endpoint":""`), invalid("filter.endpoint", "must not be empty")},
		{"an endpoint there is", "POST", replaysURL, filter(`"endpoint":"crm"`), filter(`"endpoint":"erp"`), invalid("filter.endpoint", "is no endpoint of this tenant")},
		{"a filter", "POST", replaysURL, `{"filter":{},"dry_run":true}`, `{"dry_run":true}`, invalid("filter", "is missing")},
		{
			"a time range", "POST", replaysURL, filter(`"from":"2026-11-21T09:29:59.999Z"`), filter(`"from":"2026-11-21T09:30:00.000Z"`),
			invalid("filter.from", "must be in the past"),
		},
		{"a time", "POST", replaysURL, filter(`"from":"2026-11-20T00:00:00+01:00"`), filter(`"from":"2026-11-20"`), invalid("filter.from", aTime)},
		{"a time as text", "POST", replaysURL, filter(`"to":"2026-11-20T00:00:00.5Z"`), filter(`"to":1`), invalid("filter.to", aTime)},
		{"the earliest time", "POST", replaysURL, filter(`"from":"1970-01-01T00:00:00Z"`), filter(`"from":"1970-01-01T00:00:00+00:01"`), invalid("filter.from", aTime)},
		{"the latest time", "POST", replaysURL, filter(`"to":"9999-12-31T23:59:59Z"`), filter(`"to":"9999-12-31T23:59:59-00:01"`), invalid("filter.to", aTime)},
		{"whether it is a dry run", "POST", replaysURL, `{"filter":{},"dry_run":true}`, `{"filter":{},"dry_run":"true"}`, invalid("dry_run", "must be true or false")},
		{"a note of 200", "POST", "{discard}", note(200), note(201), invalid("reason", someText)},
		{"a note in one line", "POST", "{discard}", `{"reason":"a b"}`, `{"reason":"a\nb"}`, invalid("reason", someText)},
		{"the most hours", "GET", analysisURL + "?hours=", "336", "337", invalid("hours", hours)},
		{"the fewest hours", "GET", analysisURL + "?hours=", "1", "0", invalid("hours", hours)},
		{"a number of hours", "GET", analysisURL + "?hours=", "24", "a", invalid("hours", hours)},
		{"a parameter that there is", "GET", analysisURL + "?", "hours=1", "days=1", invalid("days", "is not a known parameter")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := furnish(t)
			do := func(given string) (status int, body string) {
				target := strings.Replace(tt.target, "{discard}", deliveriesURL+e.dead.String()+"/discard", 1)
				if tt.method == "GET" {
					target, given = target+given, ""
				}
				w := e.do(t, owner, tt.method, target, given)
				return w.Code, w.Body.String()
			}
			if status, body := do(tt.past); status != 400 || body != tt.want {
				t.Errorf("%s %.100s = %d %s; want 400 %s past the bound", tt.method, tt.past, status, body, tt.want)
			}
			if status, body := do(tt.at); status != 200 {
				t.Errorf("%s %.100s = %d %s; want 200 at the bound", tt.method, tt.at, status, body)
			}
		})
	}
}

// TestLimits_payloadInBatch checks that a batch bounds each payload for itself:
// the one that is too large is refused and its neighbor is not.
func TestLimits_payloadInBatch(t *testing.T) {
	t.Parallel()

	at := `{"type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload-2) + `"}`
	past := `{"type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload-1) + `"}`
	w := setup(t).do(t, owner, http.MethodPost, eventsURL+"/batch", `{"events":[`+past+`,`+at+`]}`)
	var answer struct {
		Data []struct {
			ID    string `json:"id"`
			Error struct {
				Status int               `json:"status"`
				Errors []hook.FieldError `json:"errors"`
			} `json:"error"`
		} `json:"data"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusMultiStatus || len(answer.Data) != 2 {
		t.Fatalf("POST = %d %s, %v; want 207 and two results", w.Code, w.Body, err)
	}
	refused, accepted := answer.Data[0], answer.Data[1]
	if refused.Error.Status != http.StatusRequestEntityTooLarge || len(refused.Error.Errors) != 1 || refused.Error.Errors[0].Field != "payload" || accepted.ID == "" {
		t.Errorf("POST = %s; want the first refused for its payload, the second accepted", w.Body)
	}
}

func TestLimits_endpointsOfATenant(t *testing.T) {
	t.Parallel()

	const body = `{"url":"https://example.com/"}`
	b := setup(t)
	for range hook.MaxEndpointsPerTenant {
		b.create(t, body)
	}
	w := b.do(t, owner, http.MethodPost, endpoints, body)
	if want := plain(409, "conflict", "a tenant has at most 500 endpoints"); w.Code != http.StatusConflict || w.Body.String() != want {
		t.Errorf("POST of endpoint 501 = %d %s; want 409 %s", w.Code, w.Body, want)
	}
	if w := b.do(t, rival, http.MethodPost, "/v1/tenants/globex/endpoints", body); w.Code != http.StatusCreated {
		t.Errorf("POST for another tenant = %d %s; want 201", w.Code, w.Body)
	}

	list := get[object](t, b, owner, http.StatusOK, http.MethodGet, endpoints+"?limit=1", "")
	data, _ := list["data"].([]any)
	if len(data) != 1 {
		t.Fatalf("GET = %v; want one endpoint", list)
	}
	first, _ := data[0].(object)
	if w := b.do(t, owner, http.MethodDelete, endpoints+"/"+idOf(t, first), ""); w.Code != http.StatusNoContent {
		t.Fatalf("DELETE = %d %s; want 204", w.Code, w.Body)
	}
	if w := b.do(t, owner, http.MethodPost, endpoints, body); w.Code != http.StatusCreated {
		t.Errorf("POST after one was deleted = %d %s; want 201", w.Code, w.Body)
	}
}
