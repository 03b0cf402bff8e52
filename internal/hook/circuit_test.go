package hook_test

import (
	"math"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func TestValidateEndpoint_Limits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(e *hook.Endpoint)
		field  string
	}{
		{name: "nothing set", change: func(*hook.Endpoint) {}, field: ""},
		{name: "the lowest rate", change: func(e *hook.Endpoint) { e.RatePerSecond = 0.01 }, field: ""},
		{name: "a rate too low", change: func(e *hook.Endpoint) { e.RatePerSecond = 0.009 }, field: "rate_per_second"},
		{name: "the highest rate", change: func(e *hook.Endpoint) { e.RatePerSecond = 1000 }, field: ""},
		{name: "a rate too high", change: func(e *hook.Endpoint) { e.RatePerSecond = 1000.1 }, field: "rate_per_second"},
		{name: "a negative rate", change: func(e *hook.Endpoint) { e.RatePerSecond = -1 }, field: "rate_per_second"},
		{name: "a rate of NaN", change: func(e *hook.Endpoint) { e.RatePerSecond = math.NaN() }, field: "rate_per_second"},
		{name: "one in flight", change: func(e *hook.Endpoint) { e.MaxInFlight = 1 }, field: ""},
		{name: "a hundred in flight", change: func(e *hook.Endpoint) { e.MaxInFlight = 100 }, field: ""},
		{name: "more than a hundred in flight", change: func(e *hook.Endpoint) { e.MaxInFlight = 101 }, field: "max_in_flight"},
		{name: "a negative number in flight", change: func(e *hook.Endpoint) { e.MaxInFlight = -1 }, field: "max_in_flight"},
		{name: "opens at the first failure", change: func(e *hook.Endpoint) { e.Circuit.Failures = 1 }, field: ""},
		{name: "opens late", change: func(e *hook.Endpoint) { e.Circuit.Failures = 100 }, field: ""},
		{name: "opens too late", change: func(e *hook.Endpoint) { e.Circuit.Failures = 101 }, field: "circuit.failures"},
		{name: "a rate of 1", change: func(e *hook.Endpoint) { e.Circuit.Rate = 1 }, field: ""},
		{name: "a rate above 1", change: func(e *hook.Endpoint) { e.Circuit.Rate = 1.01 }, field: "circuit.rate"},
		{name: "a minimum too high", change: func(e *hook.Endpoint) { e.Circuit.Minimum = 1001 }, field: "circuit.minimum"},
		{name: "the shortest cooldown", change: func(e *hook.Endpoint) { e.Circuit.Cooldown = time.Second }, field: ""},
		{name: "a cooldown too short", change: func(e *hook.Endpoint) { e.Circuit.Cooldown = time.Second - 1 }, field: "circuit.cooldown"},
		{name: "a cooldown past the default cap raises the cap", change: func(e *hook.Endpoint) { e.Circuit.Cooldown = 2 * time.Hour }, field: ""},
		{name: "a cap below the cooldown", change: func(e *hook.Endpoint) {
			e.Circuit.Cooldown, e.Circuit.MaxCooldown = time.Hour, time.Minute
		}, field: "circuit.max_cooldown"},
		{name: "a cap too high", change: func(e *hook.Endpoint) { e.Circuit.MaxCooldown = 24*time.Hour + 1 }, field: "circuit.max_cooldown"},
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
