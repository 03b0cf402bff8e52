package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

var asked = replay.Request{By: "key_0000000000000001"}

func forced(o replay.Request) replay.Request {
	o.Force = true
	return o
}

func TestDelivery(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		state  hook.State
		kept   bool // the breaker recorded the queued delivery
		force  bool
		want   hook.Code // 0: no error
		next   int       // returned generation
		record string    // state of the requested delivery
	}{
		{name: "a dead delivery is replayed", state: hook.StateDead, force: false, want: 0, next: 2, record: "1 dead exhausted"},
		{name: "a delivered delivery is replayed", state: hook.StateDelivered, force: false, want: 0, next: 2, record: "1 delivered"},
		{name: "a discarded delivery is replayed", state: hook.StateDiscarded, force: false, want: 0, next: 2, record: "1 discarded manual"},
		{name: "a cancelled delivery is replayed", state: hook.StateCancelled, force: false, want: 0, next: 2, record: "1 cancelled manual"},
		{name: "a parked delivery is in progress", state: hook.StateParked, force: false, want: hook.CodeInProgress, next: 0, record: "1 parked paused"},
		{name: "a retrying delivery is in progress", state: hook.StateRetrying, force: false, want: hook.CodeInProgress, next: 0, record: "1 retrying"},
		{name: "a queued delivery is in progress", state: hook.StateQueued, force: false, want: hook.CodeInProgress, next: 0, record: "1 none"},
		{name: "a recorded queued delivery is in progress", state: hook.StateQueued, kept: true, force: false, want: hook.CodeInProgress, next: 0, record: "1 queued"},
		{name: "force sends the task of a recorded queued delivery again", state: hook.StateQueued, kept: true, force: true, want: 0, next: 1, record: "1 queued"},
		{name: "force cancels a parked delivery", state: hook.StateParked, force: true, want: 0, next: 2, record: "1 cancelled replayed"},
		{name: "force cancels a retrying delivery", state: hook.StateRetrying, force: true, want: 0, next: 2, record: "1 cancelled replayed"},
		{name: "force sends the task of a queued delivery again", state: hook.StateQueued, force: true, want: 0, next: 1, record: "1 none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			ids := w.past(w.Endpoint(nil), tt.state, 1)
			if tt.kept {
				w.keep(ids[0])
			}
			d, err := w.Replayer().Delivery(w.Context(), "acme", ids[0].DeliveryID, replay.Request{By: asked.By, Force: tt.force})
			if got := w.states(ids, 1); got != tt.record {
				t.Errorf("the record is %s; want %s", got, tt.record)
			}
			tasks := w.Queue.Receive(hook.QueueReplay, 10)
			if tt.want != 0 {
				if hook.CodeOf(err) != tt.want || len(tasks) > 0 {
					t.Errorf("Delivery() = %v and %d tasks; want %s and none", err, len(tasks), tt.want)
				}
				return
			}
			if err != nil || d.ID.Generation != tt.next || d.State != hook.StateQueued {
				t.Fatalf("Delivery() = %s of generation %d, %v; want queued of %d", d.State, d.ID.Generation, err, tt.next)
			}
			if len(tasks) != 1 || tasks[0].Task.Delivery != d.Ref() || tasks[0].Task.Attempt != 1 {
				t.Fatalf("tasks = %+v; want one of attempt 1 of %s", tasks, d.ID)
			}
			if tt.next == 2 && (d.By != asked.By || tasks[0].Task.ReplayRequest.By != asked.By || !d.CreatedAt.Equal(start)) {
				t.Errorf("%+v with task %+v; want them by %s, of now", d, tasks[0].Task, asked.By)
			}
			_, err = w.Replayer().Delivery(w.Context(), "acme", ids[0].DeliveryID, asked)
			if want := map[int]hook.Code{1: hook.CodeInProgress, 2: hook.CodeReplayed}[tt.next]; hook.CodeOf(err) != want {
				t.Errorf("asked again: %v; want %s", err, want)
			}
			_, err = w.Replayer().Delivery(w.Context(), "acme", d.ID, asked)
			if hook.CodeOf(err) != hook.CodeInProgress {
				t.Errorf("asked for the new one: %v; want in progress", err)
			}
			if again, err := w.Replayer().Delivery(w.Context(), "acme", d.ID, forced(asked)); err != nil || again.ID != d.ID {
				t.Errorf("asked for the new one with force: %s, %v; want itself", again.ID, err)
			}
		})
	}
}

func TestDelivery_Unknown(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e, gone := w.Endpoint(nil), w.Endpoint(nil)
	id, orphan := w.past(e, hook.StateDead, 1)[0], w.past(gone, hook.StateDead, 1)[0]
	if err := w.Store.DeleteEndpoint(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	otherEvent, otherEndpoint := id, id
	otherEvent.Event, otherEndpoint.Endpoint = "evt_01h455vb4pex5vsknk084sn02q", hook.NewEndpointID()
	second, third := id, id
	second.Generation, third.Generation = 2, 3
	tests := []struct {
		name   string
		tenant hook.TenantID
		id     hook.DeliveryRef
		want   hook.Code
	}{
		{name: "another tenant's", tenant: "other", id: id, want: hook.CodeNotFound},
		{name: "of no event", tenant: "acme", id: otherEvent, want: hook.CodeNotFound},
		{name: "of an endpoint without the event", tenant: "acme", id: otherEndpoint, want: hook.CodeNotFound},
		{name: "the next generation, before a replay", tenant: "acme", id: second, want: hook.CodeNotFound},
		{name: "the generation after the next", tenant: "acme", id: third, want: hook.CodeNotFound},
		{name: "of a deleted endpoint", tenant: "acme", id: orphan, want: hook.CodeConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if _, err := w.Replayer().Delivery(w.Context(), tt.tenant, tt.id.DeliveryID, forced(asked)); hook.CodeOf(err) != tt.want {
				t.Errorf("Delivery(%s) = %v; want %s", tt.id, err, tt.want)
			}
		})
	}
}

func TestDelivery_RecordsOnlySentTasks(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.past(w.Endpoint(nil), hook.StateDead, 1)[0]
	refusal := &hook.Error{Code: hook.CodeUnavailable, Message: "no queue"}
	w.Calls.Refuse = func(int, hook.Task) error { return refusal }
	if _, err := w.Replayer().Delivery(w.Context(), "acme", id.DeliveryID, asked); !errors.Is(err, refusal) {
		t.Errorf("Delivery() = %v; want %v", err, refusal)
	}
	if d := w.Delivery(id); d.Replayed.Generation != 0 || d.Version != 1 {
		t.Errorf("record = %+v; want an unchanged record", d)
	}
}

// TestDelivery_ConcurrentRequests makes a second request after the task of the first is sent,
// and before it is recorded. There is one generation, one POST, and one refused request.
func TestDelivery_ConcurrentRequests(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 1)
	w.Calls.Before("write delivery", func() {
		if _, err := w.Replayer().Delivery(w.Context(), "acme", ids[0].DeliveryID, replay.Request{By: "key_0000000000000002"}); err != nil {
			t.Errorf("second Delivery() = %v", err)
		}
	})
	if _, err := w.Replayer().Delivery(w.Context(), "acme", ids[0].DeliveryID, asked); hook.CodeOf(err) != hook.CodeReplayed {
		t.Errorf("Delivery() = %v; want replayed", err)
	}
	w.Run()
	if got := w.states(ids, 2); got != "1 delivered" || len(w.PostsOf()) != 1 || w.Delivery(ids[0]).Replayed.By != "key_0000000000000002" {
		t.Errorf("the new generation is %s after POSTs %v; want delivered after one", got, w.PostsOf())
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()

	w := setup(t)
	dead, parked, queued, again, gone := w.Endpoint(nil), w.Endpoint(nil), w.Endpoint(nil), w.Endpoint(nil), w.Endpoint(nil)
	e := w.Event("order.paid", start, dead, parked, queued, again, gone)
	for target, state := range map[hook.EndpointID]hook.State{
		dead.ID: hook.StateDead, parked.ID: hook.StateParked, again.ID: hook.StateDelivered, gone.ID: hook.StateDead,
	} {
		d := hook.QueuedDelivery(e, hook.Target{Endpoint: target, Shards: 1})
		d.State = state
		w.Save(d)
	}
	if _, err := w.Replayer().Delivery(w.Context(), "acme", hook.DeliveryID{Event: e.ID, Endpoint: again.ID, Generation: 1}, asked); err != nil {
		t.Fatal(err)
	}
	w.Run() // the second generation of again is delivered
	if err := w.Store.DeleteEndpoint(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	results, err := w.Replayer().Event(w.Context(), "acme", e.ID, asked)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		generation int
		code       hook.Code
	}
	var got []line
	for i, r := range results {
		l := line{generation: r.Delivery.ID.Generation}
		if r.Err != nil {
			l.code = hook.CodeOf(r.Err)
		}
		if r.Delivery.ID.Endpoint != e.Targets[i].Endpoint {
			t.Errorf("result %d is of %s; want %s", i, r.Delivery.ID.Endpoint, e.Targets[i].Endpoint)
		}
		got = append(got, l)
	}
	want := []line{{generation: 2, code: 0}, {generation: 1, code: hook.CodeInProgress}, {generation: 1, code: hook.CodeInProgress}, {generation: 3, code: 0}, {generation: 1, code: hook.CodeConflict}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("Event() (-want +got):\n%s", diff)
	}
	if _, err := w.Replayer().Event(w.Context(), "other", e.ID, asked); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("Event() of another tenant = %v; want not found", err)
	}
}

func TestDiscardAndCancel(t *testing.T) {
	t.Parallel()

	tests := []struct {
		state           hook.State
		discard, cancel bool // permitted
	}{
		{state: hook.StateQueued, discard: false, cancel: true},
		{state: hook.StateRetrying, discard: false, cancel: true},
		{state: hook.StateParked, discard: false, cancel: true},
		{state: hook.StateDelivered, discard: false, cancel: false},
		{state: hook.StateDead, discard: true, cancel: false},
		{state: hook.StateDiscarded, discard: true, cancel: false}, // already discarded by hand
		{state: hook.StateCancelled, discard: false, cancel: true},
	}
	for _, tt := range tests {
		t.Run("a delivery that is "+tt.state.String(), func(t *testing.T) {
			t.Parallel()

			for _, discard := range []bool{true, false} {
				w := setup(t)
				id := w.past(w.Endpoint(nil), tt.state, 1)[0]
				w.Clock.Until(start.Add(time.Minute))
				end, can, to := w.Replayer().Cancel, tt.cancel, hook.StateCancelled
				if discard {
					end, can, to = w.Replayer().Discard, tt.discard, hook.StateDiscarded
				}
				d, err := end(w.Context(), "acme", id.DeliveryID, asked.By, "known outage")
				if !can {
					if hook.CodeOf(err) != hook.CodeConflict || !strings.Contains(err.Error(), tt.state.String()) {
						t.Errorf("discard %t = %v; want a conflict with %s", discard, err, tt.state)
					}
					continue
				}
				if err != nil || d.State != to || d.Reason != hook.ReasonManual {
					t.Errorf("discard %t = %s %s, %v; want %s by hand", discard, d.State, d.Reason, err, to)
				}
				if diff := cmp.Diff(w.Delivery(id), d); diff != "" {
					t.Errorf("returned delivery (-stored +returned):\n%s", diff)
				}
				if tt.state != to && (d.By != asked.By || d.Note != "known outage" || d.DecidedBy == "" || !d.UpdatedAt.Equal(start.Add(time.Minute))) {
					t.Errorf("discard %t = %+v; want By, Note and UpdatedAt", discard, d)
				}
			}
		})
	}
}

func TestCancel_StopsTheTaskOfAQueuedDelivery(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.past(w.Endpoint(nil), hook.StateQueued, 1)[0]
	if errs := w.Queue.Send(t.Context(), hook.QueueLive, []hook.Task{hook.NewTask("acme", id, 1)}, 0); errs != nil {
		t.Fatal(errs)
	}
	if _, err := w.Replayer().Cancel(w.Context(), "acme", id.DeliveryID, asked.By, ""); err != nil {
		t.Fatal(err)
	}
	w.Run()
	if len(w.PostsOf()) != 0 || w.Delivery(id).State != hook.StateCancelled {
		t.Errorf("%d POSTs, the delivery is %s; want none and cancelled", len(w.PostsOf()), w.Delivery(id).State)
	}
}

// TestCancel_DecidesAgainAfterAConflict changes the delivery between the read and the write.
func TestCancel_DecidesAgainAfterAConflict(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		to   hook.State
		want hook.Code
	}{
		{name: "delivered meanwhile: a conflict", to: hook.StateDelivered, want: hook.CodeConflict},
		{name: "parked meanwhile: cancelled", to: hook.StateParked, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.past(w.Endpoint(nil), hook.StateRetrying, 1)[0]
			w.Calls.Before("write delivery", func() {
				d := w.Delivery(id)
				d.State, d.Reason = tt.to, hook.ReasonNone
				w.Save(d)
			})
			d, err := w.Replayer().Cancel(w.Context(), "acme", id.DeliveryID, asked.By, "")
			if tt.want != 0 && hook.CodeOf(err) != tt.want || tt.want == 0 && (err != nil || d.State != hook.StateCancelled) {
				t.Errorf("Cancel() = %s, %v; want code %d", d.State, err, tt.want)
			}
		})
	}
}

// The client repeats a write whose response was lost, and finds its own write. The audit record
// still shows the change, once. If somebody else ended the delivery, this call changed nothing.
func TestCancel_ReportsItsOwnWrite(t *testing.T) {
	t.Parallel()

	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprintf("another cancels first: %t", other), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.past(w.Endpoint(nil), hook.StateRetrying, 1)[0]
			w.Calls.Lose("write delivery")
			if other {
				w.Calls.Lose("")
				w.Calls.Before("write delivery", func() {
					d := w.Delivery(id)
					d.State, d.Reason, d.By, d.UpdatedAt = hook.StateCancelled, hook.ReasonManual, "key_0000000000000002", w.Clock.Now()
					w.Save(d)
				})
			}
			r, ended := w.Replayer(), []string(nil)
			r.Ended = func(before, after hook.Delivery) {
				ended = append(ended, before.State.String()+" to "+after.State.String())
			}
			d, err := r.Cancel(w.Context(), "acme", id.DeliveryID, asked.By, "")
			if err != nil || d.State != hook.StateCancelled {
				t.Fatalf("Cancel() = %s, %v; want cancelled", d.State, err)
			}
			want := []string{"retrying to cancelled"}
			if other {
				want = nil
			}
			if diff := cmp.Diff(want, ended); diff != "" {
				t.Errorf("ended (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiscard_RefusesLongNotes(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.past(w.Endpoint(nil), hook.StateDead, 1)[0]
	_, err := w.Replayer().Discard(w.Context(), "acme", id.DeliveryID, asked.By, strings.Repeat("n", hook.MaxNote+1))
	if fault, ok := errors.AsType[*hook.Error](err); !ok || fault.Code != hook.CodeInvalid || fault.Fields[0].Field != "note" {
		t.Errorf("Discard() = %v; want invalid note", err)
	}
}

// TestDelivery_ForcedCountsTheCancelled forces a replay of a delivery of a job. The
// job counts the replayed delivery as cancelled.
func TestDelivery_ForcedCountsTheCancelled(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Status(func(r send.Request) int {
		if r.Delivery.Generation == 2 {
			return 503
		}
		return 200
	})
	ids := w.past(w.Endpoint(nil), hook.StateDead, 1)
	j := w.start(replay.JobRequest{})
	w.Clock.Until(start.Add(time.Second))
	w.Work()
	w.Invoke(hook.QueueReplay) // the delivery is retrying
	d, err := w.Replayer().Delivery(w.Context(), "acme", ids[0].Successor().DeliveryID, forced(asked))
	if err != nil || d.ID.Generation != 3 {
		t.Fatalf("Delivery() = generation %d, %v; want 3", d.ID.Generation, err)
	}
	if diff := cmp.Diff(replay.Outcomes{Cancelled: 1}, w.job(j.ID).Outcomes); diff != "" {
		t.Errorf("counts of the job (-want +got):\n%s", diff)
	}
	w.Run()
	if first, third := w.states(ids, 1), w.states(ids, 3); first != "1 discarded replayed" || third != "1 delivered" {
		t.Errorf("the first generation is %s, the third %s; want discarded and delivered", first, third)
	}
}
