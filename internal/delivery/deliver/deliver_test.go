package deliver_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

func TestProcessBatch_RequestCarriesStoredRecords(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(nil)
	id := w.Post(endpoint)[0]
	w.Run()

	if len(w.Posts) != 1 {
		t.Fatalf("%d POSTs; want 1", len(w.Posts))
	}
	r := w.Posts[0]
	if r.Ref() != id || r.Attempt != 1 || string(r.Event.Payload) != `{"n": 1}` || r.Endpoint.URL != endpoint.URL || len(r.Keys) != 1 {
		t.Errorf("request = %+v", r)
	}
}

func TestProcessBatch_DropsStaleTasks(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		task func(id hook.DeliveryRef) hook.Task
	}{
		{name: "an attempt that another task made", task: func(id hook.DeliveryRef) hook.Task { return hook.NewTask("acme", id, 1) }},
		{name: "an attempt whose predecessor was never made", task: func(id hook.DeliveryRef) hook.Task { return hook.NewTask("acme", id, 3) }},
		{name: "a generation that does not exist", task: func(id hook.DeliveryRef) hook.Task {
			id.Generation = 2
			return hook.NewTask("acme", id, 1)
		}},
		{name: "an event that is gone", task: func(id hook.DeliveryRef) hook.Task {
			id.Event = hook.KeyedEventID("acme", "never posted")
			return hook.NewTask("acme", id, 1)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.InTurn(503, 200)
			id := w.Post(w.Endpoint(nil))[0]
			w.Invoke(hook.QueueLive)
			before := w.Delivery(id)

			w.Enqueue(hook.QueueLive, tt.task(id))
			if received, failed := w.Invoke(hook.QueueLive); received != 1 || failed != 0 {
				t.Errorf("received %d, failed %d; want 1, 0", received, failed)
			}
			if diff := cmp.Diff(before, w.Delivery(id)); diff != "" || len(w.Posts) != 1 {
				t.Errorf("%d POSTs and a changed record (-want +got):\n%s", len(w.Posts), diff)
			}
			w.Clock.Until(start.Add(time.Hour))
			if left := w.Queue.Receive(hook.QueueRetry, 10); len(left) != 1 {
				t.Errorf("%d tasks wait; want the one of attempt 2", len(left))
			}
			w.Run()
			if got := w.Delivery(id); got.State != hook.StateDelivered || len(w.Posts) != 2 {
				t.Errorf("in the end %s after %d POSTs; want delivered after 2", got.State, len(w.Posts))
			}
		})
	}
}

// Each duplicate task costs at most one POST, and does not start a second chain of tasks.
func TestProcessBatch_DuplicatesDoNotMultiply(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.InTurn(503, 503, 200)
	id := w.Post(w.Endpoint(nil))[0]
	for range 3 {
		w.Enqueue(hook.QueueLive, hook.NewTask("acme", id, 1))
	}
	for range 50 {
		at, ok := w.Queue.Next()
		if !ok {
			break
		}
		w.Clock.Until(at)
		w.Invoke(hook.QueueLive)
		for _, m := range w.Queue.Receive(hook.QueueRetry, 10) { // every retry task arrives twice
			body, err := m.Task.Encode()
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if failed := w.Deliverer().ProcessBatch(w.Context(), []deliver.Message{{ID: m.ID, Body: body}}); failed != nil {
					t.Errorf("Batch() = %v; want none failed", failed)
				}
			}
			w.Queue.Delete(m.ID)
		}
	}
	if _, ok := w.Queue.Next(); ok {
		t.Error("tasks are left; duplicates made a chain of their own")
	}
	if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 3 || len(w.Posts) != 3 {
		t.Errorf("%s after %d attempts and %d POSTs; want delivered, 3, 3", d.State, d.Attempts, len(w.Posts))
	}
}

func TestProcessBatch_EarlyTaskWaits(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.InTurn(503, 200)
	id := w.Post(w.Endpoint(nil))[0]
	w.Invoke(hook.QueueLive)
	w.Enqueue(hook.QueueRetry, hook.NewTask("acme", id, 2)) // 10 s too early
	w.Invoke(hook.QueueRetry)
	if len(w.Posts) != 1 {
		t.Fatalf("%d POSTs before the time; want 1", len(w.Posts))
	}
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) != 2 || w.Clock.Now().Before(start.Add(10*time.Second)) {
		t.Errorf("%s after %d POSTs at %v; want delivered after 2, no earlier than 10 s", d.State, len(w.Posts), w.Clock.Now().Sub(start))
	}
}

func TestProcessBatch_RetryAfterIsAFloor(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = func(r send.Request) hook.Outcome {
		o := world.InTurn(503, 200)(r)
		o.RetryAfter = 3 * time.Minute
		return o
	}
	id := w.Post(w.Endpoint(nil))[0]
	w.Invoke(hook.QueueLive)
	if want := start.Add(3 * time.Minute); !w.Delivery(id).NextAttemptAt.Equal(want) {
		t.Errorf("next attempt at %v; want %v", w.Delivery(id).NextAttemptAt, want)
	}
}

// TestProcessBatch_CapsRetryAfter checks that a wait in milliseconds, as some receivers ask for it,
// holds neither the endpoint nor the delivery for longer than max_retry_after, and that the
// history says so.
func TestProcessBatch_CapsRetryAfter(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		status int
		asked  time.Duration
		most   time.Duration
		want   time.Duration
		held   time.Duration // the endpoint
		note   string
	}{
		{name: "429", status: 429, asked: 40000 * time.Second, want: time.Hour, held: time.Hour, note: " It asked to wait 11h6m40s, above the endpoint's max_retry_after: 1h counts."},
		{name: "503", status: 503, asked: 40000 * time.Second, want: time.Hour, note: " It asked to wait 11h6m40s, above the endpoint's max_retry_after: 1h counts."},
		{name: "429 at an endpoint with another cap", status: 429, asked: 40000 * time.Second, most: time.Minute, want: time.Minute, held: time.Minute, note: " It asked to wait 11h6m40s, above the endpoint's max_retry_after: 1m counts."},
		{name: "429 that asks for no wait", status: 429, want: 10 * time.Second, held: time.Second}, // the delivery waits by its schedule
		{name: "429 with the longest wait that counts", status: 429, asked: time.Hour, want: time.Hour, held: time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = func(r send.Request) hook.Outcome {
				o := world.InTurn(tt.status)(r)
				o.RetryAfter, o.Error = tt.asked, "The endpoint answered."
				return o
			}
			e := w.Endpoint(func(e *hook.Endpoint) { e.MaxRetryAfter = tt.most })
			id := w.Post(e)[0]
			w.Invoke(hook.QueueLive)
			d := w.Delivery(id)
			attempts, err := w.Store.Attempts(t.Context(), []hook.Delivery{d})
			if err != nil || len(attempts) != 1 {
				t.Fatalf("%d attempts, %v", len(attempts), err)
			}
			if want := start.Add(tt.want); !attempts[0].NextAttemptAt.Equal(want) || d.Last.Error != "The endpoint answered."+tt.note {
				t.Errorf("next attempt at %v, and the history says %q; want %v, and the note %q", attempts[0].NextAttemptAt, d.Last.Error, want, tt.note)
			}
			if got, want := w.Circuit(e).ThrottledUntil, start.Add(tt.held); tt.held > 0 && !got.Equal(want) {
				t.Errorf("the endpoint is left alone until %v; want %v", got, want)
			}
		})
	}
}

func TestProcessBatch_TaskOlderThanMaxAgeExpires(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		late  time.Duration
		state hook.State
	}{
		{name: "exactly max_age old", late: time.Hour, state: hook.StateDelivered},
		{name: "a millisecond older", late: time.Hour + time.Millisecond, state: hook.StateDead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.MaxAge = time.Hour }))[0]
			w.Clock.Until(start.Add(tt.late))
			w.Run()
			d := w.Delivery(id)
			if d.State != tt.state {
				t.Errorf("delivery is %s; want %s", d.State, tt.state)
			}
			if tt.state == hook.StateDead && (d.Reason != hook.ReasonExpired || d.Attempts != 0 || len(w.DeadLetters.Letters()) != 1) {
				t.Errorf("reason %s, %d attempts, %d letters; want expired, 0, 1", d.Reason, d.Attempts, len(w.DeadLetters.Letters()))
			}
		})
	}
}

// A process dies after it writes that a delivery expired, and before it sends the dead letter.
// When the task returns, it sends the dead letter.
func TestProcessBatch_ExpiredDeliverySendsDeadLetterAfterCrash(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Crash.Arm(1, true)
	id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.MaxAge = time.Hour }))[0]
	w.Clock.Until(start.Add(2 * time.Hour))
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDead || len(w.DeadLetters.Letters()) != 1 {
		t.Errorf("%s with %d letters; want dead with 1", d.State, len(w.DeadLetters.Letters()))
	}
}

// An endpoint answers 410, and its owner changes it before the returning task can disable it.
// The owner's change stands.
func TestProcessBatch_GoneDoesNotOverruleTheOwner(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(410)
	endpoint := w.Endpoint(nil)
	w.Post(endpoint)
	w.Crash.Arm(1, true)
	w.Invoke(hook.QueueLive)

	from := endpoint.URL
	endpoint.URL, endpoint.UpdatedAt = "https://example.com/new", start.Add(time.Second)
	if err := w.Store.MoveEndpoint(t.Context(), endpoint, from); err != nil {
		t.Fatal(err)
	}
	w.Run()
	got, err := w.Store.Endpoint(t.Context(), "acme", endpoint.ID)
	if err != nil || got.Status != hook.StatusActive || len(w.DeadLetters.Letters()) != 1 {
		t.Errorf("endpoint is %s, %v, with %d letters; want active with 1", got.Status, err, len(w.DeadLetters.Letters()))
	}
}

func TestProcessBatch_DeletedEndpointCancels(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(nil)
	id := w.Post(endpoint)[0]
	if err := w.Store.DeleteEndpoint(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateCancelled || d.Reason != hook.ReasonDeleted || len(w.Posts) != 0 {
		t.Errorf("%s %s after %d POSTs; want cancelled endpoint_deleted after 0", d.State, d.Reason, len(w.Posts))
	}
}

// A task of a parked delivery ends the park when the gate admits the attempt.
func TestProcessBatch_ParkedDeliveryResumes(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.Status = hook.StatusPaused })
	id := w.Post(endpoint)[0]
	w.Run()
	w.Enqueue(hook.QueueRetry, w.Delivery(id).NextTask())
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateParked || d.Attempts != 0 {
		t.Errorf("%s after %d attempts; want parked after 0", d.State, d.Attempts)
	}

	endpoint.Status = hook.StatusActive
	if err := w.Store.UpdateEndpoint(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	w.Enqueue(hook.QueueRetry, w.Delivery(id).NextTask())
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 1 {
		t.Errorf("%s after %d attempts; want delivered after 1", d.State, d.Attempts)
	}
}

// A wave sends a task, and then writes the released delivery. If the task is parked again
// before that write, the write must conflict: otherwise the delivery would be retrying without a
// task, and no release would find it. Found by package sim, seed 2655.
func TestProcessBatch_ParkedAgainDuringRelease(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.Status = hook.StatusPaused }))[0]
	w.Run()
	released := w.Delivery(id)
	w.Enqueue(hook.QueueRetry, released.NextTask())
	released.State, released.Reason = hook.StateRetrying, hook.ReasonNone
	w.Run()
	if err := w.Store.SaveDelivery(t.Context(), released, nil); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("the release of what was parked again is written: %v; want a conflict", err)
	}
}

// A task that is sent back to wait keeps its nonce. The queue gives the message to two
// functions; one records the attempt and dies before (b), and the task that the other one sent
// back resumes at (b). Found by package sim, seed 1818.
func TestProcessBatch_DelayedTaskKeepsItsNonce(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.InTurn(503, 200)
	id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.MaxInFlight = 1 }))[0] // moves to the queue slot
	message := w.Queue.Receive(hook.QueueLive, 1)[0]
	batch := []deliver.Message{{ID: message.ID, Body: message.Body}}

	if failed := w.Deliverer().ProcessBatch(w.Context(), batch); len(failed) > 0 {
		t.Fatal("the task was not sent on")
	}
	d := hook.Delivery{
		ID: id.DeliveryID, AcceptedAt: id.AcceptedAt, Tenant: "acme", State: hook.StateRetrying, Attempts: 1, DecidedBy: message.Task.Nonce,
		CreatedAt: w.Clock.Now(), NextAttemptAt: w.Clock.Now().Add(time.Minute),
	}
	if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil { // and the function that made it died here
		t.Fatal(err)
	}
	w.Queue.Delete(message.ID)
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 2 {
		t.Errorf("%s after %d attempts; want delivered after 2", d.State, d.Attempts)
	}
}

// While an endpoint is throttled, its deliveries are parked, even those with a reserved rate
// slot. Otherwise all tasks would arrive together at the end of the throttle. Found by package
// sim, seed 192.
func TestProcessBatch_ThrottledTasksPark(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.RatePerSecond = 1 })
	record := w.Circuit(endpoint)
	record.ThrottledUntil = w.Clock.Now().Add(time.Minute)
	if err := w.Store.SaveCircuit(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	id := w.Post(endpoint)[0]
	w.Queue.Delete(w.Queue.Receive(hook.QueueLive, 1)[0].ID)
	task := hook.NewTask("acme", id, 1)
	task.Reserved = true
	w.Enqueue(hook.QueueRetry, task)
	w.Invoke(hook.QueueRetry)
	if d := w.Delivery(id); d.State != hook.StateParked || d.Reason != hook.ReasonThrottled {
		t.Errorf("the delivery is %s, %s; want parked, throttled", d.State, d.Reason)
	}
	if _, ok := w.Queue.Next(); ok {
		t.Error("a task is left; want none")
	}
}

// A recorded decision without an attempt is resumed, too. Here the function died before it
// completed the settlement of the cancelled replay. Found by package sim, seed 46.
func TestProcessBatch_CancelledResumesFromOwnDecision(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(nil)
	id := w.Post(endpoint)[0]
	message := w.Queue.Receive(hook.QueueLive, 1)[0]
	w.Queue.Delete(message.ID)
	if err := w.Store.DeleteEndpoint(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	old := hook.Delivery{
		ID: id.DeliveryID, AcceptedAt: id.AcceptedAt, Tenant: "acme", State: hook.StateDead, Reason: hook.ReasonExhausted, Attempts: 2, CreatedAt: w.Clock.Now(),
		Replayed: hook.Replayed{Generation: 2, At: w.Clock.Now()},
	}
	next := hook.NewTask("acme", old.Successor(), 1)
	cancelled := hook.Delivery{
		ID: old.Successor().DeliveryID, AcceptedAt: old.Successor().AcceptedAt, Tenant: "acme", State: hook.StateCancelled, Reason: hook.ReasonDeleted, DecidedBy: next.Nonce, CreatedAt: w.Clock.Now(),
	}
	for _, d := range []hook.Delivery{old, cancelled} {
		if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.Enqueue(hook.QueueRetry, next)
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDiscarded {
		t.Errorf("the delivery that was replayed is %s; want discarded", d.State)
	}
}

func TestProcessBatch_BadRecordDoesNotFailItsNeighbours(t *testing.T) {
	t.Parallel()

	w := setup(t)
	good := w.Post(w.Endpoint(nil))[0]
	broken := w.Endpoint(func(e *hook.Endpoint) { e.Secrets[0].Sealed = []byte("not sealed by anyone") })
	w.Post(broken)
	panics := w.Endpoint(nil)
	w.Answer = func(r send.Request) hook.Outcome {
		if r.Endpoint.ID == panics.ID {
			panic("a bug")
		}
		return world.Always(200)(r)
	}
	w.Post(panics)

	messages := batchOf(w.Queue.Receive(hook.QueueLive, 10)...)
	foreign, err := hook.NewTask("other", good, 1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := good
	elsewhere.Endpoint = w.Endpoint(nil).ID
	stray, err := hook.NewTask("acme", elsewhere, 1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	messages = append(messages, deliver.Message{ID: "garbage", Body: "{"}, deliver.Message{ID: "foreign", Body: foreign}, deliver.Message{ID: "stray", Body: stray})
	// The task of another tenant names the same attempt as a valid one, and comes first here.
	messages[0], messages[4] = messages[4], messages[0]

	failed := w.Deliverer().ProcessBatch(w.Context(), messages[1:])
	if diff := cmp.Diff([]string{"2", "3", "garbage", "stray"}, failed); diff != "" {
		t.Errorf("failed differ (-want +got):\n%s", diff)
	}
	if d := w.Delivery(good); d.State != hook.StateDelivered {
		t.Errorf("good neighbour is %s; want delivered", d.State)
	}
	if failed := w.Deliverer().ProcessBatch(w.Context(), messages[:1]); len(failed) != 1 {
		t.Errorf("a task of another tenant: failed = %v; want it to come again", failed)
	}
}

// panickingGate panics about two endpoints.
type panickingGate struct {
	deliver.Gate

	ask, done hook.EndpointID
}

func (g *panickingGate) Ask(ctx context.Context, q admission.Query) (*admit.Permits, error) {
	if q.Record.Endpoint == g.ask {
		panic("a bug")
	}
	return g.Gate.Ask(ctx, q)
}

func (g *panickingGate) Done(ctx context.Context, p *admit.Permits, ended []admit.Ended) error {
	if p.Query.Record.Endpoint == g.done {
		panic("a bug")
	}
	return g.Gate.Done(ctx, p, ended)
}

// A bug in the gate about one endpoint fails its tasks alone, and one after the attempt fails none.
func TestProcessBatch_APanicOfTheGate(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ask, done := w.Endpoint(nil), w.Endpoint(nil)
	w.Post(ask)
	settled := w.Post(done)[0]
	good := w.Post(w.Endpoint(nil))[0]
	messages := batchOf(w.Queue.Receive(hook.QueueLive, 10)...)
	process := w.Deliverer()
	process.Gate = &panickingGate{process.Gate, ask.ID, done.ID}
	if diff := cmp.Diff([]string{messages[0].ID}, process.ProcessBatch(w.Context(), messages)); diff != "" {
		t.Errorf("failed differ (-want +got):\n%s", diff)
	}
	if a, b := w.Delivery(good).State, w.Delivery(settled).State; a != hook.StateDelivered || b != hook.StateDelivered {
		t.Errorf("the neighbour is %s, the one of which Done panics %s; want both delivered", a, b)
	}
	if failed := w.Deliverer().ProcessBatch(w.Context(), messages); len(failed) > 0 || len(w.Posts) != 3 {
		t.Errorf("the same messages again: %v failed, %d requests in all; want none, and 3", failed, len(w.Posts))
	}
}

func TestProcessBatch_RunsRecordsConcurrently(t *testing.T) {
	t.Parallel()

	w := setup(t)
	const n = 10
	var arrived sync.WaitGroup
	arrived.Add(n)
	w.Answer = func(r send.Request) hook.Outcome {
		arrived.Done()
		arrived.Wait() // no request is answered before all are in flight
		return world.Always(200)(r)
	}
	for range n {
		w.Post(w.Endpoint(nil))
	}
	if received, failed := w.Invoke(hook.QueueLive); received != n || failed != 0 {
		t.Errorf("received %d, failed %d; want %d, 0", received, failed, n)
	}
}

func TestProcessBatch_LeavesTimeToSettle(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Post(w.Endpoint(nil))
	m := w.Queue.Receive(hook.QueueLive, 1)[0]
	body, err := m.Task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	need := hook.DefaultTimeout + 5*time.Second
	ctx := invocation{w.Context(), w.Clock.Now().Add(need - 1)}
	if failed := w.Deliverer().ProcessBatch(ctx, []deliver.Message{{ID: m.ID, Body: body}}); len(failed) != 1 || len(w.Posts) != 0 {
		t.Errorf("failed %v after %d POSTs; want the message to come again untried", failed, len(w.Posts))
	}
	ctx = invocation{w.Context(), w.Clock.Now().Add(need)}
	if failed := w.Deliverer().ProcessBatch(ctx, []deliver.Message{{ID: m.ID, Body: body}}); failed != nil || len(w.Posts) != 1 {
		t.Errorf("failed %v after %d POSTs; want it tried with just enough time", failed, len(w.Posts))
	}
}

// invocation is a context whose deadline is on the world's clock.
type invocation struct {
	context.Context //nolint:containedctx // it is one
	deadline        time.Time
}

func (i invocation) Deadline() (time.Time, bool) { return i.deadline, true }

type brokenGate struct{ deliver.Gate }

func (brokenGate) Ask(context.Context, admission.Query) (*admit.Permits, error) {
	return nil, errors.New("no answer")
}

func TestProcessBatch_FailingGatePostponesAll(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Gate = brokenGate{}
	endpoint := w.Endpoint(nil)
	w.Post(endpoint)
	w.Post(endpoint)
	if received, failed := w.Invoke(hook.QueueLive); received != 2 || failed != 2 || len(w.Posts) != 0 {
		t.Errorf("received %d, failed %d, %d POSTs; want 2, 2, 0", received, failed, len(w.Posts))
	}
}

// An error of the gate's Done does not affect the deliveries.
func TestProcessBatch_FailingGateDonePostponesNone(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Gate = deafGate{w.Deliverer().Gate}
	id := w.Post(w.Endpoint(nil))[0]
	if received, failed := w.Invoke(hook.QueueLive); received != 1 || failed != 0 || w.Delivery(id).State != hook.StateDelivered {
		t.Errorf("received %d, failed %d, delivery %s; want 1, 0, delivered", received, failed, w.Delivery(id).State)
	}
}

type deafGate struct{ deliver.Gate }

func (deafGate) Done(context.Context, *admit.Permits, []admit.Ended) error {
	return errors.New("no answer")
}

func TestProcessBatch_ClosesAndOpensCircuits(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(503)
	endpoint := w.Endpoint(nil)
	for range 5 {
		w.Post(endpoint)
		w.Invoke(hook.QueueLive)
	}
	if len(w.Checks) != 1 || w.Checks[0].Endpoint != endpoint.ID {
		t.Fatalf("asks = %v; want one for a probe of %s", w.Checks, endpoint.ID)
	}
	var parked []hook.DeliveryRef
	for range 3 {
		parked = append(parked, w.Post(endpoint)...)
	}
	w.Invoke(hook.QueueLive)
	if len(w.Posts) != 5 {
		t.Errorf("%d POSTs; want none after the fifth", len(w.Posts))
	}
	for _, id := range parked {
		if d := w.Delivery(id); d.State != hook.StateParked || d.Reason != hook.ReasonCircuit || d.Attempts != 0 {
			t.Errorf("%s is %s %s after %d attempts; want parked circuit_open after 0", id, d.State, d.Reason, d.Attempts)
		}
	}

	// After the cooldown, the task that the breaker sends is the only probe.
	w.Answer = world.Always(200)
	w.Clock.Until(start.Add(hook.DefaultCooldown))
	probe := w.Delivery(parked[1]).NextTask()
	probe.Probe = true
	w.Enqueue(hook.QueueRetry, hook.NewTask("acme", parked[0], 1), probe)
	w.InvokeAll() // the retries of the first five came due meanwhile
	if d := w.Delivery(parked[1]); len(w.Posts) != 6 || d.State != hook.StateDelivered {
		t.Errorf("%d POSTs, and the probe is %s; want one more, the probe", len(w.Posts), d.State)
	}
	if last := w.Checks[len(w.Checks)-1]; len(w.Checks) != 2 || last.Wave != 1 {
		t.Errorf("asks = %v; want a second one, for wave 1", w.Checks)
	}
}

// Above the rate tasks wait on the queue, each for a rate slot of its own.
func TestProcessBatch_DelayedTasksKeepTheirSlot(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.RatePerSecond = 0.5 })
	for range 3 {
		w.Post(endpoint)
	}
	w.Invoke(hook.QueueLive)
	if len(w.Posts) != 1 {
		t.Fatalf("%d POSTs at once; want 1", len(w.Posts))
	}
	for range 2 {
		at, _ := w.Queue.Next()
		w.Clock.Until(at)
		w.Invoke(hook.QueueRetry)
	}
	if _, left := w.Queue.Next(); left || len(w.Posts) != 3 || w.Clock.Now().Sub(start) != 4*time.Second {
		t.Errorf("%d POSTs after %v, tasks left: %t; want 3 after 4 s, each delayed once", len(w.Posts), w.Clock.Now().Sub(start), left)
	}
}

// racingStore calls race, which makes a concurrent write, between the read and the first write.
type racingStore struct {
	store
	once sync.Once
	race func()
}

func (s *racingStore) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	s.once.Do(s.race)
	return s.store.SaveDelivery(ctx, d, a)
}

func TestProcessBatch_SettlesOnConcurrentWrites(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		race     func(d *hook.Delivery)
		state    hook.State
		attempts int
		tasks    int // left on the queue
	}{
		{name: "a duplicate delivered it", race: func(d *hook.Delivery) {
			d.State, d.Attempts, d.DecidedBy = hook.StateDelivered, 1, "other"
		}, state: hook.StateDelivered, attempts: 1, tasks: 0},
		{name: "someone cancelled it", race: func(d *hook.Delivery) { d.State = hook.StateCancelled }, state: hook.StateCancelled, attempts: 0, tasks: 0},
		{name: "a duplicate parked it", race: func(d *hook.Delivery) {
			d.State, d.Reason, d.DecidedBy = hook.StateParked, hook.ReasonPaused, "other"
		}, state: hook.StateRetrying, attempts: 1, tasks: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(503)
			id := w.Post(w.Endpoint(nil))[0]
			event, err := w.Store.Event(t.Context(), id.Event)
			if err != nil {
				t.Fatal(err)
			}
			m := w.Queue.Receive(hook.QueueLive, 1)[0]
			body, err := m.Task.Encode()
			if err != nil {
				t.Fatal(err)
			}
			d := w.Deliverer()
			writeTo(d, &racingStore{store: w.Store, race: func() {
				theirs := hook.QueuedDelivery(event, hook.Target{Endpoint: id.Endpoint, Shards: 1})
				tt.race(&theirs)
				if err := w.Store.SaveDelivery(t.Context(), theirs, nil); err != nil {
					t.Errorf("SaveDelivery() = %v", err)
				}
			}})
			if failed := d.ProcessBatch(w.Context(), []deliver.Message{{ID: m.ID, Body: body}}); failed != nil {
				t.Errorf("Batch() = %v; want none failed", failed)
			}
			w.Queue.Delete(m.ID)
			w.Clock.Until(start.Add(time.Hour))
			if got := w.Delivery(id); got.State != tt.state || got.Attempts != tt.attempts || len(w.Posts) != 1 {
				t.Errorf("%s after %d attempts, %d POSTs; want %s after %d, 1", got.State, got.Attempts, len(w.Posts), tt.state, tt.attempts)
			}
			if left := w.Queue.Receive(hook.QueueRetry, 10); len(left) != tt.tasks {
				t.Errorf("%d tasks are left; want %d", len(left), tt.tasks)
			}
		})
	}
}

// forgetfulStore loses the response to the first write.
type forgetfulStore struct {
	store
	once sync.Once
}

func (s *forgetfulStore) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	err := s.store.SaveDelivery(ctx, d, a)
	s.once.Do(func() { err = hook.Conflict("the write was sent again by the SDK") })
	return err
}

func TestProcessBatch_RecognisesItsOwnWrite(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.InTurn(503, 200)
	id := w.Post(w.Endpoint(nil))[0]
	m := w.Queue.Receive(hook.QueueLive, 1)[0]
	body, err := m.Task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d := w.Deliverer()
	writeTo(d, &forgetfulStore{store: w.Store})
	if failed := d.ProcessBatch(w.Context(), []deliver.Message{{ID: m.ID, Body: body}}); failed != nil {
		t.Errorf("Batch() = %v; want none failed", failed)
	}
	w.Queue.Delete(m.ID)
	w.Run()
	if got := w.Delivery(id); got.State != hook.StateDelivered || got.Attempts != 2 {
		t.Errorf("%s after %d attempts; want delivered after 2: the next task was sent", got.State, got.Attempts)
	}
}
