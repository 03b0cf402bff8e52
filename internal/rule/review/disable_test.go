package review_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// A bad deployment answers 25 deliveries with 404, and then the next 20 deliveries succeed: 56 %
// are dead, but the endpoint works again. A review must not disable it without a warning.
func TestJudge_keepsAnEndpointThatWorksAgain(t *testing.T) {
	t.Parallel()

	hours := []stats.Hour{at(0, stats.Counts{OK: 45, Dead: 25, Delivered: 20})}
	flags := review.Flags{}
	for i := range 4 { // an hour
		v := review.Judge(review.Facts{Endpoint: active(), Flags: flags, Hours: hours}, now.Add(time.Duration(i)*review.Every))
		if v.Disable {
			t.Fatalf("review %d disables the endpoint; want the endpoint active", i+1)
		}
		flags = v.Flags
	}
	if flags.Warned != review.WarnedTwice {
		t.Errorf("Warned = %d; want the second warning", flags.Warned)
	}
}

// TestJudge_disables has a row for each side of each condition of a disabling.
func TestJudge_disables(t *testing.T) {
	t.Parallel()

	quarter := now.Truncate(review.Every)
	failing := stats.Counts{Failed: 1}
	refusing := stats.Counts{OK: 1, Dead: 1}
	succeeding := stats.Counts{OK: 1, Delivered: 1}
	tests := []struct {
		name     string
		manual   bool // auto_disable is off
		warned   int
		warnedAt time.Time
		since    time.Time      // the last change of status; zero: nine days ago
		recent   []stats.Counts // of this hour
		before   []stats.Counts // of the previous hour
		earlier  stats.Counts   // of five hours ago
		want     bool
	}{
		{name: "warned, and failing now", warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{failing}, earlier: settled(11, 20), want: true},
		{name: "with a death now instead of a transient failure", warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{refusing}, earlier: settled(10, 19), want: true},
		{name: "failing in the previous hour", warned: 40, warnedAt: quarter.Add(-1), before: []stats.Counts{failing}, earlier: settled(11, 20), want: true},
		{name: "half of the deliveries dead", warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{failing}, earlier: settled(10, 20), want: false},
		{name: "19 settled deliveries", warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{failing}, earlier: settled(19, 19), want: false},
		{name: "a success in this hour", warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{failing, succeeding}, earlier: settled(20, 20), want: false},
		{name: "a success in the previous hour", warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{failing}, before: []stats.Counts{succeeding}, earlier: settled(20, 20), want: false},
		{name: "no result in two hours", warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{{OK: 1}}, earlier: settled(20, 20), want: false},
		{name: "warned in this quarter of an hour", warned: 40, warnedAt: quarter, recent: []stats.Counts{failing}, earlier: settled(20, 20), want: false},
		{name: "warned once only", warned: 25, warnedAt: quarter.Add(-1), recent: []stats.Counts{failing}, earlier: settled(20, 20), want: false},
		{name: "never warned", warned: 0, recent: []stats.Counts{failing}, earlier: settled(20, 20), want: false},
		{name: "warned just before the last change of status", warned: 40, warnedAt: hour.Add(-6*time.Hour - 1), since: hour.Add(-6 * time.Hour), recent: []stats.Counts{failing}, earlier: settled(20, 20), want: false},
		{name: "warned at the last change of status", warned: 40, warnedAt: hour.Add(-6 * time.Hour), since: hour.Add(-6 * time.Hour), recent: []stats.Counts{failing}, earlier: settled(20, 20), want: true},
		{name: "with auto_disable off", manual: true, warned: 40, warnedAt: quarter.Add(-1), recent: []stats.Counts{failing}, earlier: settled(20, 20), want: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := active()
			e.AutoDisable = !tt.manual
			if !tt.since.IsZero() {
				e.StatusSince = tt.since
			}
			v := review.Judge(review.Facts{
				Endpoint: e,
				Flags:    review.Flags{Warned: tt.warned, WarnedAt: tt.warnedAt},
				Hours:    []stats.Hour{at(5*time.Hour, tt.earlier), at(time.Hour, tt.before...), at(0, tt.recent...)},
			}, now)
			if v.Disable != tt.want {
				t.Errorf("Judge().Disable = %t; want %t", v.Disable, tt.want)
			}
		})
	}
}

// A failing endpoint gets a warning first. Repeating that review does not disable it; the next
// review does.
func TestJudge_warnsBeforeDisabling(t *testing.T) {
	t.Parallel()

	young := now.Truncate(review.Every).Add(time.Minute) // created in the quarter of the warning
	for _, since := range []time.Time{now.AddDate(0, 0, -9), young} {
		e := active()
		e.CreatedAt, e.StatusSince = since, since
		f := review.Facts{Endpoint: e, Hours: []stats.Hour{at(0, settled(20, 20))}}
		var types []string
		for _, at := range []time.Time{
			now, now.Truncate(review.Every).Add(review.Every - 1), now.Truncate(review.Every).Add(review.Every),
		} {
			v := review.Judge(f, at)
			f.Flags = v.Flags
			types = append(types, "review")
			for _, n := range v.Notifications {
				types = append(types, n.Type)
			}
		}
		want := []string{"review", hook.NotificationFailing, "review", "review", hook.NotificationDisabled}
		if diff := cmp.Diff(want, types); diff != "" {
			t.Errorf("an endpoint active since %s: reviews differ (-want +got):\n%s", since, diff)
		}
	}
}
