package condition_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/stats"
)

// now is in the hour that begins at nine.
var now = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

func clock(hour int) time.Time { return time.Date(2026, 11, 21, hour, 0, 0, 0, time.UTC) }

// counted returns the hour that began so many hours before the current one, with successful attempts,
// and failed ones of a class.
func counted(ago, succeeded, failed int, class hook.Class) stats.Hour {
	h := stats.Hour{Start: now.Truncate(time.Hour).Add(-time.Duration(ago) * time.Hour)}
	for range succeeded {
		h.Count(stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered})
	}
	for range failed {
		h.Count(stats.Attempt{Class: class, Number: 1, State: hook.StateRetrying})
	}
	return h
}

// at is counted with attempts that failed by a timeout.
func at(ago, succeeded, failed int) stats.Hour {
	return counted(ago, succeeded, failed, hook.ClassTimeout)
}

// died returns the hour with one more death.
func died(h stats.Hour) stats.Hour {
	h.Dead++
	return h
}

func TestOf_attempts(t *testing.T) {
	t.Parallel()

	failing := func(hour int) condition.Condition {
		return condition.Condition{State: condition.Failing, Since: clock(hour), Class: hook.ClassTimeout}
	}
	degraded := func(hour int) condition.Condition {
		return condition.Condition{State: condition.Degraded, Since: clock(hour), Class: hook.ClassTimeout}
	}
	healthy, quiet := condition.Condition{State: condition.Healthy}, condition.Condition{State: condition.Quiet}
	tests := []struct {
		name  string
		hours []stats.Hour
		want  condition.Condition
	}{
		{name: "an endpoint without hours is quiet", want: quiet},
		{name: "an endpoint with deaths and no attempts is quiet", hours: []stats.Hour{died(at(0, 0, 0))}, want: quiet},
		{name: "one success is healthy", hours: []stats.Hour{at(0, 1, 0)}, want: healthy},
		{name: "one success hours ago is healthy", hours: []stats.Hour{at(20, 1, 0)}, want: healthy},
		{name: "one failure without a success is failing", hours: []stats.Hour{at(0, 0, 1)}, want: failing(9)},
		{name: "a retried failure is healthy", hours: []stats.Hour{at(0, 1, 1)}, want: healthy},
		{name: "two retried failures are healthy", hours: []stats.Hour{at(0, 1, 2)}, want: healthy},
		{name: "three failures of four are failing", hours: []stats.Hour{at(0, 1, 3)}, want: failing(9)},
		{name: "two failures count with a death", hours: []stats.Hour{died(at(0, 1, 2))}, want: failing(9)},
		{name: "two failures count with a death in the hour after", hours: []stats.Hour{at(1, 1, 2), died(at(0, 0, 0))}, want: failing(8)},
		{name: "two failures do not count with a death that was taken back", hours: []stats.Hour{died(at(1, 1, 2)), {Start: clock(9), Counts: stats.Counts{Dead: -1}}}, want: healthy},
		{name: "two failures do not count with a death before the newest hour", hours: []stats.Hour{died(at(1, 9, 0)), at(0, 1, 2)}, want: healthy},
		{name: "one failure of ten is healthy, even with a death", hours: []stats.Hour{died(at(0, 9, 1))}, want: healthy},
		{name: "half of the attempts succeed: degraded", hours: []stats.Hour{at(0, 4, 4)}, want: degraded(9)},
		{name: "fewer than half of the attempts succeed: failing", hours: []stats.Hour{at(0, 4, 5)}, want: failing(9)},
		{name: "nine of ten attempts succeed: healthy", hours: []stats.Hour{at(0, 90, 10)}, want: healthy},
		{name: "fewer than nine of ten attempts succeed: degraded", hours: []stats.Hour{at(0, 89, 10)}, want: degraded(9)},
		{name: "an endpoint is degraded in the hour of its recovery", hours: []stats.Hour{at(1, 0, 500), at(0, 20, 0)}, want: degraded(8)},
		{name: "an endpoint is healthy an hour after its recovery", hours: []stats.Hour{at(2, 0, 500), at(1, 20, 0), at(0, 20, 0)}, want: healthy},
		{name: "failures of yesterday do not count against one success", hours: []stats.Hour{at(24, 0, 500), at(0, 1, 0)}, want: healthy},
		{name: "successes of yesterday do not count for failures", hours: []stats.Hour{at(24, 500, 0), at(0, 0, 3)}, want: failing(9)},
		{name: "two failures after successes are healthy", hours: []stats.Hour{at(3, 5, 0), at(0, 0, 2)}, want: healthy},
		{name: "few failures in each of many hours are failing", hours: slices.Collect(func(yield func(stats.Hour) bool) {
			for ago := 9; ago >= 0; ago-- {
				if !yield(at(ago, 1, 2)) {
					return
				}
			}
		}), want: failing(0)},
		{name: "an hour before adds to the failures", hours: []stats.Hour{at(1, 4, 4), at(0, 1, 2)}, want: failing(9)},
		{name: "failing began with the first hour of failures after a success", hours: []stats.Hour{at(8, 50, 0), at(6, 0, 3), at(3, 0, 2), at(0, 0, 1)}, want: failing(3)},
		{name: "hours without attempts change nothing", hours: []stats.Hour{at(8, 50, 0), at(6, 0, 30), at(5, 0, 3)}, want: failing(3)},
		{name: "failing begins anew after an hour of successes", hours: []stats.Hour{at(5, 0, 9), at(4, 9, 0), at(1, 0, 9), at(0, 0, 9)}, want: failing(8)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := condition.Of(condition.Facts{Status: hook.StatusActive, Circuit: circuit.New(), Hours: tt.hours})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of (-want +got):\n%s", diff)
			}
		})
	}
}

// recovering returns the hour with so many successes after its failures, the first of which was at the
// minute.
func recovering(ago, failed, passed, minute int) stats.Hour {
	h := at(ago, 0, failed)
	h.FailedAt = h.Start.Add(time.Duration(minute) * time.Minute)
	for range passed {
		h.Count(stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered})
	}
	return h
}

// A condition ends with successes, and begins with a failure or with what an earlier review saw.
func TestOf_beginningAndEnd(t *testing.T) {
	t.Parallel()

	const failing, degraded, healthy = condition.Failing, condition.Degraded, condition.Healthy
	yesterday := now.Add(-30 * time.Hour)
	tests := []struct {
		name  string
		hours []stats.Hour
		began time.Time
		want  condition.State
		since time.Time
	}{
		{name: "three successes after three failures", hours: []stats.Hour{recovering(0, 3, 3, 7)}, want: degraded, since: clock(9).Add(7 * time.Minute)},
		{name: "four successes after three failures", hours: []stats.Hour{recovering(0, 3, 4, 7)}, want: healthy},
		{name: "four successes after twenty failures", hours: []stats.Hour{recovering(0, 20, 4, 7)}, want: failing, since: clock(9).Add(7 * time.Minute)},
		{name: "as many successes as failures", hours: []stats.Hour{recovering(0, 20, 20, 7)}, want: healthy},
		{name: "as many successes as failures, over two hours", hours: []stats.Hour{recovering(1, 20, 12, 7), at(0, 8, 0)}, want: healthy},
		{name: "30 successes after 500 failures", hours: []stats.Hour{recovering(0, 500, 30, 7)}, want: healthy},
		{name: "29 successes after 500 failures", hours: []stats.Hour{recovering(0, 500, 29, 7)}, want: failing, since: clock(9).Add(7 * time.Minute)},
		{name: "the first failure of the first hour", hours: []stats.Hour{at(5, 20, 0), recovering(2, 9, 0, 42), recovering(0, 9, 0, 1)}, want: failing, since: clock(7).Add(42 * time.Minute)},
		{name: "the beginning that a review saw", hours: []stats.Hour{recovering(24, 9, 0, 42), recovering(0, 9, 0, 1)}, began: yesterday, want: failing, since: yesterday},
		{name: "the beginning after successes", hours: []stats.Hour{at(24, 9, 0), recovering(0, 9, 0, 1)}, began: yesterday, want: failing, since: clock(9).Add(time.Minute)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := condition.Of(condition.Facts{Status: hook.StatusActive, Circuit: circuit.New(), Hours: tt.hours, Began: tt.began})
			if got.State != tt.want || !got.Since.Equal(tt.since) {
				t.Errorf("Of() = %s since %s; want %s since %s", got.State, got.Since, tt.want, tt.since)
			}
		})
	}
}

func TestOf_class(t *testing.T) {
	t.Parallel()

	hours := []stats.Hour{
		counted(3, 0, 90, hook.ClassTimeout), counted(2, 9, 0, hook.ClassTimeout),
		counted(1, 0, 2, hook.ClassRefused), counted(1, 0, 3, hook.ClassDNS), counted(0, 0, 2, hook.ClassRefused),
	}
	hours[3].FailedWith, hours[4].FailedWith = 404, 401
	got := condition.Of(condition.Facts{Status: hook.StatusActive, Circuit: circuit.New(), Hours: append(hours, at(0, 1, 0))})
	if want := (condition.Condition{State: condition.Failing, Since: clock(8), Class: hook.ClassRefused, Status: 401}); got != want {
		t.Errorf("Of() = %+v; want %+v, with the most common class since the successes, and the last status", got, want)
	}
}

func TestOf_statusAndCircuit(t *testing.T) {
	t.Parallel()

	changed, opened := clock(7).Add(7*time.Minute), clock(9).Add(10*time.Minute)
	broken := circuit.Circuit{State: circuit.Open, Failures: 5, OpenedAt: opened}
	probing := circuit.Circuit{State: circuit.HalfOpen, Failures: 5, OpenedAt: opened}
	byHand := circuit.Circuit{State: circuit.Open, OpenedAt: opened}
	tests := []struct {
		name    string
		status  hook.Status
		reason  hook.Reason
		circuit circuit.Circuit
		hours   []stats.Hour
		want    condition.Condition
	}{
		{name: "paused, whatever the attempts", status: hook.StatusPaused, reason: hook.ReasonManual, circuit: broken, hours: []stats.Hour{at(0, 0, 9)}, want: condition.Condition{State: condition.Paused, Since: changed, Reason: hook.ReasonManual}},
		{name: "disabled, whatever the attempts", status: hook.StatusDisabled, reason: hook.ReasonFailing, circuit: broken, hours: []stats.Hour{at(0, 9, 0)}, want: condition.Condition{State: condition.Disabled, Since: changed, Reason: hook.ReasonFailing}},
		{name: "an open circuit is failing since the opening", circuit: broken, hours: []stats.Hour{at(1, 90, 0), at(0, 2, 5)}, want: condition.Condition{State: condition.Failing, Since: opened, Class: hook.ClassTimeout}},
		{name: "a half-open circuit is failing since the opening", circuit: probing, hours: []stats.Hour{at(0, 90, 5)}, want: condition.Condition{State: condition.Failing, Since: opened, Class: hook.ClassTimeout}},
		{name: "an open circuit is failing since an earlier hour of failures", circuit: broken, hours: []stats.Hour{at(3, 9, 0), at(2, 0, 1), at(0, 0, 4)}, want: condition.Condition{State: condition.Failing, Since: clock(7), Class: hook.ClassTimeout}},
		{name: "an open circuit without attempts is failing", circuit: broken, want: condition.Condition{State: condition.Failing, Since: opened}},
		{name: "a circuit opened by hand after successes is paused", circuit: byHand, hours: []stats.Hour{at(0, 9, 0)}, want: condition.Condition{State: condition.Paused, Since: opened, Reason: hook.ReasonManual}},
		{name: "a circuit opened by hand without attempts is paused", circuit: byHand, want: condition.Condition{State: condition.Paused, Since: opened, Reason: hook.ReasonManual}},
		{name: "a circuit opened by hand while attempts fail is failing", circuit: byHand, hours: []stats.Hour{at(0, 6, 4)}, want: condition.Condition{State: condition.Failing, Since: opened, Class: hook.ClassTimeout}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			f := condition.Facts{Status: tt.status, Reason: tt.reason, StatusSince: changed, Circuit: tt.circuit, Hours: tt.hours}
			if f.Status == 0 {
				f.Status = hook.StatusActive
			}
			if diff := cmp.Diff(tt.want, condition.Of(f)); diff != "" {
				t.Errorf("Of (-want +got):\n%s", diff)
			}
		})
	}
}

// The failures of an outage stay in the hour of its end.
func TestOf_recovered(t *testing.T) {
	t.Parallel()

	closed := clock(9).Add(20 * time.Minute)
	outage := []stats.Hour{at(1, 0, 9), at(0, 3, 9)}
	tests := []struct {
		name    string
		circuit circuit.Circuit
		hours   []stats.Hour
		want    condition.State
	}{
		{name: "the circuit closed in this hour", circuit: circuit.Circuit{ClosedAt: closed}, hours: outage, want: condition.Degraded},
		{name: "an attempt failed since", circuit: circuit.Circuit{ClosedAt: closed, Failures: 1}, hours: outage, want: condition.Failing},
		{name: "the circuit closed in an earlier hour", circuit: circuit.Circuit{ClosedAt: closed.Add(-time.Hour)}, hours: outage, want: condition.Failing},
		{name: "no attempt succeeded", circuit: circuit.Circuit{ClosedAt: closed}, hours: []stats.Hour{at(0, 0, 9)}, want: condition.Failing},
		{name: "few attempts failed", circuit: circuit.Circuit{ClosedAt: closed}, hours: []stats.Hour{at(0, 99, 3)}, want: condition.Healthy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tt.circuit.State = circuit.Closed
			got := condition.Of(condition.Facts{Status: hook.StatusActive, Circuit: tt.circuit, Hours: tt.hours})
			if got.State != tt.want {
				t.Errorf("Of() = %+v; want %s", got, tt.want)
			}
		})
	}
}

// An hour of counts begins before an endpoint that was created in it.
func TestOf_notBeforeTheEndpoint(t *testing.T) {
	t.Parallel()

	created := clock(9).Add(10 * time.Minute)
	for _, c := range []circuit.Circuit{circuit.New(), {State: circuit.Open, Failures: 5, OpenedAt: created.Add(time.Minute)}} {
		got := condition.Of(condition.Facts{Status: hook.StatusActive, CreatedAt: created, Circuit: c, Hours: []stats.Hour{at(0, 0, 5)}})
		if got.State != condition.Failing || got.Since.Before(created) || got.Class == 0 {
			t.Errorf("Of() with a circuit that is %s = %+v; want failing, since %s or later", c.State, got, created)
		}
	}
}

func TestState_String(t *testing.T) {
	t.Parallel()

	want := []string{"unknown", "failing", "disabled", "degraded", "paused", "healthy", "quiet", "unknown"}
	for i, word := range want {
		if got := condition.State(i).String(); got != word {
			t.Errorf("State(%d) = %s; want %s", i, got, word)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()

	harm := func(state condition.State, dead, waiting, failed, hour int) condition.Harm {
		return condition.Harm{Condition: condition.Condition{State: state, Since: clock(hour)}, Dead: dead, Waiting: waiting, Failed: failed}
	}
	// Worst first.
	sorted := []condition.Harm{
		harm(condition.Failing, 2, 0, 0, 9),
		harm(condition.Failing, 1, 9, 9, 0),
		harm(condition.Failing, 0, 2, 0, 9),
		harm(condition.Failing, 0, 1, 2, 9),
		harm(condition.Failing, 0, 1, 1, 8),
		harm(condition.Failing, 0, 1, 1, 9),
		harm(condition.Disabled, 9, 0, 0, 0),
		harm(condition.Degraded, 1, 0, 0, 0),
		harm(condition.Degraded, 0, 0, 0, 0),
		harm(condition.Paused, 1, 0, 0, 0),
		harm(condition.Healthy, 1, 0, 0, 0),
		harm(condition.Healthy, 0, 0, 3, 0),
		harm(condition.Quiet, 1, 0, 0, 0),
		harm(condition.Quiet, 0, 0, 0, 0),
	}
	got := slices.Clone(sorted)
	slices.Reverse(got)
	slices.SortStableFunc(got, condition.Compare)
	if diff := cmp.Diff(sorted, got); diff != "" {
		t.Errorf("sorted (-want +got):\n%s", diff)
	}
	attention := []bool{true, true, true, true, true, true, true, true, true, true, true, false, true, false}
	for i, h := range sorted {
		if h.Attention() != attention[i] {
			t.Errorf("%v with %d dead needs attention: %t; want %t", h.State, h.Dead, h.Attention(), attention[i])
		}
	}
}
