package hook_test

import (
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func TestValidateEndpoint_EventsOutliveTheirWaits(t *testing.T) {
	t.Parallel()

	both := []string{"coalesce.window", "max_age"}
	rated := []string{"rate_per_second", "max_age"}
	tests := []struct {
		name   string
		maxAge time.Duration
		window time.Duration
		rate   float64
		want   []string
	}{
		{name: "the shortest age without waits", maxAge: time.Second, window: 0, rate: 0, want: nil},
		{name: "as long as the window", maxAge: time.Minute, window: time.Minute, rate: 0, want: both},
		{name: "no time to gather the window", maxAge: 70*time.Second - 1, window: time.Minute, rate: 0, want: both},
		{name: "time to gather the window", maxAge: 70 * time.Second, window: time.Minute, rate: 0, want: nil},
		{name: "no time for a turn", maxAge: 2*time.Minute - 1, window: 0, rate: 1, want: rated},
		{name: "time for a turn", maxAge: 2 * time.Minute, window: 0, rate: 1, want: nil},
		{name: "no time for a turn between two windows", maxAge: 4*time.Minute - 1, window: time.Minute, rate: 1, want: rated},
		{name: "time for a turn between two windows", maxAge: 4 * time.Minute, window: time.Minute, rate: 1, want: nil},
		{name: "an age out of bounds says so alone", maxAge: 0, window: time.Minute, rate: 1, want: []string{"max_age"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := hook.Endpoint{
				URL: "https://example.com/hook", EventTypes: []string{"*"}, Timeout: hook.DefaultTimeout, Shards: 1,
				Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1},
				MaxAge: tt.maxAge, RatePerSecond: tt.rate, Coalesce: hook.Coalescing{Window: tt.window}.WithDefaults(),
			}
			var got []string
			for _, wrong := range hook.ValidateEndpoint(e) {
				got = append(got, wrong.Field)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("wrong fields = %v; want %v", got, tt.want)
			}
		})
	}
}
