package memory_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestSchedules(t *testing.T) {
	t.Parallel()

	porttest.Schedules(t, func(t *testing.T) porttest.SchedulesBench {
		t.Helper()

		clock := porttest.FakeClock()
		q := memory.NewTaskQueues(clock.Now)
		s := memory.NewSchedules(q, clock.Now)
		return porttest.SchedulesBench{
			Schedules: s,
			Clock:     clock,
			Receive: func(context.Context) ([]porttest.Message, error) {
				return takeAll(q, hook.QueueRetry)
			},
			Plans: func(context.Context) ([]porttest.Plan, error) {
				var plans []porttest.Plan
				for _, p := range s.Plans() {
					body, err := p.Task.Encode()
					if err != nil {
						return nil, err
					}
					plans = append(plans, porttest.Plan{At: p.At, Body: body})
				}
				return plans, nil
			},
		}
	})
}

func TestSchedules_At_CreatesAnotherScheduleAfterTheFirstFired(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewTaskQueues(clock.Now)
	s := memory.NewSchedules(q, clock.Now)
	task := hook.NewTask("acme", hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: "evt_1", Endpoint: "ep_1", Generation: 1}, AcceptedAt: 1}, 2)
	for range 2 {
		if err := s.At(t.Context(), task, clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		clock.Pass(t.Context(), time.Hour+time.Second)
	}
	if got := q.Receive(hook.QueueRetry, 10); len(got) != 2 {
		t.Errorf("Receive(retry) = %v; want the task of both schedules", got)
	}
}

// A fired schedule keeps its name, as on AWS. Two calls for the same time with the
// schedule's fire between them are outside the contract: the test shows the name.
func TestSchedules_FiredScheduleLingers(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewTaskQueues(clock.Now)
	s := memory.NewSchedules(q, clock.Now)
	task := hook.NewTask("acme", hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: "evt_1", Endpoint: "ep_1", Generation: 1}, AcceptedAt: 1}, 2)
	at := clock.Now().Add(time.Hour)
	call := func(after time.Duration, want int) {
		t.Helper()

		clock.Pass(t.Context(), after)
		if err := s.At(t.Context(), task, at); err != nil {
			t.Fatal(err)
		}
		if got := len(q.Receive(hook.QueueRetry, 10)); got != want {
			t.Errorf("%s after the time: %d tasks received; want %d", clock.Now().Sub(at), got, want)
		}
	}
	call(0, 0)
	call(time.Hour+time.Second, 1)
	call(5*time.Minute-2*time.Second, 1) // hidden for a minute, and visible again
	call(2*time.Second, 1)               // of a new schedule, because the first is deleted
}
