package hook_test

import (
	"math"
	"testing"
	"time"

	"surehook/internal/hook"
)

func TestValidateEndpoint_Limits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(e *hook.Endpoint)
		field  string
	}{
		{"nothing set", func(*hook.Endpoint) {}, ""},
		{"the lowest rate", func(e *hook.Endpoint) { e.RatePerSecond = 0.01 }, ""},
		{"a rate too low", func(e *hook.Endpoint) { e.RatePerSecond = 0.009 }, "rate_per_second"},
		{"the highest rate", func(e *hook.Endpoint) { e.RatePerSecond = 1000 }, ""},
		{"a rate too high", func(e *hook.Endpoint) { e.RatePerSecond = 1000.1 }, "rate_per_second"},
		{"a negative rate", func(e *hook.Endpoint) { e.RatePerSecond = -1 }, "rate_per_second"},
		{"a rate that is no number", func(e *hook.Endpoint) { e.RatePerSecond = math.NaN() }, "rate_per_second"},
		{"one in flight", func(e *hook.Endpoint) { e.MaxInFlight = 1 }, ""},
		{"a hundred in flight", func(e *hook.Endpoint) { e.MaxInFlight = 100 }, ""},
		{"more in flight", func(e *hook.Endpoint) { e.MaxInFlight = 101 }, "max_in_flight"},
		{"less than none in flight", func(e *hook.Endpoint) { e.MaxInFlight = -1 }, "max_in_flight"},
		{"opens at the first failure", func(e *hook.Endpoint) { e.Circuit.Failures = 1 }, ""},
		{"opens late", func(e *hook.Endpoint) { e.Circuit.Failures = 100 }, ""},
		{"opens too late", func(e *hook.Endpoint) { e.Circuit.Failures = 101 }, "circuit.failures"},
		{"a rate of all", func(e *hook.Endpoint) { e.Circuit.Rate = 1 }, ""},
		{"a rate of more than all", func(e *hook.Endpoint) { e.Circuit.Rate = 1.01 }, "circuit.rate"},
		{"a minimum too high", func(e *hook.Endpoint) { e.Circuit.Minimum = 1001 }, "circuit.minimum"},
		{"the shortest cooldown", func(e *hook.Endpoint) { e.Circuit.Cooldown = time.Second }, ""},
		{"a cooldown too short", func(e *hook.Endpoint) { e.Circuit.Cooldown = time.Second - 1 }, "circuit.cooldown"},
		{"a cooldown past the default cap raises the cap", func(e *hook.Endpoint) { e.Circuit.Cooldown = 2 * time.Hour }, ""},
		{"a cap below the cooldown", func(e *hook.Endpoint) {
			e.Circuit.Cooldown, e.Circuit.MaxCooldown = time.Hour, time.Minute
		}, "circuit.max_cooldown"},
		{"a cap too high", func(e *hook.Endpoint) { e.Circuit.MaxCooldown = 24*time.Hour + 1 }, "circuit.max_cooldown"},
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

func FuzzDecodeLook(f *testing.F) {
	body, err := hook.CircuitCheck{Tenant: "acme", Endpoint: someEndpoint, Wave: 3}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(`{"tenant":"acme","endpoint":"ep_"}`)
	f.Add(`{"tick":true}`)
	f.Fuzz(func(t *testing.T, body string) {
		look, err := hook.DecodeCircuitCheck(body)
		if err != nil {
			return
		}
		again, err := look.Encode()
		if err != nil {
			t.Fatalf("Encode(%v) = %v", look, err)
		}
		if back, err := hook.DecodeCircuitCheck(again); err != nil || back != look {
			t.Errorf("DecodeLook(%s) = %v, %v; want %v", again, back, err, look)
		}
	})
}
