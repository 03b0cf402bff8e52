package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"surehook/internal/hook"
)

// invalid returns the problem document of wrong input, as bytes on the wire.
func invalid(fieldsAndMessages ...string) string {
	var errs []string
	for i := 0; i < len(fieldsAndMessages); i += 2 {
		errs = append(errs, fmt.Sprintf(`{"field":%q,"message":%q}`, fieldsAndMessages[i], fieldsAndMessages[i+1]))
	}
	return `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid","detail":"the request is not valid","errors":[` +
		strings.Join(errs, ",") + `]}`
}

// plain returns the problem document that names no fields.
func plain(status int, code, detail string) string {
	return fmt.Sprintf(`{"type":"about:blank","title":%q,"status":%d,"code":%q,"detail":%q}`, http.StatusText(status), status, code, detail)
}

const (
	eventsURL = "/v1/tenants/acme/events"
	duration  = `must be a duration with units, such as "90s" or "24h"`
	reserved  = "must not lead to a private, loopback or otherwise reserved address"
	plainIP   = "must write an IP address in its plain form, such as 192.0.2.1 or [2001:db8::1]"
	noObject  = "must be an object"
)

func TestProblems_events(t *testing.T) {
	t.Parallel()

	const badType = "must be 1 to 128 of A-Z a-z 0-9 _ . -"
	tests := []struct {
		name, body string
		headers    []string
		status     int
		want       string
	}{
		{"no body", "", nil, 400, invalid("body", "is missing")},
		{"malformed JSON", `{"type":`, nil, 400, invalid("type", "is not valid JSON in UTF-8, at byte 8")},
		{"no JSON", "hello", nil, 400, invalid("body", "is not valid JSON in UTF-8, at byte 0")},
		{"an array", "[]", nil, 400, invalid("body", noObject)},
		{"null", "null", nil, 400, invalid("body", "must not be null")},
		{"text after the object", `{"type":"a","payload":1} {}`, nil, 400, invalid("body", "is not valid JSON in UTF-8, at byte 25")},
		{"an unknown field", `{"type":"a","payload":1,"retries":3}`, nil, 400, invalid("retries", "is not a known field")},
		{"a field in another case", `{"Type":"a","payload":1}`, nil, 400, invalid("Type", "is not a known field")},
		{"a field twice", `{"type":"a","payload":1,"type":"b"}`, nil, 400, invalid("type", "is given twice")},
		{"a field twice in the payload", `{"type":"a","payload":{"n":[0,{"a":1,"a":2}]}}`, nil, 400, invalid("payload.n[1].a", "is given twice")},
		{"bytes that are no UTF-8", "{\"type\":\"a\",\"payload\":\"\xff\"}", nil, 400, invalid("payload", "is not valid JSON in UTF-8, at byte 23")},
		{"half a surrogate pair", `{"type":"a","payload":"\ud800"}`, nil, 400, invalid("payload", "is not valid JSON in UTF-8, at byte 23")},
		{"a number as the type", `{"type":1,"payload":1}`, nil, 400, invalid("type", "must be a string")},
		{"null as the type", `{"type":null,"payload":1}`, nil, 400, invalid("type", "must not be null")},
		{"neither type nor payload", `{}`, nil, 400, invalid("payload", "is missing", "type", badType)},
		{"a bad type", `{"type":"order paid","payload":1}`, nil, 400, invalid("type", badType)},
		{
			"a reserved type", `{"type":"surehook.test","payload":1}`, nil, 400,
			invalid("type", "types that begin with surehook. are made by Surehook only"),
		},
		{"an empty key", `{"type":"a","payload":1,"idempotency_key":""}`, nil, 400, invalid("idempotency_key", "must not be empty")},
		{"an empty key header", `{"type":"a","payload":1}`, []string{"Idempotency-Key: "}, 400, invalid("idempotency_key", "must not be empty")},
		{
			"a bad key", `{"type":"a","payload":1,"idempotency_key":"a b"}`, nil, 400,
			invalid("idempotency_key", "must be 1 to 255 visible ASCII characters"),
		},
		{
			"two keys that differ", `{"type":"a","payload":1,"idempotency_key":"k"}`,
			[]string{"Idempotency-Key: K"},
			400,
			invalid("idempotency_key", "differs from the header Idempotency-Key"),
		},
		{"another content type", `{"type":"a","payload":1}`, []string{"Content-Type: text/plain"}, 400, invalid("content-type", "must be application/json")},
		{
			"a payload that is too large", `{"type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload-1) + `"}`, nil, 413,
			strings.TrimSuffix(plain(413, "too_large", "the event is too large"), "}") +
				`,"errors":[{"field":"payload","message":"must be at most 262144 bytes"}]}`,
		},
		{
			"a body that is too large", `{"type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload+16<<10) + `"}`, nil, 413,
			plain(413, "too_large", "the body must be at most 278528 bytes"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			w := b.do(t, owner, http.MethodPost, eventsURL, tt.body, tt.headers...)
			if w.Code != tt.status || w.Body.String() != tt.want {
				t.Errorf("POST = %d %s; want %d %s", w.Code, w.Body, tt.status, tt.want)
			}
			if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("Content-Type = %q; want application/problem+json", got)
			}
		})
	}
}

func TestProblems_endpoints(t *testing.T) {
	t.Parallel()

	const url = `"url":"https://example.com/"`
	tests := []struct {
		name, body, want string
	}{
		{"no URL", `{}`, invalid("url", "is missing")},
		{"null as the URL", `{"url":null}`, invalid("url", "must not be null")},
		{"http", `{"url":"http://example.com/"}`, invalid("url", "must begin with https://")},
		{"userinfo", `{"url":"https://me:secret@example.com/"}`, invalid("url", "must not hold a user name or password")},
		{"localhost", `{"url":"https://localhost/"}`, invalid("url", reserved)},
		{"loopback", `{"url":"https://127.0.0.1/"}`, invalid("url", reserved)},
		{"loopback as a number", `{"url":"https://2130706433/"}`, invalid("url", plainIP)},
		{"loopback in hex", `{"url":"https://0x7f.0.0.1/"}`, invalid("url", plainIP)},
		{"loopback in octal", `{"url":"https://0177.0.0.1/"}`, invalid("url", plainIP)},
		{"loopback, short", `{"url":"https://127.1/"}`, invalid("url", plainIP)},
		{"loopback of IPv6", `{"url":"https://[::1]/"}`, invalid("url", reserved)},
		{"a mapped address", `{"url":"https://[::ffff:10.0.0.1]/"}`, invalid("url", reserved)},
		{"a NAT64 address", `{"url":"https://[64:ff9b::a00:1]/"}`, invalid("url", reserved)},
		{"the metadata service", `{"url":"https://169.254.169.254/latest"}`, invalid("url", reserved)},
		{"a private address", `{"url":"https://192.168.0.1/"}`, invalid("url", reserved)},
		{"an unknown field", `{` + url + `,"rate_limit":5}`, invalid("rate_limit", "is not a known field")},
		{"an unknown field inside", `{` + url + `,"retry":{"max":5}}`, invalid("retry.max", "is not a known field")},
		{"a duration without unit", `{` + url + `,"timeout":"10"}`, invalid("timeout", duration)},
		{"a number as a duration", `{` + url + `,"timeout":10}`, invalid("timeout", duration)},
		{"a timeout out of bounds", `{` + url + `,"timeout":"31s"}`, invalid("timeout", "must be 1s to 30s")},
		{"a delay that is none", `{` + url + `,"retry":{"schedule":["1s","soon"]}}`, invalid("retry.schedule[1]", duration)},
		{"a delay out of bounds", `{` + url + `,"retry":{"schedule":["1s","8h","169h"]}}`, invalid("retry.schedule[2]", "must be 1s to 168h")},
		{"an empty schedule", `{` + url + `,"retry":{"schedule":[]}}`, invalid("retry.schedule", "must have 1 to 20 delays")},
		{"an unknown preset", `{` + url + `,"retry":{"preset":"never"}}`, invalid("retry.preset", "must be one of standard, minute, exponential, day")},
		{"an empty preset", `{` + url + `,"retry":{"preset":""}}`, invalid("retry.preset", "must be one of standard, minute, exponential, day")},
		{"a preset with jitter", `{` + url + `,"retry":{"preset":"day","jitter":"none"}}`, invalid("retry.jitter", "goes with schedule or exponential only: a preset brings its own")},
		{"an unknown jitter", `{` + url + `,"retry":{"schedule":["1s"],"jitter":"some"}}`, invalid("retry.jitter", "must be one of full, equal, proportional, none")},
		{"an empty retry policy", `{` + url + `,"retry":{}}`, invalid("retry", "must have exactly one of preset, schedule and exponential")},
		{"two retry policies", `{` + url + `,"retry":{"preset":"day","schedule":["1s"]}}`, invalid("retry", "must have exactly one of preset, schedule and exponential")},
		{"an empty exponential", `{` + url + `,"retry":{"exponential":{}}}`, invalid("retry.exponential", "must have base, factor, cap and attempts")},
		{
			"a fraction of an attempt", `{` + url + `,"retry":{"exponential":{"base":"1s","factor":2,"cap":"1m","attempts":2.5}}}`,
			invalid("retry.exponential.attempts", "must be a whole number"),
		},
		{"text as a factor", `{` + url + `,"retry":{"exponential":{"factor":"2"}}}`, invalid("retry.exponential.factor", "must be a number")},
		{"one event type without list", `{` + url + `,"event_types":"a"}`, invalid("event_types", "must be an array")},
		{"null in a list", `{` + url + `,"event_types":[null]}`, invalid("event_types[0]", "must not be null")},
		{"null as metadata", `{` + url + `,"metadata":{"a":null}}`, invalid("metadata.a", "must not be null")},
		{"several reserved headers", `{` + url + `,"headers":{"Host":"a","Date":"b","Via":"c"}}`, invalid(
			"headers.Date", "is set by Surehook or by HTTP itself", "headers.Host", "is set by Surehook or by HTTP itself",
			"headers.Via", "is set by Surehook or by HTTP itself",
		)},
		{"a rate in words", `{` + url + `,"rate_per_second":"10"}`, invalid("rate_per_second", "must be a number")},
		{"null as a rate", `{` + url + `,"rate_per_second":null}`, invalid("rate_per_second", "must not be null")},
		{"a rate that is too low", `{` + url + `,"rate_per_second":0.009}`, invalid("rate_per_second", "must be 0.01 to 1000")},
		{"half an attempt in flight", `{` + url + `,"max_in_flight":0.5}`, invalid("max_in_flight", "must be a whole number")},
		{"too many in flight", `{` + url + `,"max_in_flight":101}`, invalid("max_in_flight", "must be 1 to 100")},
		{"a circuit in words", `{` + url + `,"circuit":"open"}`, invalid("circuit", noObject)},
		{"null as a circuit", `{` + url + `,"circuit":null}`, invalid("circuit", "must not be null")},
		{"null in a circuit", `{` + url + `,"circuit":{"failures":null}}`, invalid("circuit.failures", "must not be null")},
		{"an unknown setting of a circuit", `{` + url + `,"circuit":{"threshold":5}}`, invalid("circuit.threshold", "is not a known field")},
		{"a cooldown in seconds", `{` + url + `,"circuit":{"cooldown":300}}`, invalid("circuit.cooldown", duration)},
		{
			"a circuit out of bounds", `{` + url + `,"circuit":{"failures":101,"rate":1.01,"minimum":1001,"cooldown":"25h","max_cooldown":"1h"}}`,
			invalid(
				"circuit.cooldown", "must be 1s to 24h", "circuit.failures", "must be 1 to 100", "circuit.max_cooldown", "must be circuit.cooldown to 24h",
				"circuit.minimum", "must be 1 to 1000", "circuit.rate", "must be 0.01 to 1",
			),
		},
		{"an unknown scheme", `{` + url + `,"signature_schemes":["v1","v2"]}`, invalid("signature_schemes[1]", "must be one of v1, v1a")},
		{"unknown signature headers", `{` + url + `,"signature_headers":"none"}`, invalid("signature_headers", "must be one of standard, classic")},
		{"an empty secret", `{` + url + `,"secret":""}`, invalid("secret", "must not be empty")},
		{"a short secret", `{` + url + `,"secret":"whsec_AAAA"}`, invalid("secret", "must be whsec_ and the base64 of 24 to 64 bytes")},
		{
			"a very long name", `{"` + strings.Repeat("x", 300) + `":1}`,
			invalid(strings.Repeat("x", 200)+"...", "is not a known field"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t).do(t, owner, http.MethodPost, endpoints, tt.body)
			if w.Code != http.StatusBadRequest || w.Body.String() != tt.want {
				t.Errorf("POST %s = %d %s; want 400 %s", tt.body, w.Code, w.Body, tt.want)
			}
		})
	}
}

func TestProblems_requests(t *testing.T) {
	t.Parallel()

	const unknownEndpoint = "/v1/tenants/acme/endpoints/ep_0000000000000000"
	tests := []struct {
		name           string
		p              hook.Principal
		method, target string
		headers        []string
		status         int
		want           string
		header         string // "Name: value" of the answer
	}{
		{"no key", nobody, "GET", endpoints, nil, 401, plain(401, "unauthorized", "a valid API key is needed"), "WWW-Authenticate: Bearer"},
		{"no scope", reader, "DELETE", unknownEndpoint, nil, 403, plain(403, "forbidden", "the API key lacks the scope endpoints:write"), ""},
		{"keys by one tenant's admin", owner, "GET", "/v1/keys", nil, 403, plain(403, "forbidden", "the API key must act for all tenants"), ""},
		{"another tenant", rival, "GET", endpoints, nil, 404, plain(404, "not_found", "no such tenant"), ""},
		{"a tenant that cannot be", admin, "GET", "/v1/tenants/a%20b/endpoints", nil, 404, plain(404, "not_found", "no such tenant"), ""},
		{"an unknown path", owner, "GET", "/v2/events", nil, 404, plain(404, "not_found", "no such route"), ""},
		{"an unknown path without key", nobody, "GET", "/", nil, 404, plain(404, "not_found", "no such route"), ""},
		{"a path with an empty part", owner, "GET", "/v1//keys", nil, 404, plain(404, "not_found", "no such route"), ""},
		{"a path with a slash at its end", owner, "GET", endpoints + "/", nil, 404, plain(404, "not_found", "no such route"), ""},
		{"another method", owner, "PUT", endpoints, nil, 405, plain(405, "method_not_allowed", "allowed here: POST, GET"), "Allow: POST, GET"},
		{"an unknown endpoint", owner, "GET", unknownEndpoint, nil, 404, plain(404, "not_found", "no such endpoint"), ""},
		{"an unknown event", owner, "GET", eventsURL + "/evt_1", nil, 404, plain(404, "not_found", "no such event"), ""},
		{"an unknown delivery", owner, "GET", "/v1/tenants/acme/deliveries/dlv_1", nil, 404, plain(404, "not_found", "no such delivery"), ""},
		{"an unknown key", admin, "DELETE", "/v1/keys/key_1", nil, 404, plain(404, "not_found", "no such key"), ""},
		{"limit 0", owner, "GET", endpoints + "?limit=0", nil, 400, invalid("limit", "must be 1 to 100"), ""},
		{"limit 101", owner, "GET", endpoints + "?limit=101", nil, 400, invalid("limit", "must be 1 to 100"), ""},
		{"an empty limit", owner, "GET", endpoints + "?limit=", nil, 400, invalid("limit", "must be 1 to 100"), ""},
		{"a limit in words", owner, "GET", endpoints + "?limit=all", nil, 400, invalid("limit", "must be 1 to 100"), ""},
		{"two limits", owner, "GET", endpoints + "?limit=1&limit=2", nil, 400, invalid("limit", "is given twice"), ""},
		{"an unknown parameter", owner, "GET", endpoints + "?page=2", nil, 400, invalid("page", "is not a known parameter"), ""},
		{"a malformed query", owner, "GET", endpoints + "?limit=%zz", nil, 400, invalid("query", "is not well-formed"), ""},
		{"a bad cursor", owner, "GET", endpoints + "?cursor=abc", nil, 400, invalid("cursor", "is not one that this list returned"), ""},
		{
			"no state", owner, "GET", unknownEndpoint + "/deliveries", nil, 400,
			invalid("state", "must be one of retrying, parked, delivered, dead, discarded, cancelled"), "",
		},
		{
			"the state queued", owner, "GET", unknownEndpoint + "/deliveries?state=queued", nil, 400,
			invalid("state", "queued deliveries have no record yet; look at their event's deliveries"), "",
		},
		{
			"a malformed If-Match", owner, "DELETE", unknownEndpoint,
			[]string{"If-Match: 3"},
			400,
			invalid("if-match", `must be the ETag of a read, such as "3", or *`), "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t).do(t, tt.p, tt.method, tt.target, "", tt.headers...)
			if w.Code != tt.status || w.Body.String() != tt.want {
				t.Errorf("%s %s = %d %s; want %d %s", tt.method, tt.target, w.Code, w.Body, tt.status, tt.want)
			}
			if name, value, _ := strings.Cut(tt.header, ": "); w.Header().Get(name) != value {
				t.Errorf("%s = %q; want %q", name, w.Header().Get(name), value)
			}
		})
	}
}

func TestProblems_faults(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name       string
		err        error
		status     int
		want       string
		retryAfter string
		logged     bool
	}{
		{"a foreign error", errors.New("table acme-prod is gone"), 500, plain(500, "internal", "something went wrong on our side"), "", true},
		{
			"an internal error",
			&hook.Error{Code: hook.CodeInternal, Message: "m", Err: errors.New("table acme-prod is gone")},
			500, plain(500, "internal", "something went wrong on our side"), "", true,
		},
		{
			"something unavailable",
			fmt.Errorf("op: %w", &hook.Error{Code: hook.CodeUnavailable, Message: "try again", Err: errors.New("table acme-prod is gone")}),
			503, plain(503, "unavailable", "try again"), "5", true,
		},
		{"too many requests", &hook.Error{Code: hook.CodeThrottled, Message: "slow down"}, 429, plain(429, "throttled", "slow down"), "5", false},
		{"a conflict", fmt.Errorf("put: %w", hook.Conflict("taken")), 409, plain(409, "conflict", "taken"), "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.refuse(tt.err)
			w := b.do(t, owner, http.MethodPost, eventsURL, `{"type":"a","payload":1}`)
			if w.Code != tt.status || w.Body.String() != tt.want || w.Header().Get("Retry-After") != tt.retryAfter {
				t.Errorf("POST = %d %s, Retry-After %q; want %d %s, %q", w.Code, w.Body, w.Header().Get("Retry-After"), tt.status, tt.want, tt.retryAfter)
			}
			lines := b.lines(t, "request.handled")
			if len(lines) != 1 || (lines[0]["error"] != nil) != tt.logged || strings.Count(b.log.String(), "acme-prod") > 1 {
				t.Errorf("log = %s; want one line, with the cause: %t", b.log, tt.logged)
			}
		})
	}
}
