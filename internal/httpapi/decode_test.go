package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestProblems_together checks that a response names all wrong fields of a body: those that are
// malformed, unknown, missing or out of bounds.
func TestProblems_together(t *testing.T) {
	t.Parallel()

	const unknown, missing, text, null = "is not a known field", "is missing", "must be a string", "must not be null"
	tests := []struct {
		name, method, path, body, want string
	}{
		{
			name: "a new endpoint", method: "POST", path: endpoints,
			body: `{"url":7,"timeout":"soon","max_age":"1ms","colour":"red","event_types":["a",1,null,"b c"],"retry":{"schedule":["1s",2,"169h"],"more":1},` +
				`"circuit":{"rate":"x","cooldown":"25h"},"envelope":"none","secret":""}`,
			want: invalid(
				"circuit.cooldown", "must be 1s to 24h", "circuit.max_cooldown", "must be circuit.cooldown to 24h", "circuit.rate", "must be a number",
				"colour", unknown, "envelope", "must be one of raw, standard, thin", "event_types[1]", text, "event_types[2]", null,
				"event_types[3]", `must be a type such as "order.paid", a prefix such as "order.*", or "*"`, "max_age", "must be 1s to 336h",
				"retry.more", unknown, "retry.schedule[1]", duration, "retry.schedule[2]", "must be 1s to 168h", "secret", "must not be empty",
				"timeout", duration, "url", text,
			),
		},
		{
			name: "a changed endpoint", method: "PATCH", path: endpoints + "/crm", body: `{"timeout":5,"uid":"erp","max_in_flight":101,"a~/b":1}`,
			want: invalid("a~/b", unknown, "max_in_flight", "must be 1 to 100", "timeout", duration, "uid", "cannot be changed"),
		},
		{
			name: "basic authentication", method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"type":"basic","username":"a:b","token":"t"},"timeout":5}`,
			want: invalid("auth.token", "is for the type bearer only", "timeout", duration),
		},
		{
			name: "authentication without a type", method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"token":"t"}}`,
			want: invalid("auth.type", missing),
		},
		{
			name: "an unknown authentication", method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"type":"digest","more":1}}`,
			want: invalid("auth.more", unknown, "auth.type", "must be one of none, basic, bearer, oauth2"),
		},
		{
			name: "wrong TLS settings", method: "PATCH", path: endpoints + "/crm", body: `{"tls":{"certificate":"***","key":"y","more":1}}`,
			want: invalid("tls.certificate", "*** stands for a stored value, and there is none",
				"tls.key", "must come with its certificate: *** for both, or for none", "tls.more", unknown),
		},
		{
			name: "masks of no TLS settings", method: "PATCH", path: endpoints + "/crm", body: `{"tls":{"ca":"***","certificate":"***","key":"***"}}`,
			want: invalid("tls.ca", "*** stands for a stored value, and there is none",
				"tls.certificate", "*** stands for a stored value, and there is none",
				"tls.key", "*** stands for a stored value, and there is none"),
		},
		{
			name: "no PEM", method: "PATCH", path: endpoints + "/crm", body: `{"tls":{"ca":"x","certificate":"y","key":"z"}}`,
			want: invalid("tls.ca", "must be PEM, from -----BEGIN CERTIFICATE----- on", "tls.certificate", "must be PEM, from -----BEGIN CERTIFICATE----- on"),
		},
		{
			name: "a wrong client", method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"type":"oauth2","token":"t","client_auth":"post"}}`,
			want: invalid("auth.client_auth", "must be one of basic, body", "auth.token", "is for the type bearer only"),
		},
		{
			name: "a private token endpoint", method: "PATCH", path: endpoints + "/crm",
			body: `{"auth":{"type":"oauth2","token_url":"https://10.0.0.1/","client_id":"c","client_secret":"***"}}`,
			want: invalid("auth.client_secret", "*** stands for a stored value, and there is none for this token_url, client_id, scope, audience and client_auth",
				"auth.token_url", "must not lead to a private, loopback or otherwise reserved address"),
		},
		{
			name: "basic authentication out of bounds", method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"type":"basic","username":"a:b","password":"***"}}`,
			want: invalid(
				"auth.password", "*** stands for a stored value, and there is none",
				"auth.username", "must be at most 255 bytes without colons and control characters",
			),
		},
		{
			name: "an exponential", method: "PATCH", path: endpoints + "/crm", body: `{"retry":{"exponential":{"base":"1","factor":11}}}`,
			want: invalid(
				"retry.exponential.attempts", missing, "retry.exponential.base", duration, "retry.exponential.cap", missing,
				"retry.exponential.factor", "must be 1 to 10",
			),
		},
		{
			name: "an event", method: "POST", path: eventsURL, body: `{"type":"a","idempotency_key":"a b","retain_for":"soon","event_type":null}`,
			want: invalid(
				"event_type", null, "idempotency_key", "must be 1 to 255 visible ASCII characters", "payload", missing, "retain_for", duration, "type", unknown+": did you mean event_type?",
			),
		},
		{
			name: "events", method: "POST", path: eventsURL + "/batch", body: `{"events":[{"event_type":1},{"payload":1,"x":2},[]],"y":3}`,
			want: invalid("events[0].event_type", text, "events[1].x", unknown, "events[2]", noObject, "y", unknown),
		},
		{name: "no events", method: "POST", path: eventsURL + "/batch", body: `{}`, want: invalid("events", missing)},
		{
			name: "a replay job", method: "POST", path: replaysURL, body: `{"filter":{"state":"x","since":"today","endpoint":""},"rate_per_second":0,"dry":true}`,
			want: invalid(
				"dry", unknown+": did you mean dry_run?", "filter.endpoint", "must not be empty", "filter.since", `must be a time such as "2026-11-21T09:30:00Z"`,
				"filter.state", "must be one of dead, parked, delivered, discarded", "rate_per_second", "must be 0.1 to 500",
			),
		},
		{name: "no filter", method: "POST", path: replaysURL, body: `{"rate_per_second":0}`, want: invalid("filter", missing, "rate_per_second", "must be 0.1 to 500")},
		{
			name: "a key", method: "POST", path: "/v1/keys", body: `{"tenant":5,"expires_at":"2020-01-01T00:00:00Z","x":1}`,
			want: invalid("expires_at", "must be in the future", "name", missing, "scopes", missing, "tenant", text, "x", unknown),
		},
		{
			name: "limits", method: "PUT", path: "/v1/tenants/acme/limits", body: `{"endpoints":10001,"events_per_second":"a","retain_for":"b"}`,
			want: invalid("endpoints", "must be 1 to 10000", "events_per_second", "must be a whole number", "retain_for", duration),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
			w := b.do(t, admin, tt.method, tt.path, tt.body)
			if w.Code != http.StatusBadRequest || w.Body.String() != tt.want {
				t.Errorf("%s %s\n= %d %s\nwant 400 %s", tt.method, tt.body, w.Code, w.Body, tt.want)
			}
		})
	}
}

// TestProblems_atMost checks that a response names at most 20 fields, malformed ones or wrong
// values.
func TestProblems_atMost(t *testing.T) {
	t.Parallel()

	for _, value := range []string{`1`, `"a b"`} {
		w := setup(t).do(t, owner, http.MethodPost, endpoints, `{"url":"https://example.com/","event_types":[`+strings.Repeat(value+",", 49)+value+`]}`)
		if named := strings.Count(w.Body.String(), `"field":`); w.Code != http.StatusBadRequest || named != 20 {
			t.Errorf("POST of %s = %d with %d fields; want 400 with 20", value, w.Code, named)
		}
	}
}

// TestProblems_large checks that decoding a large body stops at the first wrong field, and that
// arrays and maps are bounded before any other check.
func TestProblems_large(t *testing.T) {
	t.Parallel()

	large := strings.Repeat(" ", 64<<10)
	tests := []struct{ name, method, path, body, want string }{
		{
			name: "one of two wrong fields", method: "POST", path: eventsURL, body: `{"event_type":1,"payload":1,"x":1}` + large,
			want: invalid("event_type", "must be a string"),
		},
		{
			name: "events", method: "POST", path: eventsURL + "/batch", body: `{"events":[` + strings.Repeat(`{},`, 1000) + `{},{"x":1}]}`,
			want: invalid("events", "has more than 1000 entries"),
		},
		{
			name: "headers", method: "POST", path: endpoints, body: `{"headers":{` + many(`"x%d":"y"`, 1001) + `}}`,
			want: invalid("headers", "has more than 1000 entries"),
		},
		{
			name: "fewer headers", method: "POST", path: endpoints, body: `{"url":"https://example.com/","headers":{` + many(`"x%d":"\u0001"`, 1000) + `}}`,
			want: invalid("headers", "must have at most 20 entries"),
		},
		{
			name: "a long duration", method: "POST", path: eventsURL, body: `{"event_type":"a","payload":1,"retain_for":"` + strings.Repeat("1h", 60) + `"}`,
			want: invalid("retain_for", duration),
		},
		{
			name: "a long name", method: "POST", path: eventsURL, body: `{"event_type":"a","payload":1,"` + strings.Repeat("a~/", 100) + `":1}`,
			want: invalid(strings.Repeat("a~/", 66)+"a~...", "is not a known field"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t).do(t, owner, tt.method, tt.path, tt.body)
			if w.Code != http.StatusBadRequest || w.Body.String() != tt.want {
				t.Errorf("%s = %d %.500s; want 400 %s", tt.method, w.Code, w.Body, tt.want)
			}
		})
	}
}

// Programs of some languages write every number with a point.
func TestEndpoints_wholeNumbers(t *testing.T) {
	t.Parallel()

	w := setup(t).do(t, owner, http.MethodPost, endpoints, `{"url":"https://example.com/","max_in_flight":5.0,"shards":1e0,"retry_on":[404.0]}`)
	if got := w.Body.String(); w.Code != http.StatusCreated || !strings.Contains(got, `"max_in_flight":5,`) || !strings.Contains(got, `"retry_on":[404]`) {
		t.Errorf("POST = %d %s; want 201 with the numbers 5 and 404", w.Code, got)
	}
}

// many returns n parts in the format, each with its number.
func many(format string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}
