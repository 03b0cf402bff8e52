package breaker_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// accept stores an event for the endpoints, whose first tasks are lost.
func (w *bundle) accept(endpoints ...hook.Endpoint) []hook.DeliveryRef {
	w.T.Helper()

	return begun(w.Event("order.paid", w.Clock.Now(), endpoints...))
}

// begun returns the first generations of the event's deliveries.
func begun(e hook.Event) []hook.DeliveryRef {
	var refs []hook.DeliveryRef
	for _, target := range e.Targets {
		refs = append(refs, hook.QueuedDelivery(e, target).Ref())
	}
	return refs
}

func (w *bundle) keep(refs ...hook.DeliveryRef) {
	w.T.Helper()

	if err := w.Breaker().Record(w.Context(), refs); err != nil {
		w.T.Errorf("Record() = %v; want nil", err)
	}
}

// sweepFor sweeps every 5 minutes, and delivers what there is.
func (w *bundle) sweepFor(d time.Duration) {
	w.T.Helper()

	for end := w.Clock.Now().Add(d); w.Clock.Now().Before(end); {
		w.Clock.Pass(5 * time.Minute)
		w.sweep(w.Breaker())
		w.InvokeAll()
	}
}

// The tasks of all first attempts are lost. Each delivery gets one new task, within the time
// that the sweeper promises.
func TestRecord_LostFirstTasksComeBack(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		given    func(w *bundle, e hook.Endpoint)
		want     string
		requests int
	}{
		{name: "an endpoint that works", want: "1 delivered", requests: 1},
		{name: "a paused endpoint: the task parks the delivery", given: func(w *bundle, e hook.Endpoint) {
			e.Status, e.Reason = hook.StatusPaused, hook.ReasonManual
			if err := w.Store.UpdateEndpoint(w.T.Context(), e); err != nil {
				w.T.Fatal(err)
			}
		}, want: "1 parked paused"},
		{name: "a deleted endpoint: the task ends the delivery", given: func(w *bundle, e hook.Endpoint) {
			if err := w.Store.DeleteEndpoint(w.T.Context(), e); err != nil {
				w.T.Fatal(err)
			}
		}, want: "1 cancelled endpoint_deleted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			ids := w.accept(e)
			w.Clock.Pass(5 * time.Minute)
			w.keep(ids...)
			w.keep(ids...)
			if d := w.Delivery(ids[0]); d.State != hook.StateQueued || d.Version != 1 || d.Attempts != 0 {
				t.Fatalf("record is %s in version %d; want queued, 1", d.State, d.Version)
			}
			if tt.given != nil {
				tt.given(w, e)
			}
			w.sweepFor(10 * time.Minute)
			if got := w.States(ids); got != "1 queued" {
				t.Errorf("after 15 minutes the delivery is %s; want queued: the task may be late", got)
			}
			w.sweepFor(5 * time.Minute)
			if got := w.States(ids); got != tt.want || len(w.Posts) != tt.requests {
				t.Errorf("after 20 minutes the delivery is %s with %d requests; want %s, %d", got, len(w.Posts), tt.want, tt.requests)
			}
		})
	}
}

// The process dies after erasing the payload, and the task of the first attempt is lost: the
// delivery still ends.
func TestRecord_AnInterruptedErasureEnds(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Event("order.paid", w.Clock.Now(), w.Endpoint(nil))
	e.ErasedAt = w.Clock.Now()
	if err := w.Store.EraseEvent(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	ids := begun(e)
	w.Clock.Pass(5 * time.Minute)
	w.keep(ids...)
	w.sweepFor(20 * time.Minute)
	if got := w.States(ids); got != "1 cancelled erased" || len(w.Posts) > 0 {
		t.Errorf("delivery is %s after %d requests; want cancelled without one", got, len(w.Posts))
	}
}

// If the first task was only late, it makes the only attempt, and the sweeper sends no other.
func TestRecord_LateTasksMakeTheAttempt(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.Post(w.Endpoint(nil))
	w.keep(ids...)
	w.InvokeAll()
	w.sweepFor(2 * time.Hour)
	if d := w.Delivery(ids[0]); d.State != hook.StateDelivered || d.Attempts != 1 || d.Parks != 0 || len(w.Posts) != 1 {
		t.Errorf("delivery is %s after %d attempts and %d requests; want delivered, 1, 1", d.State, d.Attempts, len(w.Posts))
	}
}

// A delivery that has ended, or whose event is gone, gets no record.
func TestRecord_BringsNothingBack(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		given func(w *bundle, e hook.Event)
		ref   func(ref hook.DeliveryRef) hook.DeliveryRef
	}{
		{name: "an expired event", given: func(w *bundle, e hook.Event) { w.Clock.Pass(e.ExpiresAt.Sub(w.Clock.Now())) }},
		{name: "an unknown event", ref: func(ref hook.DeliveryRef) hook.DeliveryRef {
			ref.Event = hook.KeyedEventID("acme", "other")
			return ref
		}},
		{name: "an endpoint that is no target", ref: func(ref hook.DeliveryRef) hook.DeliveryRef {
			ref.Endpoint = hook.NewEndpointID()
			return ref
		}},
		{name: "an earlier event of the key", ref: func(ref hook.DeliveryRef) hook.DeliveryRef {
			ref.AcceptedAt--
			return ref
		}},
		{name: "a replay of a delivery without a record", ref: hook.DeliveryRef.Successor},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Event("order.paid", w.Clock.Now(), w.Endpoint(nil))
			ref := begun(e)[0]
			if tt.given != nil {
				tt.given(w, e)
			}
			if tt.ref != nil {
				ref = tt.ref(ref)
			}
			w.keep(ref)
			if _, err := w.Store.Delivery(t.Context(), ref); hook.CodeOf(err) != hook.CodeNotFound {
				t.Errorf("Delivery() = %v; want no record", err)
			}
		})
	}
}

// The task of a replay is lost. The replay gets its own record, with the replay request.
func TestRecord_LostReplaysComeBack(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Event("order.paid", w.Clock.Now(), w.Endpoint(nil))
	dead := hook.QueuedDelivery(e, e.Targets[0])
	dead.State, dead.Reason, dead.Attempts, dead.DecidedBy = hook.StateDead, hook.ReasonRejected, 1, "n"
	dead.Last = hook.Outcome{Class: hook.ClassRefused, Status: 400}
	w.Save(dead)
	w.keep(dead.Successor())
	if _, err := w.Store.Delivery(t.Context(), dead.Successor()); hook.CodeOf(err) != hook.CodeNotFound {
		t.Fatalf("Delivery() = %v; want no record before the replay", err)
	}
	replayed, err := w.Delivery(dead.Ref()).Replay(hook.ReplayRequest{By: "key_1"}, w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	w.Save(replayed)
	w.keep(dead.Successor())
	if d := w.Delivery(dead.Successor()); d.State != hook.StateQueued || d.By != "key_1" || !d.CreatedAt.Equal(replayed.Replayed.At) {
		t.Errorf("replay is %+v; want queued, by key_1, since the request", d)
	}
	w.sweepFor(20 * time.Minute)
	if got := w.States([]hook.DeliveryRef{dead.Ref(), dead.Successor()}); got != "1 delivered, 1 discarded replayed" || len(w.Posts) != 1 {
		t.Errorf("deliveries are %s after %d requests; want 1 delivered, 1 discarded, one request", got, len(w.Posts))
	}
}

// A delivery that is decided between the read and the write keeps that decision.
func TestRecord_NeverReplacesARecord(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.Post(w.Endpoint(nil))
	w.Calls.Before("write delivery", w.InvokeAll)
	w.keep(ids...)
	if d := w.Delivery(ids[0]); d.State != hook.StateDelivered || d.Version != 1 {
		t.Errorf("record is %s in version %d; want delivered, 1", d.State, d.Version)
	}
}

// A fault with one endpoint does not prevent the records of the others, and is returned to the
// caller.
func TestRecord_GoesOnAfterAFault(t *testing.T) {
	t.Parallel()

	w := setup(t)
	bad, good := w.Endpoint(nil), w.Endpoint(nil)
	ids := slices.Concat(w.accept(bad, good), w.accept(good))
	w.Calls.Fail = func(call string, id hook.EndpointID) error {
		if call == "write delivery" && id == bad.ID {
			return errBroken
		}
		return nil
	}
	if err := w.Breaker().Record(w.Context(), ids); !errors.Is(err, errBroken) {
		t.Errorf("Record() = %v; want %v", err, errBroken)
	}
	if got := w.States(ids[1:]); got != "2 queued" {
		t.Errorf("the other deliveries are %s; want 2 queued", got)
	}
	w.Calls.Fail = nil
	w.keep(ids...)
	if got := w.States(ids); got != "3 queued" {
		t.Errorf("after the repetition the deliveries are %s; want 3 queued", got)
	}
	if line := w.lines("deliveries.recorded"); line[0]["recorded"] != 2.0 || line[0]["level"] != "ERROR" || line[1]["recorded"] != 1.0 || line[1]["begun"] != 3.0 {
		t.Errorf("lines are %v; want 2 of 3 recorded with an error, then 1 of 3", line)
	}
}

// When the invocation is about to end, no further event is begun.
func TestRecord_StopsInTime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.accept(w.Endpoint(nil))
	ctx := endingContext{t.Context(), w.Clock.Now().Add(9 * time.Second)}
	if err := w.Breaker().Record(ctx, ids); err == nil {
		t.Error("Record() = nil; want an error, so that the batch comes again")
	}
}

// The process dies before and after each effect, and the batch comes again.
func TestRecord_SurvivesACrash(t *testing.T) {
	t.Parallel()

	const deliveries = 3
	for at := 1; at <= deliveries; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("effect %d, after it: %t", at, after), func(t *testing.T) {
				t.Parallel()

				inTurn(t, func(w *bundle) {
					ids := slices.Concat(w.accept(w.Endpoint(nil)), w.accept(w.Endpoint(nil), w.Endpoint(nil)))
					w.Crash.Arm(at, after)
					if err := w.Breaker().Record(w.Context(), ids); err == nil || !w.Crash.Restart() {
						w.T.Errorf("Record() = %v; want the death", err)
					}
					w.keep(ids...)
					w.sweepFor(20 * time.Minute)
					if got := w.States(ids); got != "3 delivered" || len(w.Posts) != deliveries {
						w.T.Errorf("deliveries are %s after %d requests; want 3 delivered, one request each", got, len(w.Posts))
					}
				})
			})
		}
	}
}

// While a queue of first tasks is late, few queued deliveries of a tenant get a new task; retries do.
func TestSweep_WaitsForTheQueuesOfFirstTasks(t *testing.T) {
	t.Parallel()

	for _, waiting := range []int{1000, 1001} {
		for _, queue := range []hook.Queue{hook.QueueLive, hook.QueueReplay} {
			t.Run(fmt.Sprintf("%d tasks in queue %s", waiting, queue), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				e := w.Endpoint(nil)
				var queued []hook.DeliveryRef
				for range 15 {
					queued = append(queued, w.accept(e)...)
				}
				w.keep(queued...)
				w.Clock.Pass(16 * time.Minute)
				retrying := w.lose(e, repeat(time.Hour, 15)...)
				tasks := make([]hook.Task, waiting)
				for i := range tasks {
					tasks[i] = hook.NewTask(e.Tenant, queued[0], 1)
				}
				w.Enqueue(queue, tasks...)
				w.sweep(w.Breaker())
				first, later := 0, 0
				for _, m := range w.Queue.Receive(hook.QueueRetry, 100) {
					if slices.Contains(queued, m.Task.Delivery) {
						first++
					} else if slices.Contains(retrying, m.Task.Delivery) {
						later++
					}
				}
				want, late := 15, waiting > 1000
				if late {
					want = 10
				}
				if first != want || later != 15 || w.swept("late") != late || w.swept("visible_first") != float64(waiting) {
					t.Errorf("%d queued and %d retrying deliveries got a task, late is %v; want %d and 15, late %t", first, later, w.swept("late"), want, late)
				}
			})
		}
	}
}
