package hook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"surehook/internal/hook"
)

func TestClassOfStatus(t *testing.T) {
	t.Parallel()

	tests := []struct {
		status int
		class  hook.Class
		result hook.Result
	}{
		{200, hook.ClassDelivered, hook.ResultDelivered},
		{204, hook.ClassDelivered, hook.ResultDelivered},
		{299, hook.ClassDelivered, hook.ResultDelivered},
		{300, hook.ClassRedirect, hook.ResultRejected},
		{303, hook.ClassRedirect, hook.ResultRejected},
		{304, hook.ClassRedirect, hook.ResultRejected},
		{399, hook.ClassRedirect, hook.ResultRejected},
		{400, hook.ClassRefused, hook.ResultRejected},
		{401, hook.ClassRefused, hook.ResultRejected},
		{404, hook.ClassRefused, hook.ResultRejected},
		{407, hook.ClassRefused, hook.ResultRejected},
		{408, hook.ClassUnavailable, hook.ResultTransient},
		{409, hook.ClassRefused, hook.ResultRejected},
		{410, hook.ClassGone, hook.ResultRejected},
		{411, hook.ClassRefused, hook.ResultRejected},
		{424, hook.ClassRefused, hook.ResultRejected},
		{425, hook.ClassUnavailable, hook.ResultTransient},
		{426, hook.ClassRefused, hook.ResultRejected},
		{428, hook.ClassRefused, hook.ResultRejected},
		{429, hook.ClassThrottled, hook.ResultTransient},
		{430, hook.ClassRefused, hook.ResultRejected},
		{499, hook.ClassRefused, hook.ResultRejected},
		{500, hook.ClassUnavailable, hook.ResultTransient},
		{503, hook.ClassUnavailable, hook.ResultTransient},
		{599, hook.ClassUnavailable, hook.ResultTransient},
		{999, hook.ClassUnavailable, hook.ResultTransient},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			t.Parallel()

			class := hook.ClassOfStatus(tt.status)
			if class != tt.class || class.Result() != tt.result {
				t.Errorf("ClassOfStatus(%d) = %s, %d; want %s, %d", tt.status, class, class.Result(), tt.class, tt.result)
			}
		})
	}
}

func TestClass_Result_OfWhatIsNoStatus(t *testing.T) {
	t.Parallel()

	for _, class := range []hook.Class{
		hook.ClassTimeout, hook.ClassDNS, hook.ClassConnect, hook.ClassReset, hook.ClassTLS, hook.ClassBlocked,
	} {
		if got := class.Result(); got != hook.ResultTransient {
			t.Errorf("%s.Result() = %d; want transient", class, got)
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
		{"an exact type", []string{"order.paid"}, "order.paid", true},
		{"another type", []string{"order.paid"}, "order.pai", false},
		{"a longer type", []string{"order.paid"}, "order.paid.twice", false},
		{"case counts", []string{"order.paid"}, "Order.paid", false},
		{"a prefix", []string{"order.*"}, "order.paid", true},
		{"a prefix covers deeper types", []string{"order.*"}, "order.line.added", true},
		{"a prefix wants the dot", []string{"order.*"}, "orders.paid", false},
		{"a prefix wants something after the dot", []string{"order.*"}, "order.", false},
		{"a prefix does not match itself", []string{"order.*"}, "order", false},
		{"any", []string{"*"}, "order.paid", true},
		{"any, not Surehook's own", []string{"*"}, "surehook.endpoint.disabled", false},
		{"Surehook's own by name", []string{"surehook.*"}, "surehook.endpoint.disabled", true},
		{"the second of two", []string{"user.*", "order.paid"}, "order.paid", true},
		{"nothing", nil, "order.paid", false},
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

	if got := hook.CodeOf(fmt.Errorf("read it: %w", hook.NotFound("event"))); got != hook.CodeNotFound {
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
		{"a good event", hook.Event{Type: "order.paid", Payload: []byte("1")}, ""},
		{"the longest type", hook.Event{Type: strings.Repeat("a", 128), Payload: []byte("1")}, ""},
		{"a type too long", hook.Event{Type: strings.Repeat("a", 129), Payload: []byte("1")}, "type"},
		{"no type", hook.Event{Payload: []byte("1")}, "type"},
		{"a type with a space", hook.Event{Type: "order paid", Payload: []byte("1")}, "type"},
		{"a type with a newline", hook.Event{Type: "order\n", Payload: []byte("1")}, "type"},
		{"a type of Surehook's own", hook.Event{Type: "surehook.test", Payload: []byte("1")}, "type"},
		{"no payload", hook.Event{Type: "a"}, "payload"},
		{"the longest key", hook.Event{Type: "a", Payload: []byte("1"), IdempotencyKey: strings.Repeat("k", 255)}, ""},
		{"a key too long", hook.Event{Type: "a", Payload: []byte("1"), IdempotencyKey: strings.Repeat("k", 256)}, "idempotency_key"},
		{"a key with a space", hook.Event{Type: "a", Payload: []byte("1"), IdempotencyKey: "a b"}, "idempotency_key"},
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
		{"a good endpoint", func(*hook.Endpoint) {}, ""},
		{"no URL", func(e *hook.Endpoint) { e.URL = "" }, "url"},
		{"an alias", func(e *hook.Endpoint) { e.UID = "billing.v2" }, ""},
		{"an alias that looks like an id", func(e *hook.Endpoint) { e.UID = "ep_x" }, "uid"},
		{"an alias with a slash", func(e *hook.Endpoint) { e.UID = "a/b" }, "uid"},
		{"the longest alias", func(e *hook.Endpoint) { e.UID = long(128) }, ""},
		{"an alias too long", func(e *hook.Endpoint) { e.UID = long(129) }, "uid"},
		{"the longest description", func(e *hook.Endpoint) { e.Description = long(1024) }, ""},
		{"a description too long", func(e *hook.Endpoint) { e.Description = long(1025) }, "description"},
		{"no event types", func(e *hook.Endpoint) { e.EventTypes = nil }, "event_types"},
		{"a star inside a type", func(e *hook.Endpoint) { e.EventTypes = []string{"a", "a*b"} }, "event_types[1]"},
		{"a star without its dot", func(e *hook.Endpoint) { e.EventTypes = []string{"order*"} }, "event_types[0]"},
		{"50 metadata entries", func(e *hook.Endpoint) { e.Metadata = many(50) }, ""},
		{"51 metadata entries", func(e *hook.Endpoint) { e.Metadata = many(51) }, "metadata"},
		{"a metadata value too long", func(e *hook.Endpoint) { e.Metadata = map[string]string{"k": long(513)} }, "metadata"},
		{"20 headers", func(e *hook.Endpoint) { e.Headers = many(20) }, ""},
		{"21 headers", func(e *hook.Endpoint) { e.Headers = many(21) }, "headers"},
		{"a header that frames", func(e *hook.Endpoint) { e.Headers = map[string]string{"Content-Length": "1"} }, "headers.Content-Length"},
		{"a signature header", func(e *hook.Endpoint) { e.Headers = map[string]string{"Webhook-Id": "1"} }, "headers.Webhook-Id"},
		{"a header name with a newline", func(e *hook.Endpoint) { e.Headers = map[string]string{"a\nb": "1"} }, "headers"},
		{"a header value with a newline", func(e *hook.Endpoint) { e.Headers = map[string]string{"X-A": "a\r\nb: c"} }, "headers.X-A"},
		{"a header value that is empty", func(e *hook.Endpoint) { e.Headers = map[string]string{"X-A": ""} }, "headers.X-A"},
		{"an authorization header", func(e *hook.Endpoint) { e.Headers = map[string]string{"Authorization": "Bearer x"} }, ""},
		{"the shortest timeout", func(e *hook.Endpoint) { e.Timeout = time.Second }, ""},
		{"a timeout too short", func(e *hook.Endpoint) { e.Timeout = time.Second - 1 }, "timeout"},
		{"the longest timeout", func(e *hook.Endpoint) { e.Timeout = 30 * time.Second }, ""},
		{"a timeout too long", func(e *hook.Endpoint) { e.Timeout = 30*time.Second + 1 }, "timeout"},
		{"a max_age too long", func(e *hook.Endpoint) { e.MaxAge = 336*time.Hour + 1 }, "max_age"},
		{"no scheme", func(e *hook.Endpoint) { e.Schemes = nil }, "signature_schemes"},
		{"classic headers with v1a", func(e *hook.Endpoint) {
			e.Style, e.Schemes = hook.StyleClassic, []hook.Scheme{hook.SchemeV1a}
		}, "signature_schemes"},
		{"classic headers with v1", func(e *hook.Endpoint) { e.Style = hook.StyleClassic }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := hook.Endpoint{
				URL: "https://example.com/hook", EventTypes: []string{"*"}, Timeout: hook.DefaultTimeout,
				MaxAge: hook.DefaultMaxAge, Style: hook.StyleStandard, Schemes: []hook.Scheme{hook.SchemeV1},
			}
			tt.change(&e)
			assertFields(t, hook.ValidateEndpoint(e), tt.field)
		})
	}
}

// assertFields checks that the one wrong field is named, or that none is.
func assertFields(t *testing.T, got []hook.FieldError, want string) {
	t.Helper()

	switch {
	case want == "" && len(got) > 0:
		t.Errorf("got %v; want no error", got)
	case want != "" && (len(got) != 1 || got[0].Field != want):
		t.Errorf("got %v; want one error for %s", got, want)
	}
}
