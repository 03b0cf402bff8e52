package hook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

func TestClassOfStatus(t *testing.T) {
	t.Parallel()

	tests := []struct {
		status int
		class  hook.Class
		result hook.Result
	}{
		{status: 200, class: hook.ClassDelivered, result: hook.ResultDelivered},
		{status: 204, class: hook.ClassDelivered, result: hook.ResultDelivered},
		{status: 299, class: hook.ClassDelivered, result: hook.ResultDelivered},
		{status: 300, class: hook.ClassRedirect, result: hook.ResultRejected},
		{status: 303, class: hook.ClassRedirect, result: hook.ResultRejected},
		{status: 304, class: hook.ClassRedirect, result: hook.ResultRejected},
		{status: 399, class: hook.ClassRedirect, result: hook.ResultRejected},
		{status: 400, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 401, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 404, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 407, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 408, class: hook.ClassUnavailable, result: hook.ResultTransient},
		{status: 409, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 410, class: hook.ClassGone, result: hook.ResultRejected},
		{status: 411, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 424, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 425, class: hook.ClassUnavailable, result: hook.ResultTransient},
		{status: 426, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 428, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 429, class: hook.ClassThrottled, result: hook.ResultTransient},
		{status: 430, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 499, class: hook.ClassRefused, result: hook.ResultRejected},
		{status: 500, class: hook.ClassUnavailable, result: hook.ResultTransient},
		{status: 503, class: hook.ClassUnavailable, result: hook.ResultTransient},
		{status: 599, class: hook.ClassUnavailable, result: hook.ResultTransient},
		{status: 999, class: hook.ClassUnavailable, result: hook.ResultTransient},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			t.Parallel()

			class := hook.ClassOfStatus(tt.status)
			result := new(hook.Endpoint).ResultOf(&hook.Outcome{Class: class, Status: tt.status})
			if class != tt.class || result != tt.result {
				t.Errorf("ClassOfStatus(%d) = %s, %d; want %s, %d", tt.status, class, result, tt.class, tt.result)
			}
			if failing := tt.result == hook.ResultTransient && tt.status != 429; class.Failing() != failing {
				t.Errorf("%d: Failing() = %t; want %t", tt.status, class.Failing(), failing)
			}
		})
	}
}

func TestEndpoint_ResultOf_WithoutAStatus(t *testing.T) {
	t.Parallel()

	for _, class := range []hook.Class{
		hook.ClassTimeout, hook.ClassDNS, hook.ClassConnect, hook.ClassReset, hook.ClassTLS, hook.ClassBlocked,
	} {
		if got := new(hook.Endpoint).ResultOf(&hook.Outcome{Class: class}); got != hook.ResultTransient || !class.Failing() {
			t.Errorf("ResultOf(%s) = %d, Failing() = %t; want transient, true", class, got, class.Failing())
		}
	}
}

func TestEndpoint_Subscribes(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		patterns []string
		event    string
		want     bool
	}{
		{name: "an exact type", patterns: []string{"order.paid"}, event: "order.paid", want: true},
		{name: "another type", patterns: []string{"order.paid"}, event: "order.pai", want: false},
		{name: "a longer type", patterns: []string{"order.paid"}, event: "order.paid.twice", want: false},
		{name: "case counts", patterns: []string{"order.paid"}, event: "Order.paid", want: false},
		{name: "a prefix", patterns: []string{"order.*"}, event: "order.paid", want: true},
		{name: "a prefix covers deeper types", patterns: []string{"order.*"}, event: "order.line.added", want: true},
		{name: "a prefix wants the dot", patterns: []string{"order.*"}, event: "orders.paid", want: false},
		{name: "a prefix wants something after the dot", patterns: []string{"order.*"}, event: "order.", want: false},
		{name: "a prefix does not match itself", patterns: []string{"order.*"}, event: "order", want: false},
		{name: "any", patterns: []string{"*"}, event: "order.paid", want: true},
		{name: "any type excludes system types", patterns: []string{"*"}, event: "webhook.endpoint.disabled", want: false},
		{name: "system types by prefix", patterns: []string{"webhook.*"}, event: "webhook.endpoint.disabled", want: true},
		{name: "the second of two", patterns: []string{"user.*", "order.paid"}, event: "order.paid", want: true},
		{name: "nothing", patterns: nil, event: "order.paid", want: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := (hook.Endpoint{EventTypes: tt.patterns}).Subscribes(tt.event); got != tt.want {
				t.Errorf("Subscribes(%v, %s) = %t; want %t", tt.patterns, tt.event, got, tt.want)
			}
		})
	}
}

func TestEndpoint_Active(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := hook.Endpoint{Secrets: []hook.Secret{
		{Public: "current"},
		{Public: "overlapping", ExpiresAt: now.Add(time.Millisecond)},
		{Public: "expired", ExpiresAt: now},
	}}
	got := e.Active(now)
	if len(got) != 2 || got[0].Public != "current" || got[1].Public != "overlapping" {
		t.Errorf("Active() = %v; want current and overlapping", got)
	}
}

func TestParseState(t *testing.T) {
	t.Parallel()

	for s := hook.StateQueued; s <= hook.StateCancelled; s++ {
		if got, err := hook.ParseState(s.String()); err != nil || got != s {
			t.Errorf("ParseState(%s) = %v, %v", s, got, err)
		}
	}
	if _, err := hook.ParseState("unknown"); hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("ParseState(unknown) = %v; want invalid", err)
	}
}

func TestCodeOf(t *testing.T) {
	t.Parallel()

	if got := hook.CodeOf(fmt.Errorf("read event: %w", hook.NotFound("event"))); got != hook.CodeNotFound {
		t.Errorf("CodeOf(wrapped) = %s; want not_found", got)
	}
	if got := hook.CodeOf(errors.New("boom")); got != hook.CodeInternal {
		t.Errorf("CodeOf(foreign) = %s; want internal", got)
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()

	tests := map[time.Duration]string{
		0:                       "0s",
		10 * time.Second:        "10s",
		90 * time.Second:        "1m30s",
		time.Minute:             "1m",
		time.Hour:               "1h",
		24 * time.Hour:          "24h",
		time.Hour + time.Second: "1h0m1s",
		100 * time.Minute:       "1h40m",
		1500 * time.Millisecond: "1.5s",
	}
	for in, want := range tests {
		got := hook.FormatDuration(in)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != in {
			t.Errorf("FormatDuration(%d) = %s; want %s", in, got, want)
		}
	}
}

func TestValidateEvent(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		event hook.Event
		field string
	}{
		{name: "a good event", event: hook.Event{Type: "order.paid", Payload: []byte("1")}, field: ""},
		{name: "the longest type", event: hook.Event{Type: strings.Repeat("a", 128), Payload: []byte("1")}, field: ""},
		{name: "a type too long", event: hook.Event{Type: strings.Repeat("a", 129), Payload: []byte("1")}, field: "event_type"},
		{name: "no type", event: hook.Event{Payload: []byte("1")}, field: "event_type"},
		{name: "a type with a space", event: hook.Event{Type: "order paid", Payload: []byte("1")}, field: "event_type"},
		{name: "a type with a newline", event: hook.Event{Type: "order\n", Payload: []byte("1")}, field: "event_type"},
		{name: "a system type", event: hook.Event{Type: "webhook.test", Payload: []byte("1")}, field: "event_type"},
		{name: "no payload", event: hook.Event{Type: "a"}, field: "payload"},
		{name: "the longest key", event: hook.Event{Type: "a", Payload: []byte("1"), IdempotencyKey: strings.Repeat("k", 255)}, field: ""},
		{name: "a key too long", event: hook.Event{Type: "a", Payload: []byte("1"), IdempotencyKey: strings.Repeat("k", 256)}, field: "idempotency_key"},
		{name: "a key with a space", event: hook.Event{Type: "a", Payload: []byte("1"), IdempotencyKey: "a b"}, field: "idempotency_key"},
		{name: "the longest ordering key", event: hook.Event{Type: "a", Payload: []byte("1"), OrderingKey: strings.Repeat("k", 128)}, field: ""},
		{name: "an ordering key too long", event: hook.Event{Type: "a", Payload: []byte("1"), OrderingKey: strings.Repeat("k", 300)}, field: "ordering_key"},
		{name: "an ordering key with a space", event: hook.Event{Type: "a", Payload: []byte("1"), OrderingKey: "a b"}, field: "ordering_key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			assertFields(t, hook.ValidateEvent(tt.event), tt.field)
		})
	}
}

func TestValidateEndpoint(t *testing.T) {
	t.Parallel()

	long := func(n int) string { return strings.Repeat("x", n) }
	many := func(n int) map[string]string {
		m := make(map[string]string, n)
		for i := range n {
			m[fmt.Sprintf("k%d", i)] = "v"
		}
		return m
	}
	tests := []struct {
		name   string
		change func(e *hook.Endpoint)
		field  string
	}{
		{name: "a good endpoint", change: func(*hook.Endpoint) {}, field: ""},
		{name: "no URL", change: func(e *hook.Endpoint) { e.URL = "" }, field: "url"},
		{name: "an alias", change: func(e *hook.Endpoint) { e.UID = "billing.v2" }, field: ""},
		{name: "an alias that looks like an id", change: func(e *hook.Endpoint) { e.UID = "ep_x" }, field: "uid"},
		{name: "an alias with a slash", change: func(e *hook.Endpoint) { e.UID = "a/b" }, field: "uid"},
		{name: "an alias that is a dot segment", change: func(e *hook.Endpoint) { e.UID = "." }, field: "uid"},
		{name: "an alias that is two dots", change: func(e *hook.Endpoint) { e.UID = ".." }, field: "uid"},
		{name: "an alias of three dots", change: func(e *hook.Endpoint) { e.UID = "..." }, field: ""},
		{name: "the longest alias", change: func(e *hook.Endpoint) { e.UID = long(128) }, field: ""},
		{name: "an alias too long", change: func(e *hook.Endpoint) { e.UID = long(129) }, field: "uid"},
		{name: "the longest description", change: func(e *hook.Endpoint) { e.Description = long(1024) }, field: ""},
		{name: "a description too long", change: func(e *hook.Endpoint) { e.Description = long(1025) }, field: "description"},
		{name: "a description of two lines", change: func(e *hook.Endpoint) { e.Description = "a\nb" }, field: "description"},
		{name: "a description with an escape", change: func(e *hook.Endpoint) { e.Description = "a\x1b[31mb" }, field: "description"},
		{name: "a description with DEL", change: func(e *hook.Endpoint) { e.Description = "a\x7f" }, field: "description"},
		{name: "a description with a C1 control", change: func(e *hook.Endpoint) { e.Description = "a\u0085b" }, field: "description"},
		{name: "a description with an umlaut", change: func(e *hook.Endpoint) { e.Description = "gr\u00f6\u00dfer\u00a0\U0001f600" }, field: ""},
		{name: "a metadata key with a NUL", change: func(e *hook.Endpoint) { e.Metadata = map[string]string{"a\x00": "v"} }, field: "metadata"},
		{name: "a metadata value with a tab", change: func(e *hook.Endpoint) { e.Metadata = map[string]string{"a": "v\tw"} }, field: "metadata"},
		{name: "a metadata value that is no UTF-8", change: func(e *hook.Endpoint) { e.Metadata = map[string]string{"a": "\xff"} }, field: "metadata"},
		{name: "no event types", change: func(e *hook.Endpoint) { e.EventTypes = nil }, field: "event_types"},
		{name: "a star inside a type", change: func(e *hook.Endpoint) { e.EventTypes = []string{"a", "a*b"} }, field: "event_types[1]"},
		{name: "a star without its dot", change: func(e *hook.Endpoint) { e.EventTypes = []string{"order*"} }, field: "event_types[0]"},
		{name: "50 metadata entries", change: func(e *hook.Endpoint) { e.Metadata = many(50) }, field: ""},
		{name: "51 metadata entries", change: func(e *hook.Endpoint) { e.Metadata = many(51) }, field: "metadata"},
		{name: "a metadata value too long", change: func(e *hook.Endpoint) { e.Metadata = map[string]string{"k": long(513)} }, field: "metadata"},
		{name: "20 headers", change: func(e *hook.Endpoint) { e.Headers = many(20) }, field: ""},
		{name: "21 headers", change: func(e *hook.Endpoint) { e.Headers = many(21) }, field: "headers"},
		{name: "a header that frames", change: func(e *hook.Endpoint) { e.Headers = map[string]string{"Content-Length": "1"} }, field: "headers.Content-Length"},
		{name: "a signature header", change: func(e *hook.Endpoint) { e.Headers = map[string]string{"Webhook-Id": "1"} }, field: "headers.Webhook-Id"},
		{name: "a header name with a newline", change: func(e *hook.Endpoint) { e.Headers = map[string]string{"a\nb": "1"} }, field: "headers"},
		{name: "a header value with a newline", change: func(e *hook.Endpoint) { e.Headers = map[string]string{"X-A": "a\r\nb: c"} }, field: "headers.X-A"},
		{name: "a header value that is empty", change: func(e *hook.Endpoint) { e.Headers = map[string]string{"X-A": ""} }, field: "headers.X-A"},
		{name: "an authorization header", change: func(e *hook.Endpoint) { e.Headers = map[string]string{"Authorization": "Bearer x"} }, field: ""},
		{name: "the shortest timeout", change: func(e *hook.Endpoint) { e.Timeout = time.Second }, field: ""},
		{name: "a timeout too short", change: func(e *hook.Endpoint) { e.Timeout = time.Second - 1 }, field: "timeout"},
		{name: "the longest timeout", change: func(e *hook.Endpoint) { e.Timeout = 30 * time.Second }, field: ""},
		{name: "a timeout too long", change: func(e *hook.Endpoint) { e.Timeout = 30*time.Second + 1 }, field: "timeout"},
		{name: "the shortest max_retry_after", change: func(e *hook.Endpoint) { e.MaxRetryAfter = time.Second }, field: ""},
		{name: "a max_retry_after too short", change: func(e *hook.Endpoint) { e.MaxRetryAfter = time.Second - 1 }, field: "max_retry_after"},
		{name: "the longest max_retry_after", change: func(e *hook.Endpoint) { e.MaxRetryAfter = 24 * time.Hour }, field: ""},
		{name: "a max_retry_after too long", change: func(e *hook.Endpoint) { e.MaxRetryAfter = 24*time.Hour + 1 }, field: "max_retry_after"},
		{name: "a max_age too long", change: func(e *hook.Endpoint) { e.MaxAge = 336*time.Hour + 1 }, field: "max_age"},
		{name: "the most shards", change: func(e *hook.Endpoint) { e.Shards = 16 }, field: ""},
		{name: "too many shards", change: func(e *hook.Endpoint) { e.Shards = 17 }, field: "shards"},
		{name: "no shard", change: func(e *hook.Endpoint) { e.Shards = 0 }, field: "shards"},
		{name: "no scheme", change: func(e *hook.Endpoint) { e.Schemes = nil }, field: "signature_schemes"},
		{name: "profile classic with v1a", change: func(e *hook.Endpoint) {
			e.Profiles, e.Schemes = hook.ProfilesNamed(hook.ProfileClassic), []hook.Scheme{hook.SchemeV1a}
		}, field: "signature_schemes"},
		{name: "profile classic with v1a and v1", change: func(e *hook.Endpoint) {
			e.Profiles, e.Schemes = hook.ProfilesNamed(hook.ProfileClassic), []hook.Scheme{hook.SchemeV1, hook.SchemeV1a}
		}, field: "signature_schemes"},
		{name: "two profiles with v1 and v1a", change: func(e *hook.Endpoint) {
			e.Profiles, e.Schemes = hook.ProfilesNamed(hook.ProfileStandard, hook.ProfileClassic), []hook.Scheme{hook.SchemeV1, hook.SchemeV1a}
		}, field: ""},
		{name: "two profiles with v1a alone", change: func(e *hook.Endpoint) {
			e.Profiles, e.Schemes = hook.ProfilesNamed(hook.ProfileStandard, hook.ProfileClassic), []hook.Scheme{hook.SchemeV1a}
		}, field: "signature_schemes"},
		{name: "profile classic with v1", change: func(e *hook.Endpoint) { e.Profiles = hook.ProfilesNamed(hook.ProfileClassic) }, field: ""},
		{name: "no profile", change: func(e *hook.Endpoint) { e.Profiles = nil }, field: "signature_profiles"},
		{name: "three profiles", change: func(e *hook.Endpoint) { e.Profiles = hook.ProfilesNamed(hook.ProfileStandard, "a", "b") }, field: "signature_profiles"},
		{name: "a profile twice", change: func(e *hook.Endpoint) { e.Profiles = hook.ProfilesNamed(hook.ProfileStandard, hook.ProfileStandard) }, field: "signature_profiles"},
		{name: "thin for single events", change: func(e *hook.Endpoint) { e.Envelope = hook.EnvelopeThin }, field: ""},
		{name: "thin for several events", change: func(e *hook.Endpoint) {
			e.Envelope, e.Coalesce = hook.EnvelopeThin, hook.Coalescing{Window: time.Second}.WithDefaults()
		}, field: "envelope"},
		{name: "a transformation for several events", change: func(e *hook.Endpoint) {
			e.Transformation, e.Coalesce = "{}", hook.Coalescing{Window: time.Second}.WithDefaults()
		}, field: "transformation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := hook.Endpoint{
				URL: "https://example.com/hook", EventTypes: []string{"*"}, Timeout: hook.DefaultTimeout, Shards: 1,
				MaxAge: hook.DefaultMaxAge, Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1},
			}
			tt.change(&e)
			assertFields(t, hook.ValidateEndpoint(e), tt.field)
		})
	}
}

// Users cannot set these headers, in any case and with "_" for "-". The error names
// the header as given.
func TestValidateEndpoint_reservedHeaders(t *testing.T) {
	t.Parallel()

	reserved := []string{
		"Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Trailer", "TE", "Expect", "Date", "User-Agent",
		"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Upgrade", "HTTP2-Settings", "Accept-Encoding",
		"Cookie", "Set-Cookie", "Sec-Fetch-Site", "Traceparent", "Tracestate",
		"Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix",
		"X-Forwarded-Client-Cert", "X-Forwarded-Anything", "CF-Connecting-IP", "CF-Ray",
		"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
		"X-Original-URL", "X-Original-URI", "X-Original-Host", "X-Original-Forwarded-For", "X-Rewrite-URL", "X-Host", "X-HTTP-Host-Override",
		"X-Client-IP", "True-Client-IP", "Fastly-Client-IP", "Fly-Client-IP", "X-Cluster-Client-IP", "WL-Proxy-Client-IP", "Client-IP",
		"X-Azure-ClientIP", "X-Azure-SocketIP", "X-Azure-FDID", "CloudFront-Viewer-Address", "X-Envoy-External-Address", "DO-Connecting-IP",
		"X-Appengine-User-IP", "Appengine-User-IP", "X-Remote-IP", "X-Remote-Addr", "X-Originating-IP", "X-Forwarded", "Forwarded-For",
		"X-Vercel-Forwarded-For", "X-NF-Client-Connection-IP", "Proxy", "X-Scheme", "X-Url-Scheme", "Front-End-Https", "X-Middleware-Subrequest",
		"Remote-User", "X-Remote-User", "X-Remote-Group", "X-Remote-Extra-Scopes", "X-Auth-Request-Email", "X-WEBAUTH-USER", "Tailscale-User-Login",
		"X-Amzn-Oidc-Data", "X-Amzn-Mtls-Clientcert", "X-Goog-Authenticated-User-Email", "X-Goog-IAP-JWT-Assertion", "X-MS-CLIENT-PRINCIPAL", "X-MS-CLIENT-PRINCIPAL-ID",
		"Client-Cert", "Client-Cert-Chain", "X-Client-Cert", "X-SSL-Client-Verify", "SSL-Client-Cert", "X-ARR-ClientCert", "X-ARR-SSL",
		"Webhook-Id", "Webhook-Signature", "Webhook-Anything", "X-Webhook-Signature", "X-Webhook-Delivery", "X-Event-Id", "X-Idempotency-Key",
		"Svix-Id", "Svix-Signature", "Surehook-Anything",
	}
	free := []string{
		"Authorization", "X-Api-Key", "X-Shop", "Idempotency-Key", "Accept", "X-Request-Id", "X-Forward", "X-Client-Id", "X-Originator", "X-IP", "X-Client-Certificate-Id", "X-Goog-Api-Key", "X-Amzn-Trace-Id", "X-Auth-Token", "Hosts", "Webhook", "Svix", "X-Cf-Ray",
	}
	check := func(name, field string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			assertFields(t, hook.ValidateEndpoint(hook.Endpoint{
				URL: "https://example.com/hook", EventTypes: []string{"*"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge,
				Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1}, Shards: 1, Headers: map[string]string{name: "1"},
			}), field)
		})
	}
	for _, name := range reserved {
		for _, spelling := range []string{name, strings.ToUpper(name), strings.ReplaceAll(strings.ToLower(name), "-", "_"), strings.ReplaceAll(name, "-", ".")} {
			check(spelling, "headers."+spelling)
		}
	}
	for _, name := range free {
		check(name, "")
	}
}

// Only active secrets of the chosen schemes sign. The other secrets stay stored.
func TestEndpoint_Signing(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	secrets := []hook.Secret{
		{Scheme: hook.SchemeV1a, Public: "new"},
		{Scheme: hook.SchemeV1, Public: "new"},
		{Scheme: hook.SchemeV1a, Public: "old", ExpiresAt: now.Add(time.Second)},
		{Scheme: hook.SchemeV1, Public: "old", ExpiresAt: now.Add(time.Second)},
		{Scheme: hook.SchemeV1, Public: "expired", ExpiresAt: now},
		{Scheme: hook.SchemeV1a, Public: "expired", ExpiresAt: now},
	}
	tests := []struct {
		name    string
		schemes []hook.Scheme
		want    []string
	}{
		{name: "v1 alone", schemes: []hook.Scheme{hook.SchemeV1}, want: []string{"v1 new", "v1 old"}},
		{name: "v1a alone", schemes: []hook.Scheme{hook.SchemeV1a}, want: []string{"v1a new", "v1a old"}},
		{name: "both", schemes: []hook.Scheme{hook.SchemeV1, hook.SchemeV1a}, want: []string{"v1a new", "v1 new", "v1a old", "v1 old"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var got []string
			for _, s := range (&hook.Endpoint{Schemes: tt.schemes, Secrets: secrets}).Signing(now) {
				got = append(got, s.Scheme.String()+" "+s.Public)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Signing(schemes %v) (-want +got):\n%s", tt.schemes, diff)
			}
		})
	}
}

// assertFields checks for exactly one wrong field, want, or for none if want is empty.
func assertFields(t *testing.T, got []hook.FieldError, want string) {
	t.Helper()

	switch {
	case want == "" && len(got) > 0:
		t.Errorf("got %v; want no error", got)
	case want != "" && (len(got) != 1 || got[0].Field != want):
		t.Errorf("got %v; want one error for %s", got, want)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()

	tests := []struct{ url, want string }{
		{url: "https://example.com/a?b", want: "https://example.com:443"},
		{url: "https://Example.COM:443", want: "https://example.com:443"},
		{url: "HTTPS://example.com", want: "https://example.com:443"},
		{url: "https://example.com:8443/", want: "https://example.com:8443"},
		{url: "http://example.com/", want: "http://example.com:80"},
		{url: "http://example.com:443/", want: "http://example.com:443"},
		{url: "https://[2001:DB8::1]/", want: "https://[2001:db8::1]:443"},
		{url: "https://203.0.113.9/", want: "https://203.0.113.9:443"},
		{url: "https://%zz/", want: "https://%zz/"},
	}
	for _, tt := range tests {
		if got := hook.Origin(tt.url); got != tt.want {
			t.Errorf("Origin(%s) = %s; want %s", tt.url, got, tt.want)
		}
	}
}
