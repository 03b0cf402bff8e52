package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

// lose stores a delivery for each duration: retrying, overdue by that time, and without a task.
func (w *bundle) lose(e hook.Endpoint, overdue ...time.Duration) []hook.DeliveryRef {
	w.T.Helper()

	var ids []hook.DeliveryRef
	for _, since := range overdue {
		d := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now().Add(-since-time.Minute), e), e.Target())
		d.Tenant, d.State, d.Attempts, d.DecidedBy, d.Parks = e.Tenant, hook.StateRetrying, 1, hook.NewNonce(), 2
		d.NextAttemptAt = w.Clock.Now().Add(-since)
		w.Save(d)
		ids = append(ids, d.Ref())
	}
	return ids
}

func (w *bundle) sweep(b *breaker.Breaker) {
	w.T.Helper()

	if err := b.Sweep(w.Context()); err != nil {
		w.T.Errorf("Sweep() = %v; want nil", err)
	}
}

// swept returns the field of the last line of a sweep.
func (w *bundle) swept(key string) any {
	w.T.Helper()

	lines := w.lines("deliveries.swept")
	return lines[len(lines)-1][key]
}

// repeat returns n times d.
func repeat(d time.Duration, n int) []time.Duration { return slices.Repeat([]time.Duration{d}, n) }

// One sweep of one endpoint: how many tasks it sends, and at how many deliveries it looks.
func TestSweep_SendsATaskForEachLostTask(t *testing.T) {
	t.Parallel()

	const over = 15*time.Minute + time.Millisecond
	tests := []struct {
		name     string
		endpoint func(e *hook.Endpoint)
		given    func(w *bundle, e hook.Endpoint)
		overdue  []time.Duration
		tasks    int
	}{
		{name: "overdue by more than 15 minutes", overdue: repeat(over, 25), tasks: 25},
		{name: "overdue by 15 minutes, or not at all", overdue: []time.Duration{15 * time.Minute, time.Minute, -time.Hour}},
		{name: "more than a page of one millisecond", overdue: repeat(over, 2001), tasks: 2001},
		{name: "a paused endpoint: the task parks the delivery", endpoint: func(e *hook.Endpoint) { e.Status = hook.StatusPaused }, overdue: repeat(over, 1), tasks: 1},
		{name: "a throttle ended a while ago", given: func(w *bundle, e hook.Endpoint) { w.record(e, throttled(-15*time.Minute, closed(0, 0))) }, overdue: repeat(over, 1), tasks: 1},
		{name: "a deleted endpoint: the task ends the delivery", given: func(w *bundle, e hook.Endpoint) {
			if err := w.Store.DeleteEndpoint(w.T.Context(), e); err != nil {
				w.T.Fatal(err)
			}
		}, overdue: repeat(over, 1), tasks: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(tt.endpoint)
			ids := w.lose(e, tt.overdue...)
			if tt.given != nil {
				tt.given(w, e)
			}
			w.sweep(w.Breaker())
			var tasks []hook.DeliveryRef
			for _, m := range w.Queue.Receive(hook.QueueRetry, 3000) {
				tasks = append(tasks, m.Task.Delivery)
				if m.Task.Attempt != 2 || m.Task.Parks != 2 || m.Task.Nonce == w.Delivery(m.Task.Delivery).DecidedBy || !slices.Contains(ids, m.Task.Delivery) {
					t.Errorf("task %+v; want a new task of attempt 2", m.Task)
				}
			}
			if len(tasks) != tt.tasks {
				t.Errorf("%d tasks; want %d", len(tasks), tt.tasks)
			}
			if got, ok := w.swept("deliveries_swept").(float64); int(got) != tt.tasks || ok && tt.tasks == 0 && got != 0 {
				t.Errorf("deliveries_swept is %v; want %d", got, tt.tasks)
			}
			w.sweep(w.Breaker())
			if again := len(w.Queue.Receive(hook.QueueRetry, 3000)); again != 0 {
				t.Errorf("the next sweep sends %d tasks; want none", again)
			}
		})
	}
}

// While a queue is late, a task counts as late, not as lost: only a few deliveries of a tenant get
// another.
func TestSweep_WaitsForTheQueues(t *testing.T) {
	t.Parallel()

	for _, waiting := range []int{100, 101} {
		for _, queue := range []hook.Queue{hook.QueueRetry, hook.QueueSlot, hook.QueueOverflow, hook.QueueCoalesce} {
			w := setup(t)
			e := w.Endpoint(nil)
			w.lose(e, repeat(time.Hour, 25)...)
			var tasks []hook.Task
			for _, id := range w.lose(e, repeat(0, waiting)...) {
				tasks = append(tasks, hook.NewTask(e.Tenant, id, 2))
			}
			w.Queue.Send(t.Context(), queue, tasks, 0)
			w.Queue.Send(t.Context(), queue, tasks, time.Minute) // a delayed task does not make the queue late
			w.sweep(w.Breaker())
			late, want := waiting > 100, 25
			if late {
				want = 10
			}
			got := len(w.Queue.Receive(hook.QueueRetry, 1000))
			if queue == hook.QueueRetry {
				got -= waiting
			}
			if got != want || w.swept("late") != late {
				t.Errorf("with %d visible tasks in queue %s: %d tasks sent, late is %v; want %d, late %t", waiting, queue, got, w.swept("late"), want, late)
			}
		}
	}
}

// The backlog of one tenant, all of it overdue, stops no sweep of another tenant, whose lost
// deliveries come last in the list.
func TestSweep_ABacklogOfATenantHidesNoOther(t *testing.T) {
	t.Parallel()

	w := setup(t)
	noisy, quiet := w.Endpoint(nil), w.Endpoint(func(e *hook.Endpoint) { e.Tenant = "quiet" })
	var tasks []hook.Task
	for i, id := range w.lose(noisy, repeat(time.Hour, 1500)...) {
		if i < 101 {
			tasks = append(tasks, hook.NewTask(noisy.Tenant, id, 2))
		}
	}
	w.Queue.Send(t.Context(), hook.QueueOverflow, tasks, 0)
	lost := w.lose(quiet, repeat(20*time.Minute, 3)...)
	w.sweep(w.Breaker())
	of := make(map[hook.TenantID]int)
	for _, m := range w.Queue.Receive(hook.QueueRetry, 2000) {
		of[m.Task.Tenant]++
		if m.Task.Tenant == quiet.Tenant && !slices.Contains(lost, m.Task.Delivery) {
			t.Errorf("task %+v; want one of a lost delivery", m.Task)
		}
	}
	if diff := cmp.Diff(map[hook.TenantID]int{noisy.Tenant: 10, quiet.Tenant: len(lost)}, of); diff != "" {
		t.Errorf("tasks by tenant (-want +got):\n%s", diff)
	}
}

// A task that is lost again and again is replaced once an hour.
func TestSweep_RepeatsHourly(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.lose(w.Endpoint(nil), 0)
	var at []time.Duration
	for w.Clock.Now().Before(start.Add(4 * time.Hour)) {
		w.Clock.Pass(5 * time.Minute)
		w.sweep(w.Breaker())
		for _, m := range w.Queue.Receive(hook.QueueRetry, 10) {
			at = append(at, w.Clock.Now().Sub(start))
			w.Queue.Delete(m.ID)
		}
	}
	want := []time.Duration{20 * time.Minute, 85 * time.Minute, 150 * time.Minute, 215 * time.Minute}
	if !slices.Equal(at, want) {
		t.Errorf("tasks at %v; want %v", at, want)
	}
	if d := w.Delivery(ids[0]); d.State != hook.StateRetrying || d.Attempts != 1 {
		t.Errorf("delivery is %s with %d attempts; want unchanged", d.State, d.Attempts)
	}
}

// A delivery that settles, or is swept, between the list and the mark gets no task.
func TestSweep_MarksOnTheVersionRead(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.lose(w.Endpoint(nil), time.Hour)
	w.Calls.Before("write delivery", func() {
		d := w.Delivery(ids[0])
		d.State, d.NextAttemptAt = hook.StateDelivered, time.Time{}
		if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Error(err)
		}
	})
	w.sweep(w.Breaker())
	if n := len(w.Queue.Receive(hook.QueueRetry, 10)); n != 0 || w.States(ids) != "1 delivered" {
		t.Errorf("%d tasks, delivery is %s; want none, delivered", n, w.States(ids))
	}

	ids = w.lose(w.Endpoint(nil), repeat(time.Hour, 100)...)
	var sweeps sync.WaitGroup
	for range 4 {
		sweeps.Go(func() { w.sweep(w.Breaker()) })
	}
	sweeps.Wait()
	if n := len(w.Queue.Receive(hook.QueueRetry, 1000)); n != len(ids) {
		t.Errorf("4 concurrent sweeps send %d tasks; want %d", n, len(ids))
	}
}

// A fault stops no other delivery, and the swept deliveries are settled.
func TestSweep_GoesOnAfterAFault(t *testing.T) {
	t.Parallel()

	faults := []string{"read queue", "list due", "write delivery", "send"}
	for _, fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			bad, good := w.Endpoint(nil), w.Endpoint(nil)
			ids := append(w.lose(bad, repeat(time.Hour, 10)...), w.lose(good, repeat(50*time.Minute, 10)...)...)
			whole := fault == "read queue" || fault == "list due"
			w.Calls.Fail = func(call string, id hook.EndpointID) error {
				if call == fault && (id == bad.ID || whole) {
					return errBroken
				}
				return nil
			}
			if err := w.Breaker().Sweep(w.Context()); !errors.Is(err, errBroken) {
				t.Errorf("Sweep() = %v; want %v", err, errBroken)
			}
			w.InvokeAll()
			want := "10 delivered, 10 retrying"
			if whole {
				want = "20 retrying"
			}
			if got := w.States(ids); got != want {
				t.Errorf("deliveries are %s; want %s", got, want)
			}
			w.Calls.Fail = nil
			w.Clock.Pass(time.Hour + time.Minute)
			w.sweep(w.Breaker())
			w.InvokeAll()
			if got := w.States(ids); got != "20 delivered" {
				t.Errorf("an hour later deliveries are %s; want all delivered", got)
			}
		})
	}
}

// endingContext has a deadline by the world's clock.
type endingContext struct {
	context.Context

	at time.Time
}

func (c endingContext) Deadline() (time.Time, bool) { return c.at, true }

// A sweep takes page after page while half of its invocation is left, and the next one the rest.
func TestSweep_TakesTheNextPage(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.lose(w.Endpoint(nil), repeat(time.Hour, 2500)...)
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "send" { // 100 of a page
			w.Clock.Pass(180 * time.Millisecond)
		}
		return nil
	}
	for _, want := range []float64{2000, 500} {
		ctx := endingContext{w.Context(), w.Clock.Now().Add(time.Minute)}
		if err := w.Breaker().SweepTasks(ctx); err != nil {
			t.Errorf("SweepTasks() = %v; want nil: the next sweep takes the rest", err)
		}
		if got := w.swept("deliveries_swept"); got != want {
			t.Errorf("%v tasks; want %v", got, want)
		}
		for _, m := range w.Queue.Receive(hook.QueueRetry, 3000) { // deliver keeps up
			w.Queue.Delete(m.ID)
		}
	}
}

// When the invocation is about to end, the sweep begins no further delivery.
func TestSweep_StopsInTime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.lose(w.Endpoint(nil), time.Hour)
	ctx := endingContext{w.Context(), w.Clock.Now().Add(9 * time.Second)}
	if err := w.Breaker().Sweep(ctx); err == nil || len(w.Queue.Receive(hook.QueueRetry, 10)) > 0 || w.swept("skipped") != 1.0 {
		t.Errorf("Sweep() = %v, skipped %v; want an error and no task", err, w.swept("skipped"))
	}
}

// TestSweep_SurvivesACrash kills the sweep before and after each effect: the marks and
// the tasks. The next sweeps bring every delivery to the end, an hour later at most.
func TestSweep_SurvivesACrash(t *testing.T) {
	t.Parallel()

	run := func(t *testing.T, at int, after bool) (effects int) {
		t.Helper()

		inTurn(t, func(w *bundle) {
			t := w.T
			ids := w.lose(w.Endpoint(nil), repeat(time.Hour, 12)...)
			w.Crash.Arm(at, after)
			if err := w.Breaker().Sweep(w.Context()); (err != nil) != (at > 0) {
				t.Errorf("Sweep() = %v; want an error after a crash only", err)
			}
			w.Crash.Restart()
			effects = w.Crash.Effects()
			for range 14 {
				w.InvokeAll()
				w.Clock.Pass(5 * time.Minute)
				w.sweep(w.Breaker())
			}
			w.InvokeAll()
			if got := w.States(ids); got != "12 delivered" || len(w.Posts) != 12 {
				t.Errorf("deliveries are %s after %d POSTs; want 12 delivered, one POST each", got, len(w.Posts))
			}
		})
		return effects
	}
	effects := run(t, 0, false)
	if effects != 14 {
		t.Fatalf("the sweep has %d effects; want 12 marks and 2 requests", effects)
	}
	for at := 1; at <= effects; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("effect %d, after it: %t", at, after), func(t *testing.T) {
				t.Parallel()

				run(t, at, after)
			})
		}
	}
}

// If the old task was not lost after all, the request may be sent twice, but the record shows
// one attempt.
func TestSweep_SecondTaskIsHarmless(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.lose(e, time.Hour)
	w.sweep(w.Breaker())
	w.Queue.Send(t.Context(), hook.QueueRetry, []hook.Task{hook.NewTask(e.Tenant, ids[0], 2)}, 0)
	w.InvokeAll()
	if d := w.Delivery(ids[0]); d.State != hook.StateDelivered || d.Attempts != 2 {
		t.Errorf("delivery is %s with %d attempts; want delivered, 2", d.State, d.Attempts)
	}
	if len(w.Posts) > 2 {
		t.Errorf("%d POSTs; want at most 2", len(w.Posts))
	}
}
