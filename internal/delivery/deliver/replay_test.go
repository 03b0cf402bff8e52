package deliver_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// mark records the replay request in the delivery, as the sender of the replay's task does.
func (w *bundle) mark(id hook.DeliveryRef, o hook.ReplayRequest) error {
	w.T.Helper()

	d, err := w.Delivery(id).Replay(o, w.Clock.Now())
	if err != nil {
		return fmt.Errorf("replay %s: %w", id, err)
	}
	return w.Store.SaveDelivery(w.T.Context(), d, nil)
}

// batch gives the bodies to a process, and fails the test if one must come again.
func (w *bundle) batch(d *deliver.Deliverer, bodies ...string) {
	w.T.Helper()

	messages := make([]deliver.Message, len(bodies))
	for i, body := range bodies {
		messages[i] = deliver.Message{ID: fmt.Sprint("m", i), Body: body}
	}
	if failed := d.ProcessBatch(w.Context(), messages); failed != nil {
		w.T.Errorf("Batch(%q) = %v; want none failed", bodies, failed)
	}
}

func (w *bundle) body(task hook.Task) string {
	w.T.Helper()

	body, err := task.Encode()
	if err != nil {
		w.T.Fatal(err)
	}
	return body
}

// letter returns the body of the newest dead letter.
func (w *bundle) letter() string {
	w.T.Helper()

	letters := w.DeadLetters.Letters()
	body, err := letters[len(letters)-1].Encode()
	if err != nil {
		w.T.Fatal(err)
	}
	return body
}

// dead posts an event to a new endpoint that answers 404 once, and 200 from then on.
func (w *bundle) dead() hook.DeliveryRef {
	w.T.Helper()

	w.Answer = world.Always(404)
	id := w.Post(w.Endpoint(nil))[0]
	w.Run()
	w.Answer, w.Posts = world.Always(200), nil
	return id
}

// The task and the mark may come in any order and repeatedly: the result is always one new
// generation and one request.
func TestReplay_TaskAndMarkInAnyOrder(t *testing.T) {
	t.Parallel()

	order := hook.ReplayRequest{By: "key_a", Job: someJob, JobIndex: 2}
	tests := []struct {
		name string
		play func(w *bundle, id hook.DeliveryRef)
	}{
		{name: "the task alone", play: func(w *bundle, id hook.DeliveryRef) {
			w.batch(w.Deliverer(), w.body(replayOf(id, order)))
		}},
		{name: "the mark, then the task", play: func(w *bundle, id hook.DeliveryRef) {
			if err := w.mark(id, order); err != nil {
				w.T.Errorf("mark = %v; want nil", err)
			}
			w.batch(w.Deliverer(), w.body(replayOf(id, order)))
		}},
		{name: "the task, then the mark", play: func(w *bundle, id hook.DeliveryRef) {
			w.batch(w.Deliverer(), w.body(replayOf(id, order)))
			if err := w.mark(id, order); hook.CodeOf(err) != hook.CodeReplayed {
				w.T.Errorf("mark after the task = %v; want already_replayed", err)
			}
		}},
		{name: "both at once, and the mark wins", play: func(w *bundle, id hook.DeliveryRef) {
			d := w.Deliverer()
			writeTo(d, &racingStore{store: w.Store, race: func() {
				if err := w.mark(id, order); err != nil {
					w.T.Errorf("mark = %v; want nil", err)
				}
			}})
			w.batch(d, w.body(replayOf(id, order)))
		}},
		{name: "both at once, and the answer to the task's mark is lost", play: func(w *bundle, id hook.DeliveryRef) {
			d := w.Deliverer()
			writeTo(d, &forgetfulStore{store: w.Store})
			w.batch(d, w.body(replayOf(id, order)))
		}},
		{name: "a task twice, one after the other", play: func(w *bundle, id hook.DeliveryRef) {
			body := w.body(replayOf(id, order))
			w.batch(w.Deliverer(), body)
			w.batch(w.Deliverer(), body)
		}},
		{name: "a task twice in a batch", play: func(w *bundle, id hook.DeliveryRef) {
			body := w.body(replayOf(id, order))
			w.batch(w.Deliverer(), body, body)
		}},
		{name: "two tasks of one order", play: func(w *bundle, id hook.DeliveryRef) {
			first, second := w.body(replayOf(id, order)), w.body(replayOf(id, order))
			failed := w.Deliverer().ProcessBatch(w.Context(), []deliver.Message{{ID: "m0", Body: first}, {ID: "m1", Body: second}})
			if !slices.Equal(failed, []string{"m1"}) {
				w.T.Errorf("ProcessBatch() = %v; want the second task to come again", failed)
			}
			w.batch(w.Deliverer(), second)
			w.batch(w.Deliverer(), w.body(replayOf(id, order)))
		}},
		{name: "the task of a later order does not change who replayed it", play: func(w *bundle, id hook.DeliveryRef) {
			w.batch(w.Deliverer(), w.body(replayOf(id, order)))
			w.batch(w.Deliverer(), w.body(replayOf(id, hook.ReplayRequest{By: "key_b", Force: true})))
			w.batch(w.Deliverer(), w.letter())
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.dead()
			tt.play(w, id)
			w.Run()

			if len(w.Posts) != 1 {
				t.Errorf("%d POSTs; want 1", len(w.Posts))
			}
			replay := w.Delivery(id)
			replay = w.Delivery(replay.Successor())
			if replay.State != hook.StateDelivered || replay.Attempts != 1 {
				t.Errorf("the replay is %s after %d attempts; want delivered after 1", replay.State, replay.Attempts)
			}
			w.checkReplay(replay.Ref(), order, hook.StateDiscarded)
		})
	}
}

// A replay sends the same event and bytes, with the current settings of the endpoint.
func TestReplay_SendsSameEventWithCurrentSettings(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.MaxAge = time.Hour })
	w.Answer = world.Always(404)
	id := w.Post(endpoint)[0]
	w.Run()
	first := w.Posts[0]
	w.Clock.Until(start.Add(48 * time.Hour)) // long past the max_age of the first generation
	from := endpoint.URL
	endpoint.URL, endpoint.Retry.Schedule = "https://example.com/mended", []time.Duration{time.Minute}
	if err := w.Store.MoveEndpoint(t.Context(), endpoint, from); err != nil {
		t.Fatal(err)
	}
	w.Answer = world.InTurn(503, 200)
	w.batch(w.Deliverer(), w.body(replayOf(id, hook.ReplayRequest{})))
	w.Run()

	if len(w.Posts) != 3 {
		t.Fatalf("%d POSTs; want 1 and then 2", len(w.Posts))
	}
	for i, r := range w.Posts[1:] {
		if diff := cmp.Diff(first.Event, r.Event); diff != "" || r.Endpoint.URL != endpoint.URL || r.Attempt != i+1 || r.Delivery.Generation != 2 {
			t.Errorf("attempt %d of %s goes to %s; want %d of generation 2 to %s, with the event (-want +got):\n%s",
				r.Attempt, r.Delivery, r.Endpoint.URL, i+1, endpoint.URL, diff)
		}
	}
	replay := w.Posts[1].Ref()
	if got := w.Delivery(replay).UpdatedAt.Sub(start.Add(48 * time.Hour)); got != time.Minute {
		t.Errorf("delivered after %s; want a minute, as its policy is now", got)
	}
	attempts, err := w.Store.Attempts(t.Context(), []hook.Delivery{w.Delivery(id), w.Delivery(replay)})
	if err != nil {
		t.Fatal(err)
	}
	var triggers []hook.Trigger
	for _, a := range attempts {
		triggers = append(triggers, a.Trigger)
	}
	if diff := cmp.Diff([]hook.Trigger{hook.TriggerEvent, hook.TriggerReplay, hook.TriggerRetry}, triggers); diff != "" {
		t.Errorf("triggers differ (-want +got):\n%s", diff)
	}
}

// A refused replay changes no record, and the task is dropped.
func TestReplay_DropsRefusedTasks(t *testing.T) {
	t.Parallel()

	change := func(change func(d *hook.Delivery)) func(w *bundle, d hook.Delivery) {
		return func(w *bundle, d hook.Delivery) {
			change(&d)
			if err := w.Store.SaveDelivery(w.T.Context(), d, nil); err != nil {
				w.T.Fatal(err)
			}
		}
	}
	task := func(o hook.ReplayRequest) func(w *bundle, d hook.Delivery) string {
		return func(w *bundle, d hook.Delivery) string { return w.body(replayOf(d.Ref(), o)) }
	}
	letter := func(w *bundle, _ hook.Delivery) string { return w.letter() }
	tests := []struct {
		name   string
		before func(w *bundle, d hook.Delivery) // d is dead
		body   func(w *bundle, d hook.Delivery) string
	}{
		{name: "the redrive of what was discarded", before: change(func(d *hook.Delivery) { d.State, d.Reason = hook.StateDiscarded, hook.ReasonManual }), body: letter},
		{name: "the redrive of what was delivered", before: change(func(d *hook.Delivery) { d.State = hook.StateDelivered }), body: letter},
		{name: "a replay without force of what is retrying", before: change(func(d *hook.Delivery) { d.State = hook.StateRetrying }), body: task(hook.ReplayRequest{By: "key_a"})},
		{name: "a replay without force of what is parked", before: change(func(d *hook.Delivery) { d.State = hook.StateParked }), body: task(hook.ReplayRequest{Job: someJob})},
		{name: "a generation that nobody ordered", before: func(*bundle, hook.Delivery) {}, body: func(w *bundle, d hook.Delivery) string {
			return task(hook.ReplayRequest{Force: true})(w, hook.Delivery{}.At(d.Successor()))
		}},
		{name: "a second attempt of what was not begun", before: func(*bundle, hook.Delivery) {}, body: func(w *bundle, d hook.Delivery) string {
			second := replayOf(d.Ref(), hook.ReplayRequest{Force: true})
			second.Attempt = 2
			return w.body(second)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.dead()
			body := tt.body(w, w.Delivery(id))
			tt.before(w, w.Delivery(id))
			before := w.Delivery(id)
			w.batch(w.Deliverer(), body)
			w.Run()
			if diff := cmp.Diff(before, w.Delivery(id)); diff != "" || len(w.Posts) > 0 {
				t.Errorf("%d POSTs; want none; the record changed (-want +got):\n%s", len(w.Posts), diff)
			}
			if next, err := w.Store.Delivery(t.Context(), id.Successor()); hook.CodeOf(err) != hook.CodeNotFound {
				t.Errorf("the next generation is %v, %v; want none", next, err)
			}
		})
	}
}

// A dead letter is sent before the death is recorded. Two processes have copies of the redriven
// letter. The first one sees the delivery still in progress; the second one sees the death,
// records the replay and dies. The message of the first one then makes the replay.
func TestReplay_BeforeTheRecordOfTheDeath(t *testing.T) {
	t.Parallel()

	change := func(change func(d *hook.Delivery)) func(w *bundle, d hook.Delivery) {
		return func(w *bundle, d hook.Delivery) {
			change(&d)
			if err := w.Store.SaveDelivery(w.T.Context(), d, nil); err != nil {
				w.T.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		before func(w *bundle, d hook.Delivery) // d is dead
	}{
		{name: "retrying", before: change(func(d *hook.Delivery) { d.State = hook.StateRetrying })},
		{name: "parked", before: change(func(d *hook.Delivery) { d.State = hook.StateParked })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.dead()
			letter := []deliver.Message{{ID: "letter", Body: w.letter()}}
			tt.before(w, w.Delivery(id))
			if failed := w.Deliverer().ProcessBatch(w.Context(), letter); len(failed) != 1 || len(w.Posts) > 0 {
				t.Errorf("a letter before the death: failed %v after %d POSTs; want the letter to come again", failed, len(w.Posts))
			}
			change(func(d *hook.Delivery) { d.State = hook.StateDead })(w, w.Delivery(id))
			if err := w.mark(id, hook.ReplayRequest{Redrive: true}); err != nil {
				t.Fatal(err)
			}
			w.batch(w.Deliverer(), letter[0].Body)
			if next := w.Delivery(id.Successor()); next.State != hook.StateDelivered {
				t.Errorf("the replay is %s; want delivered", next.State)
			}
		})
	}
}

// A letter whose delivery has no record yet comes again, too: the first attempt failed for good,
// and the process died after it sent the letter.
func TestReplay_BeforeTheFirstRecord(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(404)
	id := w.Post(w.Endpoint(nil))[0]
	body := w.body(replayOf(id, hook.ReplayRequest{Redrive: true}))
	for _, tt := range []struct {
		age    time.Duration
		failed int
	}{{hook.MaxMaxAge - 1, 1}, {hook.MaxMaxAge, 0}} { // after that, the record must have existed and been removed
		w.Clock.Until(time.UnixMilli(id.AcceptedAt).Add(tt.age))
		if failed := w.Deliverer().ProcessBatch(w.Context(), []deliver.Message{{ID: "letter", Body: body}}); len(failed) != tt.failed || len(w.Posts) > 0 {
			t.Errorf("after %v: failed %v after %d POSTs; want %d failed", tt.age, failed, len(w.Posts), tt.failed)
		}
	}
}

// A task of another tenant replays nothing, and its message fails.
func TestReplay_OfAnotherTenantsDelivery(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.dead()
	before := w.Delivery(id)
	foreign := replayOf(id, hook.ReplayRequest{Force: true})
	foreign.Tenant = "other"
	failed := w.Deliverer().ProcessBatch(w.Context(), []deliver.Message{{ID: "foreign", Body: w.body(foreign)}})
	if diff := cmp.Diff(before, w.Delivery(id)); diff != "" || len(failed) != 1 || len(w.Posts) > 0 {
		t.Errorf("failed %v after %d POSTs; want it to come again; the record changed (-want +got):\n%s", failed, len(w.Posts), diff)
	}
}

// A dead letter moved to the retry queue by a redrive is a replay. Repeated messages
// make one replay.
func TestReplay_ByRedrive(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.dead()
	w.Answer = world.InTurn(503, 200)
	body := w.letter()
	if moved := w.DeadLetters.Redrive(hook.QueueRetry); moved != 1 {
		t.Fatalf("Redrive() = %d; want 1", moved)
	}
	w.Invoke(hook.QueueRetry)
	w.batch(w.Deliverer(), body, body)
	w.batch(w.Deliverer(), body)
	w.Run()
	id.Generation++
	w.checkReplay(id, hook.ReplayRequest{Redrive: true}, hook.StateDiscarded)
	if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) != 2 {
		t.Errorf("the replay is %s after %d POSTs; want delivered after 2", d.State, len(w.Posts))
	}
	w.batch(w.Deliverer(), body)
	w.Run()
	if len(w.Posts) != 2 {
		t.Errorf("%d POSTs after the letter came once more; want 2 still", len(w.Posts))
	}
}

// When SQS redrives a letter, it leaves the dead-letter queue. If the replay is refused, the
// delivery stays dead, so its letter is sent again: exactly once, even if the first send fails.
func TestReplay_ARefusedRedriveReturnsTheLetter(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		change  func(d *hook.Delivery)
		letters int
	}{
		{name: "close to the end of the event", change: func(d *hook.Delivery) { d.ExpiresAt = start.Add(13 * 24 * time.Hour) }, letters: 1},
		{name: "the payload is erased", change: func(d *hook.Delivery) { d.Erased = true }, letters: 1},
		{name: "discarded since", change: func(d *hook.Delivery) { d.State, d.Reason = hook.StateDiscarded, hook.ReasonManual }, letters: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.dead()
			body := w.letter()
			if n := w.DeadLetters.Redrive(hook.QueueReplay); n != 1 { // elsewhere: this test passes the body
				t.Fatalf("%d letters are redriven; want 1", n)
			}
			d := w.Delivery(id)
			tt.change(&d)
			w.Save(d)
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				if call == "send dead letter" {
					return world.ErrDead
				}
				return nil
			}
			message := deliver.Message{ID: "m", Body: body, Queue: hook.QueueRetry}
			if failed := w.Deliverer().ProcessBatch(w.Context(), []deliver.Message{message}); len(failed) != tt.letters {
				t.Errorf("without the dead letters %v fail; want %d messages", failed, tt.letters)
			}
			w.Calls.Fail = nil
			if failed := w.Deliverer().ProcessBatch(w.Context(), []deliver.Message{message}); len(failed) != 0 {
				t.Errorf("%v fail; want none", failed)
			}
			left := w.DeadLetters.Letters()
			if len(left) != tt.letters || tt.letters > 0 && left[0] != hook.DeadLetterOf(d) || len(w.Posts) > 0 {
				t.Errorf("%d letters are left, %+v, after %d requests; want %d", len(left), left, len(w.Posts), tt.letters)
			}
		})
	}
}
