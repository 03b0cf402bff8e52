package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
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

// plain returns a problem document without fields.
func plain(status int, code, detail string) string {
	return fmt.Sprintf(`{"type":"about:blank","title":%q,"status":%d,"code":%q,"detail":%q}`, http.StatusText(status), status, code, detail)
}

const (
	eventsURL = "/v1/tenants/acme/events"
	duration  = `must be a duration in h, m, s or ms, such as "90s", "1h30m" or "72h" for 3 days`
	reserved  = "must not lead to a private, loopback or otherwise reserved address"
	plainIP   = "must write an IP address in its plain form, such as 192.0.2.1 or [2001:db8::1]"
	noObject  = "must be an object"
)

func TestProblems_events(t *testing.T) {
	t.Parallel()

	const badType = "must be 1 to 128 of A-Z a-z 0-9 _ . : -"
	tests := []struct {
		name, body string
		headers    []string
		status     int
		want       string
	}{
		{name: "no body", body: "", headers: nil, status: 400, want: invalid("body", "is missing")},
		{name: "malformed JSON", body: `{"event_type":`, headers: nil, status: 400, want: invalid("event_type", "is not valid JSON in UTF-8, at byte 14")},
		{name: "no JSON", body: "hello", headers: nil, status: 400, want: invalid("body", "is not valid JSON in UTF-8, at byte 0")},
		{name: "a deep payload", body: `{"event_type":"a","payload":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, headers: nil, status: 400, want: invalid("body", "has more than 10,000 levels of objects and arrays")},
		{name: "an array", body: "[]", headers: nil, status: 400, want: invalid("body", noObject)},
		{name: "null", body: "null", headers: nil, status: 400, want: invalid("body", "must not be null")},
		{name: "text after the object", body: `{"event_type":"a","payload":1} {}`, headers: nil, status: 400, want: invalid("body", "is not valid JSON in UTF-8, at byte 31")},
		{name: "an unknown field", body: `{"event_type":"a","payload":1,"retries":3}`, headers: nil, status: 400, want: invalid("retries", "is not a known field")},
		{name: "a field in another case", body: `{"Type":"a","payload":1}`, headers: nil, status: 400, want: invalid("Type", "is not a known field: did you mean event_type?", "event_type", "is missing")},
		{name: "a field twice", body: `{"event_type":"a","payload":1,"event_type":"b"}`, headers: nil, status: 400, want: invalid("event_type", "is given twice")},
		{name: "a field twice in the payload", body: `{"event_type":"a","payload":{"n":[0,{"a":1,"a":2}]}}`, headers: nil, status: 400, want: invalid("payload.n[1].a", "is given twice")},
		{name: "invalid UTF-8", body: "{\"event_type\":\"a\",\"payload\":\"\xff\"}", headers: nil, status: 400, want: invalid("payload", "is not valid JSON in UTF-8, at byte 29")},
		{name: "half a surrogate pair", body: `{"event_type":"a","payload":"\ud800"}`, headers: nil, status: 400, want: invalid("payload", "is not valid JSON in UTF-8, at byte 29")},
		{name: "a number as the type", body: `{"event_type":1,"payload":1}`, headers: nil, status: 400, want: invalid("event_type", "must be a string")},
		{name: "null as the type", body: `{"event_type":null,"payload":1}`, headers: nil, status: 400, want: invalid("event_type", "must not be null")},
		{name: "neither type nor payload", body: `{}`, headers: nil, status: 400, want: invalid("event_type", "is missing", "payload", "is missing")},
		{
			name: "a topic of another product", body: `{"event_type":"orders/create","payload":1}`, headers: nil, status: 400,
			want: invalid("event_type", "must not contain /: separate its parts by dots, such as orders.create"),
		},
		{name: "a bad type", body: `{"event_type":"order paid","payload":1}`, headers: nil, status: 400, want: invalid("event_type", badType)},
		{
			name: "a reserved type", body: `{"event_type":"webhook.test","payload":1}`, headers: nil, status: 400,
			want: invalid("event_type", "types that begin with webhook. are made by Surehook only"),
		},
		{name: "an empty key", body: `{"event_type":"a","payload":1,"idempotency_key":""}`, headers: nil, status: 400, want: invalid("idempotency_key", "must not be empty")},
		{name: "an empty key header", body: `{"event_type":"a","payload":1}`, headers: []string{"Idempotency-Key: "}, status: 400, want: invalid("idempotency_key", "must not be empty")},
		{
			name: "a bad key", body: `{"event_type":"a","payload":1,"idempotency_key":"a b"}`, headers: nil, status: 400,
			want: invalid("idempotency_key", "must be 1 to 255 visible ASCII characters"),
		},
		{
			name: "two different keys", body: `{"event_type":"a","payload":1,"idempotency_key":"k"}`,
			headers: []string{"Idempotency-Key: K"},
			status:  400,
			want:    invalid("idempotency_key", "differs from the header Idempotency-Key"),
		},
		{name: "another content type", body: `{"event_type":"a","payload":1}`, headers: []string{"Content-Type: text/plain"}, status: 400, want: invalid("content-type", "must be application/json")},
		{
			name: "a compressed body", body: "\x1f\x8b", headers: []string{"Content-Encoding: gzip"}, status: 415,
			want: plain(415, "unsupported_media_type", "the body must be sent as it is, without a Content-Encoding such as gzip"),
		},
		{
			name: "a payload over the limit", body: `{"event_type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload-1) + `"}`, headers: nil, status: 413,
			want: strings.TrimSuffix(plain(413, "too_large", "the event is too large"), "}") +
				`,"errors":[{"field":"payload","message":"must be at most 262144 bytes"}]}`,
		},
		{
			name: "a body over the limit", body: `{"event_type":"a","payload":"` + strings.Repeat("x", hook.MaxPayload+16<<10) + `"}`, headers: nil, status: 413,
			want: plain(413, "too_large", "the body must be at most 278528 bytes"),
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
		{name: "no URL", body: `{}`, want: invalid("url", "is missing")},
		{name: "null as the URL", body: `{"url":null}`, want: invalid("url", "must not be null")},
		{name: "a space within", body: `{"url":"https://example.com/a b"}`, want: invalid("url", "must not contain spaces, line breaks or other control characters; write a space as %20")},
		{name: "http", body: `{"url":"http://example.com/"}`, want: invalid("url", "must begin with https://")},
		{name: "userinfo", body: `{"url":"https://me:secret@example.com/"}`, want: invalid("url", "must not hold a user name or password")},
		{name: "localhost", body: `{"url":"https://localhost/"}`, want: invalid("url", reserved)},
		{name: "loopback", body: `{"url":"https://127.0.0.1/"}`, want: invalid("url", reserved)},
		{name: "loopback as a number", body: `{"url":"https://2130706433/"}`, want: invalid("url", plainIP)},
		{name: "loopback in hex", body: `{"url":"https://0x7f.0.0.1/"}`, want: invalid("url", plainIP)},
		{name: "loopback in octal", body: `{"url":"https://0177.0.0.1/"}`, want: invalid("url", plainIP)},
		{name: "loopback, short", body: `{"url":"https://127.1/"}`, want: invalid("url", plainIP)},
		{name: "loopback of IPv6", body: `{"url":"https://[::1]/"}`, want: invalid("url", reserved)},
		{name: "a mapped address", body: `{"url":"https://[::ffff:10.0.0.1]/"}`, want: invalid("url", reserved)},
		{name: "a NAT64 address", body: `{"url":"https://[64:ff9b::a00:1]/"}`, want: invalid("url", reserved)},
		{name: "the metadata service", body: `{"url":"https://169.254.169.254/latest"}`, want: invalid("url", reserved)},
		{name: "a private address", body: `{"url":"https://192.168.0.1/"}`, want: invalid("url", reserved)},
		{name: "an unknown field", body: `{` + url + `,"rate_limit":5}`, want: invalid("rate_limit", "is not a known field")},
		{name: "a field in another style", body: `{` + url + `,"eventTypes":["a"]}`, want: invalid("eventTypes", "is not a known field: did you mean event_types?")},
		{name: "a field without its last letter", body: `{` + url + `,"auth":{"type":"none","scopes":"a"}}`, want: invalid("auth.scopes", "is not a known field: did you mean scope?")},
		{name: "a fraction as a whole number", body: `{` + url + `,"max_in_flight":1.5}`, want: invalid("max_in_flight", "must be a whole number")},
		{name: "a number beyond all bounds", body: `{` + url + `,"max_in_flight":1e400}`, want: invalid("max_in_flight", "must be a whole number")},
		{name: "an unknown field inside", body: `{` + url + `,"retry":{"max":5}}`, want: invalid("retry.max", "is not a known field")},
		{name: "a duration without unit", body: `{` + url + `,"timeout":"10"}`, want: invalid("timeout", duration)},
		{name: "a number as a duration", body: `{` + url + `,"timeout":10}`, want: invalid("timeout", duration)},
		{name: "a timeout out of bounds", body: `{` + url + `,"timeout":"31s"}`, want: invalid("timeout", "must be 1s to 30s")},
		{name: "an invalid delay", body: `{` + url + `,"retry":{"schedule":["1s","soon"]}}`, want: invalid("retry.schedule[1]", duration)},
		{name: "a delay out of bounds", body: `{` + url + `,"retry":{"schedule":["1s","8h","169h"]}}`, want: invalid("retry.schedule[2]", "must be 1s to 168h")},
		{name: "an empty schedule", body: `{` + url + `,"retry":{"schedule":[]}}`, want: invalid("retry.schedule", "must have 1 to 20 delays")},
		{name: "an unknown preset", body: `{` + url + `,"retry":{"preset":"never"}}`, want: invalid("retry.preset", "must be one of standard, minute, exponential, day")},
		{name: "an empty preset", body: `{` + url + `,"retry":{"preset":""}}`, want: invalid("retry.preset", "must be one of standard, minute, exponential, day")},
		{name: "a preset with jitter", body: `{` + url + `,"retry":{"preset":"day","jitter":"none"}}`, want: invalid("retry.jitter", "is only valid with schedule or exponential: a preset defines the jitter")},
		{name: "an unknown jitter", body: `{` + url + `,"retry":{"schedule":["1s"],"jitter":"some"}}`, want: invalid("retry.jitter", "must be one of full, equal, proportional, none")},
		{name: "an empty retry policy", body: `{` + url + `,"retry":{}}`, want: invalid("retry", "must have exactly one of preset, schedule and exponential")},
		{name: "two retry policies", body: `{` + url + `,"retry":{"preset":"day","schedule":["1s"]}}`, want: invalid("retry", "must have exactly one of preset, schedule and exponential")},
		{name: "an empty exponential", body: `{` + url + `,"retry":{"exponential":{}}}`, want: invalid(
			"retry.exponential.attempts", "is missing", "retry.exponential.base", "is missing", "retry.exponential.cap", "is missing",
			"retry.exponential.factor", "is missing",
		)},
		{
			name: "a fraction of an attempt", body: `{` + url + `,"retry":{"exponential":{"base":"1s","factor":2,"cap":"1m","attempts":2.5}}}`,
			want: invalid("retry.exponential.attempts", "must be a whole number"),
		},
		{name: "text as a factor", body: `{` + url + `,"retry":{"exponential":{"factor":"2"}}}`, want: invalid(
			"retry.exponential.attempts", "is missing", "retry.exponential.base", "is missing", "retry.exponential.cap", "is missing",
			"retry.exponential.factor", "must be a number",
		)},
		{name: "one event type without list", body: `{` + url + `,"event_types":"a"}`, want: invalid("event_types", "must be an array")},
		{name: "null in a list", body: `{` + url + `,"event_types":[null]}`, want: invalid("event_types[0]", "must not be null")},
		{name: "null as metadata", body: `{` + url + `,"metadata":{"a":null}}`, want: invalid("metadata.a", "must not be null")},
		{name: "several reserved headers", body: `{` + url + `,"headers":{"Host":"a","Date":"b","Via":"c"}}`, want: invalid(
			"headers.Date", "is set by Surehook, HTTP or proxies", "headers.Host", "is set by Surehook, HTTP or proxies",
			"headers.Via", "is set by Surehook, HTTP or proxies",
		)},
		{name: "a rate in words", body: `{` + url + `,"rate_per_second":"10"}`, want: invalid("rate_per_second", "must be a number")},
		{name: "null as a rate", body: `{` + url + `,"rate_per_second":null}`, want: invalid("rate_per_second", "must not be null")},
		{name: "a rate under the minimum", body: `{` + url + `,"rate_per_second":0.009}`, want: invalid("rate_per_second", "must be 0.01 to 1000")},
		{name: "half an attempt in flight", body: `{` + url + `,"max_in_flight":0.5}`, want: invalid("max_in_flight", "must be a whole number")},
		{name: "too many in flight", body: `{` + url + `,"max_in_flight":101}`, want: invalid("max_in_flight", "must be 1 to 100")},
		{name: "a circuit in words", body: `{` + url + `,"circuit":"open"}`, want: invalid("circuit", noObject)},
		{name: "null as a circuit", body: `{` + url + `,"circuit":null}`, want: invalid("circuit", "must not be null")},
		{name: "null in a circuit", body: `{` + url + `,"circuit":{"failures":null}}`, want: invalid("circuit.failures", "must not be null")},
		{name: "an unknown setting of a circuit", body: `{` + url + `,"circuit":{"threshold":5}}`, want: invalid("circuit.threshold", "is not a known field")},
		{name: "a cooldown in seconds", body: `{` + url + `,"circuit":{"cooldown":300}}`, want: invalid("circuit.cooldown", duration)},
		{
			name: "a circuit out of bounds", body: `{` + url + `,"circuit":{"failures":101,"rate":1.01,"minimum":1001,"cooldown":"25h","max_cooldown":"1h"}}`,
			want: invalid(
				"circuit.cooldown", "must be 1s to 24h", "circuit.failures", "must be 1 to 100", "circuit.max_cooldown", "must be circuit.cooldown to 24h",
				"circuit.minimum", "must be 1 to 1000", "circuit.rate", "must be 0.01 to 1",
			),
		},
		{name: "an unknown scheme", body: `{` + url + `,"signature_schemes":["v1","v2"]}`, want: invalid("signature_schemes[1]", "must be one of v1, v1a")},
		{name: "unknown envelope", body: `{` + url + `,"envelope":"none"}`, want: invalid("envelope", "must be one of raw, standard, thin")},
		{name: "an empty secret", body: `{` + url + `,"secret":""}`, want: invalid("secret", "must not be empty")},
		{name: "a short secret", body: `{` + url + `,"secret":"whsec_AAAA"}`, want: invalid("secret", "must be whsec_ and the base64 of 24 to 64 bytes, or text: and 16 to 128 visible characters")},
		{
			name: "a very long name", body: `{"` + strings.Repeat("x", 300) + `":1}`,
			want: invalid("url", "is missing", strings.Repeat("x", 200)+"...", "is not a known field"),
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
		{name: "no key", p: nobody, method: "GET", target: endpoints, headers: nil, status: 401, want: plain(401, "unauthorized", "a valid API key is needed"), header: "WWW-Authenticate: Bearer"},
		{name: "no scope", p: reader, method: "DELETE", target: unknownEndpoint, headers: nil, status: 403, want: plain(403, "forbidden", "the API key lacks the scope endpoints:write"), header: ""},
		{name: "keys by one tenant's admin", p: owner, method: "GET", target: "/v1/keys", headers: nil, status: 403, want: plain(403, "forbidden", "the API key must act for all tenants"), header: ""},
		{name: "another tenant", p: rival, method: "GET", target: endpoints, headers: nil, status: 404, want: plain(404, "not_found", "no such tenant"), header: ""},
		{name: "an invalid tenant", p: admin, method: "GET", target: "/v1/tenants/a%20b/endpoints", headers: nil, status: 400, want: invalid("tenant", hook.TenantRule), header: ""},
		{name: "an unknown path", p: owner, method: "GET", target: "/v2/events", headers: nil, status: 404, want: plain(404, "not_found", "no such route"), header: ""},
		{name: "an unknown path without key", p: nobody, method: "GET", target: "/", headers: nil, status: 404, want: plain(404, "not_found", "no such route"), header: ""},
		{name: "a path with an empty part", p: owner, method: "GET", target: "/v1//keys", headers: nil, status: 404, want: plain(404, "not_found", "no such route"), header: ""},
		{name: "a path with a trailing slash", p: owner, method: "GET", target: endpoints + "/", headers: nil, status: 404, want: plain(404, "not_found", "no such route"), header: ""},
		{name: "another method", p: owner, method: "PUT", target: endpoints, headers: nil, status: 405, want: plain(405, "method_not_allowed", "allowed here: POST, GET"), header: "Allow: POST, GET"},
		{name: "an unknown endpoint", p: owner, method: "GET", target: unknownEndpoint, headers: nil, status: 404, want: plain(404, "not_found", "no such endpoint"), header: ""},
		{name: "an unknown event", p: owner, method: "GET", target: eventsURL + "/evt_1", headers: nil, status: 404, want: plain(404, "not_found", "no such event"), header: ""},
		{name: "an unknown delivery", p: owner, method: "GET", target: "/v1/tenants/acme/deliveries/dlv_1", headers: nil, status: 404, want: plain(404, "not_found", "no such delivery"), header: ""},
		{name: "an unknown key", p: admin, method: "DELETE", target: "/v1/keys/key_1", headers: nil, status: 404, want: plain(404, "not_found", "no such key"), header: ""},
		{name: "limit 0", p: owner, method: "GET", target: endpoints + "?limit=0", headers: nil, status: 400, want: invalid("limit", "must be 1 to 100"), header: ""},
		{name: "limit 101", p: owner, method: "GET", target: endpoints + "?limit=101", headers: nil, status: 400, want: invalid("limit", "must be 1 to 100"), header: ""},
		{name: "an empty limit", p: owner, method: "GET", target: endpoints + "?limit=", headers: nil, status: 400, want: invalid("limit", "must be 1 to 100"), header: ""},
		{name: "a limit in words", p: owner, method: "GET", target: endpoints + "?limit=all", headers: nil, status: 400, want: invalid("limit", "must be 1 to 100"), header: ""},
		{name: "two limits", p: owner, method: "GET", target: endpoints + "?limit=1&limit=2", headers: nil, status: 400, want: invalid("limit", "is given twice"), header: ""},
		{name: "an unknown parameter", p: owner, method: "GET", target: endpoints + "?page=2", headers: nil, status: 400, want: invalid("page", "is not a known parameter"), header: ""},
		{name: "a malformed query", p: owner, method: "GET", target: endpoints + "?limit=%zz", headers: nil, status: 400, want: invalid("query", "is not well-formed"), header: ""},
		{name: "a bad cursor", p: owner, method: "GET", target: endpoints + "?cursor=abc", headers: nil, status: 400, want: invalid("cursor", "is not one that this list returned"), header: ""},
		{
			name: "an unknown state", p: owner, method: "GET", target: unknownEndpoint + "/deliveries?state=x", headers: nil, status: 400,
			want: invalid("state", "must be one of retrying, parked, delivered, dead, discarded, cancelled"), header: "",
		},
		{
			name: "the state queued", p: owner, method: "GET", target: unknownEndpoint + "/deliveries?state=queued", headers: nil, status: 400,
			want: invalid("state", "queued deliveries are not listed; look at their event's deliveries"), header: "",
		},
		{
			name: "a malformed If-Match", p: owner, method: "DELETE", target: unknownEndpoint,
			headers: []string{"If-Match: 3"},
			status:  400,
			want:    invalid("if-match", `must be the ETag of a read, such as "3", or *`), header: "",
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
		{name: "a foreign error", err: errors.New("table acme-prod is gone"), status: 500, want: plain(500, "internal", "something went wrong on our side"), retryAfter: "", logged: true},
		{
			name:   "an internal error",
			err:    &hook.Error{Code: hook.CodeInternal, Message: "m", Err: errors.New("table acme-prod is gone")},
			status: 500, want: plain(500, "internal", "something went wrong on our side"), retryAfter: "", logged: true,
		},
		{
			name:   "something unavailable",
			err:    fmt.Errorf("op: %w", &hook.Error{Code: hook.CodeUnavailable, Message: "try again", Err: errors.New("table acme-prod is gone")}),
			status: 503, want: plain(503, "unavailable", "try again"), retryAfter: "5", logged: true,
		},
		{name: "too many requests", err: &hook.Error{Code: hook.CodeThrottled, Message: "slow down"}, status: 429, want: plain(429, "throttled", "slow down"), retryAfter: "5", logged: false},
		{name: "a conflict", err: fmt.Errorf("put: %w", hook.Conflict("taken")), status: 409, want: plain(409, "conflict", "taken"), retryAfter: "", logged: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.refuse(tt.err)
			w := b.do(t, owner, http.MethodPost, eventsURL, `{"event_type":"a","payload":1}`)
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
