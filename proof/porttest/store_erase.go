package porttest

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func eraseCases() []storeCase {
	return []storeCase{
		{name: "an erased event has no payload and keeps all else", run: eraseEvent},
		{name: "the erasure of another event with the id is a conflict", run: eraseOtherEvent},
		{name: "the mark of an erased delivery comes back", run: eraseMark},
		{name: "erased attempts have no bodies and keep all else", run: eraseAttempts},
	}
}

func eraseEvent(t *testing.T, s StoreUnderTest) {
	e := sampleEvent(t)
	check(t, s.PutEvent(t.Context(), e))
	e.ErasedAt = storeEpoch().Add(time.Hour)
	check(t, s.EraseEvent(t.Context(), e))
	again := e
	again.ErasedAt = storeEpoch().Add(2 * time.Hour)
	check(t, s.EraseEvent(t.Context(), again)) // the first time stays

	e.Payload = nil
	got, err := s.Event(t.Context(), e.ID)
	wantSame(t, "Event(erased)", e, got, err)
	task := hook.NewTask(e.Tenant, hook.QueuedDelivery(e, e.Targets[0]).Ref(), 1)
	loaded, err := s.Load(t.Context(), []hook.Task{task})
	wantSame(t, "Load(erased)", &e, loaded.Events[e.ID], err)
}

func eraseOtherEvent(t *testing.T, s StoreUnderTest) {
	e := sampleEvent(t)
	e.ErasedAt = storeEpoch()
	wantCode(t, "EraseEvent(unknown)", s.EraseEvent(t.Context(), e), hook.CodeConflict)
	_, err := s.Event(t.Context(), e.ID)
	wantCode(t, "Event(unknown)", err, hook.CodeNotFound)

	e.ErasedAt = time.Time{}
	check(t, s.PutEvent(t.Context(), e))
	other := e
	other.AcceptedAt, other.ErasedAt = e.AcceptedAt.Add(time.Millisecond), storeEpoch()
	wantCode(t, "EraseEvent(accepted at another time)", s.EraseEvent(t.Context(), other), hook.CodeConflict)
	got, err := s.Event(t.Context(), e.ID)
	wantSame(t, "Event()", e, got, err)
}

func eraseMark(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(sampleEvent(t).ID, hook.NewEndpointID(), 1).Erase(storeEpoch())
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d.Version++
	got, err := s.Delivery(t.Context(), d.Ref())
	wantSame(t, "Delivery(erased)", d, got, err)
	if !got.Erased || got.Last.Body != nil {
		t.Errorf("Delivery() = %+v; want the mark and no body", got)
	}
}

func eraseAttempts(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(sampleEvent(t).ID, hook.NewEndpointID(), 1)
	other := sampleDelivery(d.ID.Event, hook.NewEndpointID(), 1)
	d.State, other.State = hook.StateRetrying, hook.StateRetrying
	var want []hook.Attempt
	for _, a := range []hook.Attempt{sampleAttempt(d.Ref(), 1), sampleAttempt(d.Ref(), 2)} {
		d = attempted(t, s, d, a)
		want = append(want, a)
	}
	kept := sampleAttempt(other.Ref(), 1)
	other = attempted(t, s, other, kept)
	// The failure of another task of the attempt was recorded before the success.
	late := sampleDelivery(d.ID.Event, hook.NewEndpointID(), 1)
	late.State = hook.StateRetrying
	failure := sampleAttempt(late.Ref(), 1)
	late = attempted(t, s, late, failure)
	late.State = hook.StateDelivered
	check(t, s.SaveDelivery(t.Context(), late, nil))
	late.Version++
	stale := d
	for _, erased := range []*hook.Delivery{&d, &late} {
		*erased = erased.Erase(storeEpoch())
		check(t, s.SaveDelivery(t.Context(), *erased, nil))
		erased.Version++
	}
	for range 2 {
		check(t, s.EraseAttempts(t.Context(), d))
		check(t, s.EraseAttempts(t.Context(), late))
	}
	// A process that read the delivery before cannot bring the body back.
	third := sampleAttempt(d.Ref(), 3)
	third.Outcome.Body = noise(3, 1400) // others leave the record for it
	stale.Attempts = 3
	wantCode(t, "SaveDelivery(read before the erasure)", s.SaveDelivery(t.Context(), stale, &third), hook.CodeConflict)
	d.Recent = nil
	failure.Outcome.Headers, failure.Outcome.Sent = nil, nil
	late.State, failure.Outcome.Body = hook.StateRetrying, nil // a state whose attempts are read
	erased, err := s.Attempts(t.Context(), []hook.Delivery{late})
	wantSame(t, "Attempts(erased, of a late success)", []hook.Attempt{failure}, erased, err)
	for i := range want {
		if len(want[i].Outcome.Body) == 0 {
			t.Fatal("the sample has no body")
		}
		want[i].Outcome.Body, want[i].Outcome.Headers, want[i].Outcome.Sent = nil, nil, nil
	}
	got, err := s.Attempts(t.Context(), []hook.Delivery{d})
	wantSame(t, "Attempts(erased)", want, got, err)
	rest, err := s.Attempts(t.Context(), []hook.Delivery{other})
	wantSame(t, "Attempts(of another delivery)", []hook.Attempt{kept}, rest, err)
}
