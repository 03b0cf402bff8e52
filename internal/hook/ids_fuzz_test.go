package hook_test

import (
	"regexp"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// FuzzParseIDs gives the same text to every parser of ids. Accepted ids become
// part of keys, paths and logs without escaping. So a parser must return the text
// unchanged, accept only harmless characters, and no two parsers may accept the
// same text (except tenants).
func FuzzParseIDs(f *testing.F) {
	for _, seed := range []string{
		string(someEvent), string(someEndpoint), "key_0123456789abcdef", "acme", "billing.v2", "*", "..", "acme\n", "ep_", "EVT_" + string(someEvent[4:]),
		"tenant#acme", "аcme", "auth0|5f7c8ec7", "org:acme@example.com", "a+b", "a/b", "a%7Cb", "a b", hook.DeliveryID{Event: someEvent, Endpoint: someEndpoint, Generation: 1}.String(), strings.Repeat("a", 129),
	} {
		f.Add(seed)
	}
	harmless := regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,128}\z`)
	tenants := regexp.MustCompile(`\A[A-Za-z0-9_.|:@+-]{1,128}\z`)

	f.Fuzz(func(t *testing.T, s string) {
		event, eventErr := hook.ParseEventID(s)
		endpoint, endpointErr := hook.ParseEndpointID(s)
		key, keyErr := hook.ParseKeyID(s)
		delivery, deliveryErr := hook.ParseDeliveryID(s)
		tenant, tenantErr := hook.ParseTenantID(s)
		kinds := 0
		for _, parsed := range []struct {
			kind, got string
			err       error
			code      hook.Code
			prefix    string
			length    int // 0 for any
		}{
			{kind: "event", got: string(event), err: eventErr, code: hook.CodeNotFound, prefix: "evt_", length: 30},
			{kind: "endpoint", got: string(endpoint), err: endpointErr, code: hook.CodeNotFound, prefix: "ep_", length: 19},
			{kind: "key", got: string(key), err: keyErr, code: hook.CodeNotFound, prefix: "key_", length: 20},
			{kind: "delivery", got: delivery.String(), err: deliveryErr, code: hook.CodeNotFound, prefix: "dlv_", length: 0},
			{kind: "tenant", got: string(tenant), err: tenantErr, code: hook.CodeInvalid, prefix: "", length: 0},
		} {
			if parsed.err != nil {
				if hook.CodeOf(parsed.err) != parsed.code {
					t.Errorf("%s id %q: %v; want code %s", parsed.kind, s, parsed.err, parsed.code)
				}
				continue
			}
			if parsed.kind != "tenant" {
				kinds++
			}
			safe := harmless.MatchString(s) || parsed.kind == "tenant" && tenants.MatchString(s)
			if parsed.got != s || !safe || !strings.HasPrefix(s, parsed.prefix) || parsed.length != 0 && len(s) != parsed.length {
				t.Errorf("%s id %q is accepted as %q", parsed.kind, s, parsed.got)
			}
		}
		if hook.ValidUID(s) {
			if !harmless.MatchString(s) || endpointErr == nil {
				t.Errorf("uid %q is accepted, and is an endpoint id or contains unsafe characters", s)
			}
		}
		if kinds > 1 {
			t.Errorf("%q is an id of %d kinds", s, kinds)
		}
	})
}

// FuzzSubscription checks that valid types and patterns contain only harmless
// characters, and that patterns match exactly the documented types.
func FuzzSubscription(f *testing.F) {
	for _, seed := range [][2]string{
		{"order.paid", "order.*"},
		{"order.paid", "order.paid"},
		{"order.", "order.*"},
		{"webhook.test", "*"},
		{"webhook.test", "webhook.*"},
		{"a", "**"},
		{".", "..*"},
		{"order\n", "order.*\n"},
		{strings.Repeat("a", 128), strings.Repeat("a", 126) + ".*"},
		{"order:paid", "order:*"},
		{"order:", "order:*"},
		{"order:paid", "order.*"},
		{"order.paid", "order:paid"},
	} {
		f.Add(seed[0], seed[1])
	}
	harmless := regexp.MustCompile(`\A[A-Za-z0-9_.:-]{1,128}\z`)

	f.Fuzz(func(t *testing.T, eventType, pattern string) {
		validType := len(hook.ValidateEvent(hook.Event{Type: eventType, Payload: []byte("1")})) == 0
		if validType && (!harmless.MatchString(eventType) || strings.HasPrefix(eventType, hook.SystemPrefix)) {
			t.Errorf("event type %q is accepted", eventType)
		}
		e := hook.Endpoint{
			URL: "https://example.com/", EventTypes: []string{pattern}, Timeout: hook.DefaultTimeout, Shards: 1,
			MaxAge: hook.DefaultMaxAge, Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1},
		}
		validPattern := len(hook.ValidateEndpoint(e)) == 0
		exact := harmless.MatchString(pattern)
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		under := strings.TrimRight(prefix, ".:")
		isPrefix = isPrefix && len(prefix) > 1 && harmless.MatchString(prefix) && len(prefix) <= 127 && under != prefix
		if validPattern != (pattern == "*" || exact || isPrefix) {
			t.Errorf("pattern %q is valid: %t", pattern, validPattern)
		}
		if !validPattern || !harmless.MatchString(eventType) {
			return
		}
		want := exact && pattern == eventType ||
			isPrefix && strings.HasPrefix(eventType, prefix) && eventType != prefix ||
			pattern == "*" && !strings.HasPrefix(eventType, hook.SystemPrefix)
		if got := e.Subscribes(eventType); got != want {
			t.Errorf("Subscribes(%q, %q) = %t; want %t", pattern, eventType, got, want)
		}
	})
}
