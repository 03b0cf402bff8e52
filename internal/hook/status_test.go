package hook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

func TestEndpoint_ResultOf(t *testing.T) {
	t.Parallel()

	e := hook.Endpoint{RetryOn: []int{401, 404, 500}, GiveUpOn: []int{409, 501, 408}}
	for status, want := range map[int]hook.Result{
		200: hook.ResultDelivered,
		303: hook.ResultRejected,
		400: hook.ResultRejected, // the default
		401: hook.ResultTransient,
		404: hook.ResultTransient,
		408: hook.ResultRejected,
		409: hook.ResultRejected,
		410: hook.ResultRejected,
		429: hook.ResultTransient,
		500: hook.ResultTransient,
		501: hook.ResultRejected,
		503: hook.ResultTransient, // the default
	} {
		if got := e.ResultOf(&hook.Outcome{Class: hook.ClassOfStatus(status), Status: status}); got != want {
			t.Errorf("ResultOf(%d) = %d; want %d", status, got, want)
		}
	}
	if got := e.ResultOf(&hook.Outcome{Class: hook.ClassTimeout}); got != hook.ResultTransient {
		t.Errorf("ResultOf(timeout) = %d; want %d", got, hook.ResultTransient)
	}
}

func TestValidateEndpoint_statuses(t *testing.T) {
	t.Parallel()

	numbers := func(from, n int) []int {
		all := make([]int, n)
		for i := range all {
			all[i] = from + i
		}
		return all
	}
	const own = "must not be 410 or 429: they have meanings of their own"
	tests := []struct {
		name            string
		retryOn, giveUp []int
		want            []hook.FieldError
	}{
		{name: "no statuses", retryOn: nil, giveUp: nil, want: nil},
		{name: "the lowest and the highest status", retryOn: []int{400, 599}, giveUp: []int{401, 598}, want: nil},
		{name: "as many as allowed", retryOn: numbers(430, 20), giveUp: numbers(500, 20), want: nil},
		{name: "one status too many", retryOn: numbers(430, 21), giveUp: nil, want: []hook.FieldError{{Field: "retry_on", Message: "must have at most 20 statuses"}}},
		{name: "below 400 and above 599", retryOn: []int{399}, giveUp: []int{404, 600}, want: []hook.FieldError{
			{Field: "retry_on[0]", Message: "must be 400 to 599"}, {Field: "give_up_on[1]", Message: "must be 400 to 599"},
		}},
		{name: "410 and 429", retryOn: []int{410}, giveUp: []int{429}, want: []hook.FieldError{
			{Field: "retry_on[0]", Message: own}, {Field: "give_up_on[0]", Message: own},
		}},
		{name: "a status twice in one list", retryOn: []int{404, 404}, giveUp: nil, want: []hook.FieldError{{Field: "retry_on[1]", Message: "is named twice"}}},
		{name: "a status in both lists", retryOn: []int{404}, giveUp: []int{500, 404}, want: []hook.FieldError{{Field: "give_up_on[1]", Message: "is also in retry_on"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := hook.Endpoint{
				URL: "https://example.com/", EventTypes: []string{"*"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge, Shards: 1,
				Schemes: []hook.Scheme{hook.SchemeV1}, Profiles: hook.ProfilesNamed(hook.ProfileStandard), RetryOn: tt.retryOn, GiveUpOn: tt.giveUp,
			}
			if diff := cmp.Diff(tt.want, hook.ValidateEndpoint(e)); diff != "" {
				t.Errorf("ValidateEndpoint() (-want +got):\n%s", diff)
			}
		})
	}
}
