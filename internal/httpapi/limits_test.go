package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// TestLimits_endpoints checks every documented bound of an endpoint: the value at
// the bound is accepted, and the next value is refused with the name of the field.
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
		metadata = "keys must be 1 to 64 bytes and values at most 512, without control characters"
		uid      = "must be 1 to 128 of A-Z a-z 0-9 _ . -, not . or .., and not begin with ep_"
		pattern  = `must be a type such as "order.paid", a prefix such as "order.*", or "*"`
	)
	tests := []struct {
		name, member, at, past, field, message string
	}{
		{name: "the length of a URL", member: "url", at: url(2048), past: url(2049), field: "url", message: "must be at most 2048 bytes"},
		{name: "the port of a URL", member: "url", at: `"https://example.com:8443/"`, past: `"https://example.com:8444/"`, field: "url", message: "must use port 443, 8443, 80 or 8080"},
		{name: "the length of a uid", member: "uid", at: text(128), past: text(129), field: "uid", message: uid},
		{name: "the length of a description", member: "description", at: text(1024), past: text(1025), field: "description", message: "must be at most 1024 bytes without control characters"},
		{name: "bytes, not characters, of a description", member: "description", at: `"` + strings.Repeat("é", 512) + `"`, past: `"` + strings.Repeat("é", 512) + `x"`, field: "description", message: "must be at most 1024 bytes without control characters"},
		{name: "the number of event types", member: "event_types", at: list(100, `"a"`), past: list(101, `"a"`), field: "event_types", message: "must name 1 to 100 types"},
		{name: "no event types", member: "event_types", at: `["*"]`, past: `[]`, field: "event_types", message: "must name 1 to 100 types"},
		{name: "the length of an event type", member: "event_types", at: list(1, text(128)), past: list(1, text(129)), field: "event_types[0]", message: pattern},
		{name: "the length of a prefix", member: "event_types", at: `["` + strings.Repeat("x", 126) + `.*"]`, past: `["` + strings.Repeat("x", 127) + `.*"]`, field: "event_types[0]", message: pattern},
		{name: "the number of metadata entries", member: "metadata", at: entries(50), past: entries(51), field: "metadata", message: "must have at most 50 entries"},
		{name: "the length of a metadata key", member: "metadata", at: entry(64, 1), past: entry(65, 1), field: "metadata", message: metadata},
		{name: "an empty metadata key", member: "metadata", at: entry(1, 0), past: entry(0, 1), field: "metadata", message: metadata},
		{name: "the length of a metadata value", member: "metadata", at: entry(1, 512), past: entry(1, 513), field: "metadata", message: metadata},
		{name: "the number of headers", member: "headers", at: entries(20), past: entries(21), field: "headers", message: "must have at most 20 entries"},
		{name: "the length of a header name", member: "headers", at: entry(64, 1), past: entry(65, 1), field: "headers", message: "names must be 1 to 64 characters of an HTTP token"},
		{name: "the length of a header value", member: "headers", at: `{"X":` + text(1024) + `}`, past: `{"X":` + text(1025) + `}`, field: "headers.X", message: "must be 1 to 1024 visible ASCII characters, with spaces only inside"},
		{name: "an empty header value", member: "headers", at: `{"X":"a"}`, past: `{"X":""}`, field: "headers.X", message: "must be 1 to 1024 visible ASCII characters, with spaces only inside"},
		{name: "the longest timeout", member: "timeout", at: `"30s"`, past: `"30001ms"`, field: "timeout", message: "must be 1s to 30s"},
		{name: "the shortest timeout", member: "timeout", at: `"1s"`, past: `"999ms"`, field: "timeout", message: "must be 1s to 30s"},
		{name: "the longest max_age", member: "max_age", at: `"336h"`, past: `"336h1ns"`, field: "max_age", message: "must be 1s to 336h"},
		{name: "the longest max_retry_after", member: "max_retry_after", at: `"24h"`, past: `"24h1ns"`, field: "max_retry_after", message: "must be 1s to 24h"},
		{name: "the shortest max_retry_after", member: "max_retry_after", at: `"1s"`, past: `"999ms"`, field: "max_retry_after", message: "must be 1s to 24h"},
		{name: "the shortest max_age", member: "max_age", at: `"1s"`, past: `"999ms"`, field: "max_age", message: "must be 1s to 336h"},
		{name: "the most attempts of a schedule", member: "retry", at: `{"schedule":` + list(20, `"1s"`) + `}`, past: `{"schedule":` + list(21, `"1s"`) + `}`, field: "retry.schedule", message: "must have 1 to 20 delays"},
		{name: "the longest delay", member: "retry", at: `{"schedule":["168h"]}`, past: `{"schedule":["168h1ns"]}`, field: "retry.schedule[0]", message: "must be 1s to 168h"},
		{name: "the shortest delay", member: "retry", at: `{"schedule":["1s"]}`, past: `{"schedule":["999ms"]}`, field: "retry.schedule[0]", message: "must be 1s to 168h"},
		{name: "the most attempts", member: "retry", at: exponential(21), past: exponential(22), field: "retry.exponential.attempts", message: "must be 2 to 21"},
		{name: "the fewest attempts", member: "retry", at: exponential(2), past: exponential(1), field: "retry.exponential.attempts", message: "must be 2 to 21"},
		{name: "the highest rate", member: "rate_per_second", at: `1000`, past: `1000.1`, field: "rate_per_second", message: "must be 0.01 to 1000"},
		{name: "the lowest rate", member: "rate_per_second", at: `0.01`, past: `0.0099`, field: "rate_per_second", message: "must be 0.01 to 1000"},
		{name: "a rate below none", member: "rate_per_second", at: `0`, past: `-1`, field: "rate_per_second", message: "must be 0.01 to 1000"},
		{name: "the most in flight", member: "max_in_flight", at: `100`, past: `101`, field: "max_in_flight", message: "must be 1 to 100"},
		{name: "the most shards", member: "shards", at: `16`, past: `17`, field: "shards", message: "must be 1 to 16"},
		{name: "the fewest shards", member: "shards", at: `1`, past: `0`, field: "shards", message: "must be 1 to 16"},
		{name: "fewer in flight than none", member: "max_in_flight", at: `0`, past: `-1`, field: "max_in_flight", message: "must be 1 to 100"},
		{name: "the most failures of a circuit", member: "circuit", at: `{"failures":100}`, past: `{"failures":101}`, field: "circuit.failures", message: "must be 1 to 100"},
		{name: "the highest rate of a circuit", member: "circuit", at: `{"rate":1}`, past: `{"rate":1.01}`, field: "circuit.rate", message: "must be 0.01 to 1"},
		{name: "the lowest rate of a circuit", member: "circuit", at: `{"rate":0.01}`, past: `{"rate":0.009}`, field: "circuit.rate", message: "must be 0.01 to 1"},
		{name: "the longest cooldown", member: "circuit", at: `{"max_cooldown":"24h"}`, past: `{"max_cooldown":"24h1ns"}`, field: "circuit.max_cooldown", message: "must be circuit.cooldown to 24h"},
		{name: "the shortest cooldown", member: "circuit", at: `{"cooldown":"1s"}`, past: `{"cooldown":"999ms"}`, field: "circuit.cooldown", message: "must be 1s to 24h"},
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

// TestLimits_events checks the limits of posted events in the same way.
func TestLimits_events(t *testing.T) {
	t.Parallel()

	event := func(payload int) string {
		return `{"event_type":"a","payload":"` + strings.Repeat("x", payload-2) + `"}`
	}
	events := func(n int) string {
		return `{"events":[` + strings.TrimSuffix(strings.Repeat(`{"event_type":"a","payload":1},`, n), ",") + `]}`
	}
	padded := func(body string, n int) string { return body + strings.Repeat(" ", n-len(body)) }
	typed := func(n int) string { return `{"event_type":"` + strings.Repeat("t", n) + `","payload":1}` }
	keyed := func(n int) string {
		return `{"event_type":"a","payload":1,"idempotency_key":"` + strings.Repeat("k", n) + `"}`
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
			name: "a payload of 256 KiB", target: eventsURL, at: event(256 * kib), past: event(256*kib + 1), status: 413,
			want: strings.TrimSuffix(plain(413, "too_large", "the event is too large"), "}") + `,"errors":[{"field":"payload","message":"must be at most 262144 bytes"}]}`,
		},
		{
			name: "a request of 16 KiB more than a payload", target: eventsURL, at: padded(event(2), 272*kib), past: padded(event(2), 272*kib+1), status: 413,
			want: plain(413, "too_large", "the body must be at most 278528 bytes"),
		},
		{name: "a batch of 100 events", target: batch, at: events(100), past: events(101), status: 400, want: invalid("events", "must hold 1 to 100 events")},
		{name: "a batch of one event", target: batch, at: events(1), past: events(0), status: 400, want: invalid("events", "must hold 1 to 100 events")},
		{
			name: "a batch of 3008 KiB", target: batch, at: padded(events(1), 3008*kib), past: padded(events(1), 3008*kib+1), status: 413,
			want: plain(413, "too_large", "the body must be at most 3080192 bytes"),
		},
		{name: "a type of 128", target: eventsURL, at: typed(128), past: typed(129), status: 400, want: invalid("event_type", "must be 1 to 128 of A-Z a-z 0-9 _ . : -")},
		{name: "a key of 255", target: eventsURL, at: keyed(255), past: keyed(256), status: 400, want: invalid("idempotency_key", "must be 1 to 255 visible ASCII characters")},
		{
			name: "an endpoint's request of 64 KiB", target: endpoints, at: padded(`{"url":"https://example.com/"}`, 64*kib), past: padded(`{"url":"https://example.com/"}`, 64*kib+1), status: 413,
			want: plain(413, "too_large", "the body must be at most 65536 bytes"),
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

// TestLimits_replays checks the limits of replays in the same way.
func TestLimits_replays(t *testing.T) {
	t.Parallel()

	job := func(member string) string { return `{"filter":{},"dry_run":true,` + member + `}` }
	filter := func(member string) string { return `{"dry_run":true,"filter":{` + member + `}}` }
	types := func(n int) string {
		return filter(`"event_types":[` + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + `]`)
	}
	note := func(n int) string { return `{"note":"` + strings.Repeat("n", n) + `"}` }
	const (
		rate     = "must be 0.1 to 500"
		someText = "must be at most 200 bytes of text on one line"
		aTime    = `must be a time such as "2026-11-21T09:30:00Z"`
		period   = "must be 1h to 336h"
	)
	tests := []struct {
		name, method, target, at, past string
		want                           string
	}{
		{name: "the highest rate", method: "POST", target: replaysURL, at: job(`"rate_per_second":500`), past: job(`"rate_per_second":500.1`), want: invalid("rate_per_second", rate)},
		{name: "the lowest rate", method: "POST", target: replaysURL, at: job(`"rate_per_second":0.1`), past: job(`"rate_per_second":0.09`), want: invalid("rate_per_second", rate)},
		{name: "no rate at all", method: "POST", target: replaysURL, at: `{"filter":{},"dry_run":true}`, past: job(`"rate_per_second":0`), want: invalid("rate_per_second", rate)},
		{name: "20 types", method: "POST", target: replaysURL, at: types(20), past: types(21), want: invalid("filter.event_types", "must name at most 20 types")},
		{name: "a type", method: "POST", target: replaysURL, at: types(1), past: types(0), want: invalid("filter.event_types", "must not be empty")},
		{name: "the state of a filter", method: "POST", target: replaysURL, at: filter(`"state":"discarded"`), past: filter(`"state":"retrying"`), want: invalid("filter.state", "must be one of dead, parked, delivered, discarded")},
		{name: "an unknown state", method: "POST", target: replaysURL, at: filter(`"state":"parked"`), past: filter(`"state":""`), want: invalid("filter.state", "must be one of dead, parked, delivered, discarded")},
		{name: "an endpoint", method: "POST", target: replaysURL, at: filter(`"endpoint":"crm"`), past: filter(`"endpoint":""`), want: invalid("filter.endpoint", "must not be empty")},
		{name: "an endpoint there is", method: "POST", target: replaysURL, at: filter(`"endpoint":"crm"`), past: filter(`"endpoint":"erp"`), want: invalid("filter.endpoint", "is not an endpoint of this tenant")},
		{name: "a filter", method: "POST", target: replaysURL, at: `{"filter":{},"dry_run":true}`, past: `{"dry_run":true}`, want: invalid("filter", "is missing")},
		{
			name: "a time range", method: "POST", target: replaysURL, at: filter(`"since":"2026-11-21T09:29:59.999Z"`), past: filter(`"since":"2026-11-21T09:30:00.000Z"`),
			want: invalid("filter.since", "must be in the past"),
		},
		{name: "a time", method: "POST", target: replaysURL, at: filter(`"since":"2026-11-20T00:00:00+01:00"`), past: filter(`"since":"2026-11-20"`), want: invalid("filter.since", aTime)},
		{name: "a time as text", method: "POST", target: replaysURL, at: filter(`"until":"2026-11-20T00:00:00.5Z"`), past: filter(`"until":1`), want: invalid("filter.until", aTime)},
		{name: "the earliest time", method: "POST", target: replaysURL, at: filter(`"since":"1970-01-01T00:00:00Z"`), past: filter(`"since":"1970-01-01T00:00:00+00:01"`), want: invalid("filter.since", aTime)},
		{name: "the latest time", method: "POST", target: replaysURL, at: filter(`"until":"9999-12-31T23:59:59Z"`), past: filter(`"until":"9999-12-31T23:59:59-00:01"`), want: invalid("filter.until", aTime)},
		{name: "whether it is a dry run", method: "POST", target: replaysURL, at: `{"filter":{},"dry_run":true}`, past: `{"filter":{},"dry_run":"true"}`, want: invalid("dry_run", "must be true or false")},
		{name: "a note of 200", method: "POST", target: "{discard}", at: note(200), past: note(201), want: invalid("note", someText)},
		{name: "a note in one line", method: "POST", target: "{discard}", at: `{"note":"a b"}`, past: `{"note":"a\nb"}`, want: invalid("note", someText)},
		{name: "the longest period", method: "GET", target: analysisURL + "?period=", at: "336h", past: "337h", want: invalid("period", period)},
		{name: "the shortest period", method: "GET", target: analysisURL + "?period=", at: "1h", past: "59m", want: invalid("period", period)},
		{name: "a period with units", method: "GET", target: analysisURL + "?period=", at: "1440m", past: "24", want: invalid("period", duration)},
		{name: "a known parameter", method: "GET", target: analysisURL + "?", at: "period=1h", past: "days=1", want: invalid("days", "is not a known parameter")},
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

// TestLimits_payloadInBatch checks that the limit of the payload holds for each
// event of a batch: a large payload is refused, the other event is accepted.
func TestLimits_payloadInBatch(t *testing.T) {
	t.Parallel()

	at := `{"event_type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload-2) + `"}`
	past := `{"event_type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload-1) + `"}`
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
	for i := range hook.DefaultEndpoints {
		b.create(t, fmt.Sprintf(`{"url":"https://example.com/%d"}`, i))
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

func TestLimits_endpointsOfAURL(t *testing.T) {
	t.Parallel()

	const body = `{"url":"https://example.com/"}`
	want := plain(403, "forbidden", "a tenant has at most 10 endpoints with one URL")
	b := setup(t)
	for range hook.MaxEndpointsPerURL {
		b.create(t, body)
	}
	if w := b.do(t, owner, http.MethodPost, endpoints, body); w.Code != http.StatusForbidden || w.Body.String() != want {
		t.Errorf("POST of endpoint 11 = %d %s; want 403 %s", w.Code, w.Body, want)
	}
	other := idOf(t, b.create(t, `{"url":"https://example.com/other"}`))
	if w := b.do(t, owner, http.MethodPatch, endpoints+"/"+other, body); w.Code != http.StatusForbidden || w.Body.String() != want {
		t.Errorf("PATCH to a full URL = %d %s; want 403 %s", w.Code, w.Body, want)
	}
	if w := b.do(t, owner, http.MethodPatch, endpoints+"/"+other, `{"url":"https://example.com/third"}`); w.Code != http.StatusOK {
		t.Errorf("PATCH to a new URL = %d %s; want 200", w.Code, w.Body)
	}
}

func TestLimits_openReplays(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var first string
	for range replay.MaxOpenJobs {
		first = idOf(t, get[object](t, b, owner, http.StatusAccepted, http.MethodPost, replaysURL, `{"filter":{}}`))
	}
	w := b.do(t, owner, http.MethodPost, replaysURL, `{"filter":{}}`)
	want := plain(429, "throttled", "a tenant can run at most 10 replays at once; wait until one ends, or cancel one")
	if w.Code != http.StatusTooManyRequests || w.Body.String() != want || w.Header().Get("Retry-After") == "" {
		t.Errorf("POST of replay 11 = %d %v %s; want 429 %s", w.Code, w.Header(), w.Body, want)
	}
	if w := b.do(t, owner, http.MethodPost, replaysURL+"/"+first+"/cancel", ""); w.Code != http.StatusOK {
		t.Fatalf("cancel = %d %s; want 200", w.Code, w.Body)
	}
	if w := b.do(t, owner, http.MethodPost, replaysURL, `{"filter":{}}`); w.Code != http.StatusAccepted {
		t.Errorf("POST after one was cancelled = %d %s; want 202", w.Code, w.Body)
	}
}
