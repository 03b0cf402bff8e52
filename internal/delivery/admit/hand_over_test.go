package admit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

// Two attempts end while another one of the endpoint is in flight. Their slots go to parked
// deliveries, or are given back.
func TestHandOver_ClaimsTheEndedSlots(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(e *hook.Endpoint, r *admission.Record)
		parked int
		sent   string
	}{
		{name: "to as many deliveries", change: func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 3 }, parked: 5, sent: "0 1"},
		{name: "and further free slots, too", parked: 9, sent: "0 1 2 3"},
		{name: "to fewer deliveries", parked: 1, sent: "0"},
		{name: "to none", parked: 0},
		{name: "not above a lowered limit", change: func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 2 }, parked: 5, sent: "0"},
		{name: "not above a limit in use", change: func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 1 }, parked: 5},
		{name: "not of a paused endpoint", change: func(e *hook.Endpoint, _ *admission.Record) { e.Status = hook.StatusPaused }, parked: 5},
		{name: "not with an open circuit", change: func(_ *hook.Endpoint, r *admission.Record) { open(r) }, parked: 5},
		{name: "not within a throttle", change: func(_ *hook.Endpoint, r *admission.Record) { r.ThrottledUntil = start.Add(time.Millisecond) }, parked: 5},
		{name: "not of an endpoint that became fast: in waves", change: func(_ *hook.Endpoint, r *admission.Record) { fast(r) }, parked: 5},
		{name: "not when nothing is known to wait", change: func(_ *hook.Endpoint, r *admission.Record) { r.Waiting = false }, parked: 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setupSlots(t, tt.change)
			w.park(make([]int, tt.parked)...)
			held := []admission.Held{w.lease(-1, time.Minute), w.lease(-2, time.Minute)}
			w.lease(-3, time.Minute)
			if err := w.handOver(held); err != nil || w.sent() != tt.sent {
				t.Errorf("HandOver() = %v, and sent %q; want %q", err, w.sent(), tt.sent)
			}
			leases := w.limits().Leases
			for _, h := range held {
				if _, kept := leases[h.Key]; kept {
					t.Errorf("the ended lease %s is kept", h.Key)
				}
			}
			if want := 1 + len(w.queue.sent); len(leases) != want {
				t.Errorf("%d leases; want %d: of the attempt in flight and of the claims", len(leases), want)
			}
			if len(w.circuits.checks) > 0 {
				t.Errorf("checks %v; want none beside an attempt in flight", w.circuits.checks)
			}
		})
	}
}

// The leases of a copy of the task, and of another task of the delivery, stay.
func TestHandOver_KeepsTheLeaseOfAnotherTask(t *testing.T) {
	t.Parallel()

	for _, change := range []func(h *admission.Held){
		func(h *admission.Held) { h.Run = "another process" },
		func(h *admission.Held) { h.Run = "" },
		func(h *admission.Held) { h.Nonce = "another task" },
		func(h *admission.Held) { h.Key = "another delivery" },
	} {
		w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 1 })
		w.park(0)
		held := w.lease(-1, time.Minute)
		change(&held)
		if err := w.handOver([]admission.Held{held}); err != nil || w.leased() != 1 || w.sent() != "" {
			t.Errorf("HandOver(%+v) = %v, and sent %q with %d leases; want the lease in place", held, err, w.sent(), w.leased())
		}
	}
}

// Handing over twice, as when the message of a dead process comes again, claims no further slot.
func TestHandOver_Twice(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 1 })
	w.park(0, 0, 0)
	held := []admission.Held{w.lease(-1, time.Minute)}
	for range 2 {
		if err := w.handOver(held); err != nil || w.sent() != "0" || w.leased() != 1 {
			t.Errorf("HandOver() = %v, and sent %q with %d leases; want one claim", err, w.sent(), w.leased())
		}
	}
}

// The response to the claim is lost, and the repeated write finds the claim already made: the
// tasks are sent. Otherwise the slots would be idle until the leases end.
func TestHandOver_LostAnswer(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight, e.RatePerSecond = 2, 2 })
	w.park(0, 0, 0)
	held := []admission.Held{w.lease(-1, time.Minute), w.lease(-2, time.Minute)}
	w.clock.Pass(time.Nanosecond) // more precise than the store
	w.world.Calls.Lose("write limits")
	if err := w.handOver(held, time.Second, time.Second); err != nil || w.sent() != "0 1@1s" || w.leased() != 2 {
		t.Errorf("HandOver() = %v, and sent %q with %d leases; want two tasks, one second apart", err, w.sent(), w.leased())
	}
	for _, s := range w.queue.sent {
		if lease := w.limits().Leases[admission.LeaseKey(s.task.Delivery.DeliveryID)]; lease.Nonce != s.task.Nonce {
			t.Errorf("the lease %+v is not of the task %+v", lease, s.task)
		}
	}
}

// The slots of a deleted endpoint are given back: the breaker cancels its deliveries.
func TestHandOver_DeletedEndpoint(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, nil)
	w.park(0)
	held := w.lease(-1, time.Minute)
	s := admit.Freed{Tenant: world.Tenant, ID: w.endpoint.ID, Held: []admission.Held{held}}
	if err := w.HandOver(w.world.Context(), s); err != nil || w.sent() != "" || w.leased() != 0 {
		t.Errorf("HandOver() = %v, and sent %q with %d leases; want the slot free", err, w.sent(), w.leased())
	}
}

// The delivery that always fails comes last, among about 15.
func TestHandOver_FewestAttemptsFirst(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 2 })
	w.park(append(slices.Repeat([]int{4}, 13), 0, 0)...)
	if err := w.handOver([]admission.Held{w.lease(-1, time.Minute)}); err != nil || w.sent() != "13 14" {
		t.Errorf("HandOver() sent %q, %v; want the deliveries without an attempt", w.sent(), err)
	}
}

// Whoever gives back the last slot while deliveries wait enqueues a circuit check, because the
// index may not list a delivery yet.
func TestHandOver_LastSlot(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		change  func(e *hook.Endpoint, r *admission.Record)
		parked  int
		another bool // attempt is in flight
		checks  []string
	}{
		{name: "the index lists none yet", checks: []string{"wave 0 in 1s"}},
		{name: "a wave is under way", change: func(_ *hook.Endpoint, r *admission.Record) { r.Wave = 3 }, checks: []string{"wave 3 in 1s"}},
		{name: "a throttle of a minute", change: func(_ *hook.Endpoint, r *admission.Record) { r.ThrottledUntil = start.Add(time.Minute) }, parked: 1, checks: []string{"wave 0 in 1m0s"}},
		{name: "a throttle of half a second", change: func(_ *hook.Endpoint, r *admission.Record) { r.ThrottledUntil = start.Add(time.Second / 2) }, parked: 1, checks: []string{"wave 0 in 1s"}},
		{name: "a paused endpoint", change: func(e *hook.Endpoint, _ *admission.Record) { e.Status = hook.StatusPaused }, parked: 1, checks: []string{"wave 0 in 1s"}},
		{name: "a delivery gets the slot", parked: 1},
		{name: "another attempt is in flight", another: true},
		{name: "nothing waits", change: func(_ *hook.Endpoint, r *admission.Record) { r.Waiting = false }},
		{name: "the breaker found nothing", change: func(_ *hook.Endpoint, r *admission.Record) { r.EmptySince = start }},
		{name: "an open circuit: the breaker probes", change: func(_ *hook.Endpoint, r *admission.Record) { open(r) }, parked: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setupSlots(t, tt.change)
			w.park(make([]int, tt.parked)...)
			held := []admission.Held{w.lease(-1, time.Minute)}
			if tt.another {
				w.lease(-2, time.Minute)
			}
			if err := w.handOver(held); err != nil {
				t.Errorf("HandOver() = %v", err)
			}
			if diff := cmp.Diff(tt.checks, w.circuits.checks); diff != "" {
				t.Errorf("checks differ (-want +got):\n%s", diff)
			}
		})
	}
}

// The next rate slot is more than 2 s away: the circuit check waits for it, without holding an
// in-flight slot.
func TestHandOver_LastSlotOfAPacedEndpoint(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.RatePerSecond = 0.1 })
	w.park(0, 0)
	if _, err := w.fill(); err != nil || w.sent() != "0" {
		t.Fatalf("Fill() sent %q, %v; want the first delivery", w.sent(), err)
	}
	held := admission.Held{Key: admission.LeaseKey(w.parked[0].ID), Lease: admission.Lease{Nonce: w.queue.sent[0].task.Nonce}}
	w.clock.Pass(time.Second)
	if err := w.handOver([]admission.Held{held}); err != nil || w.sent() != "0" || w.leased() != 0 {
		t.Errorf("HandOver() = %v, and sent %q with %d leases; want no slot kept", err, w.sent(), w.leased())
	}
	if diff := cmp.Diff([]string{"wave 0 in 9s"}, w.circuits.checks); diff != "" {
		t.Errorf("checks differ (-want +got):\n%s", diff)
	}
}

// Two processes give back the last two slots at the same time. Neither finds a delivery, and one
// of them enqueues the check.
func TestHandOver_LastTwoSlotsAtOnce(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, nil)
	first, second := w.lease(-1, time.Minute), w.lease(-2, time.Minute)
	w.world.Calls.Before("write limits", func() {
		if err := w.handOver([]admission.Held{second}); err != nil {
			t.Errorf("HandOver() at the same time = %v", err)
		}
	})
	if err := w.handOver([]admission.Held{first}); err != nil || w.leased() != 0 || len(w.circuits.checks) == 0 {
		t.Errorf("HandOver() = %v, %d leases and checks %v; want a check", err, w.leased(), w.circuits.checks)
	}
}

// 20 answers in time make an endpoint fast, and a late answer takes off 19.
func TestHandOver_CountsTheAnswers(t *testing.T) {
	t.Parallel()

	slow := func(ago time.Duration) func(_ *hook.Endpoint, r *admission.Record) {
		return func(_ *hook.Endpoint, r *admission.Record) { r.Speed, r.SpeedAt = admission.Slow, start.Add(-ago) }
	}
	inTime := slices.Repeat([]time.Duration{admission.LateAfter - 1}, 20)
	tests := []struct {
		name    string
		change  func(e *hook.Endpoint, r *admission.Record)
		answers []time.Duration
		want    admission.Class
		score   admission.Score
	}{
		{name: "no answer", want: admission.Unproven},
		{name: "19 answers", answers: inTime[1:], want: admission.Unproven, score: 19},
		{name: "20 answers", answers: inTime, want: admission.Fast, score: 20},
		{name: "a late answer among them", answers: slices.Concat(inTime[1:], []time.Duration{admission.LateAfter}), want: admission.Unproven, score: 0},
		{name: "a slow endpoint too early", change: slow(admission.SlowRest - time.Millisecond), answers: inTime, want: admission.Slow, score: 20},
		{name: "a slow endpoint after a minute", change: slow(admission.SlowRest), answers: inTime, want: admission.Fast, score: 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setupSlots(t, tt.change)
			for _, answer := range tt.answers {
				if err := w.handOver([]admission.Held{w.lease(-1, time.Minute)}, answer); err != nil {
					t.Fatalf("HandOver() = %v", err)
				}
			}
			if got, score := w.record().Speed, w.limits().Score; got != tt.want || score != tt.score {
				t.Errorf("the endpoint is %s with a score of %d; want %s with %d", got, score, tt.want, tt.score)
			}
		})
	}
}

// Another process claims each delivery first, five times. Then HandOver gives the slot back without a claim: kept, it
// would be in use until its lease ends, two minutes without an attempt.
func TestHandOver_MeetsOtherWriters(t *testing.T) {
	t.Parallel()

	for conflicts, sent := range map[int]string{4: "4", 5: "", 100: ""} {
		w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = min(conflicts+1, 100) })
		w.park(make([]int, 30)...)
		w.open(100)
		ended := w.lease(-1, admission.LeaseFor)
		n := 0
		w.world.Calls.Fail = func(call string, _ hook.EndpointID) error {
			if call != "write limits" {
				return nil
			}
			if n++; n > conflicts {
				return nil
			}
			other := w.limits()
			after := other.Begin(admission.Held{Key: admission.LeaseKey(w.parked[n-1].ID), Lease: admission.Lease{Nonce: "other", Until: start.Add(time.Minute)}})
			after.Most = 100
			return w.store.ChangeLimits(t.Context(), w.endpoint.ID, other, after)
		}
		err := w.handOver([]admission.Held{ended})
		if _, kept := w.limits().Leases[ended.Key]; err != nil || kept || w.sent() != sent {
			t.Errorf("%d conflicts: HandOver() = %v, sent %q, and kept the ended lease: %t; want %q sent, and the lease given back", conflicts, err, w.sent(), kept, sent)
		}
	}
}

// The deliveries that wait for an endpoint which becomes fast need no slots any more: they go out
// with the next check, at once and in a full wave. With none waiting there is no check.
func TestHandOver_ReleasesWhatWaitsForAnEndpointThatBecameFast(t *testing.T) {
	t.Parallel()

	for _, waiting := range []bool{true, false} {
		w := setupSlots(t, func(_ *hook.Endpoint, r *admission.Record) { r.Waiting = waiting })
		w.lease(-2, admission.LeaseFor) // another attempt has begun
		inTime := slices.Repeat([]time.Duration{time.Millisecond}, 20)
		if err := w.handOver([]admission.Held{w.lease(-1, time.Minute)}, inTime...); err != nil {
			t.Fatalf("HandOver() = %v", err)
		}
		r := w.record()
		if r.Speed != admission.Fast {
			t.Fatalf("the endpoint is %s; want fast", r.Speed)
		}
		if !waiting {
			if len(w.circuits.checks) > 0 || r.Wave != 0 {
				t.Errorf("checks %v and wave %d with nothing waiting; want none", w.circuits.checks, r.Wave)
			}
			continue
		}
		if diff := cmp.Diff([]string{"wave 10 in 0s"}, w.circuits.checks); diff != "" {
			t.Errorf("checks differ (-want +got):\n%s", diff)
		}
		if r.Wave != admission.FullWave || !r.AttendAt.Equal(start.Add(admission.AttendAfter)) {
			t.Errorf("record = %+v; want a full wave, and a tick in %s in case the check is lost", r, admission.AttendAfter)
		}
	}
}

// The score of another class does not count.
func TestHandOver_NewClassNewScore(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, nil)
	answers := slices.Repeat([]time.Duration{0}, 19)
	if err := w.handOver([]admission.Held{w.lease(-1, time.Minute)}, answers...); err != nil {
		t.Fatalf("HandOver() = %v", err)
	}
	r := w.record()
	r.SpeedAt = start.Add(-time.Hour) // unproven again, after an outage
	if err := w.store.SaveCircuit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := w.handOver([]admission.Held{w.lease(-1, time.Minute)}, 0); err != nil || w.record().Speed != admission.Unproven || w.limits().Score != 1 {
		t.Errorf("HandOver() = %v, the endpoint is %s with a score of %d; want unproven with 1", err, w.record().Speed, w.limits().Score)
	}
}

// Attempts that were admitted in an earlier class say nothing about this one, but give their slots back.
func TestHandOver_AnswersOfAnEarlierClass(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, nil)
	w.park(0)
	w.open(7)
	before := w.limits()
	held := w.lease(-1, time.Minute)
	err := w.HandOver(w.world.Context(), admit.Freed{
		Tenant: world.Tenant, ID: w.endpoint.ID, Endpoint: &w.endpoint, Held: []admission.Held{held}, Since: w.record().SpeedAt.Add(-time.Minute),
		Answers: []admission.Answer{{Took: time.Minute, Timed: true}},
	})
	after := w.limits()
	if _, kept := after.Leases[held.Key]; err != nil || kept || w.sent() != "0" || after.Slots != before.Slots || after.Score != before.Score {
		t.Errorf("HandOver() = %v, sent %q, kept the lease: %t, %d slots and score %d; want \"0\" sent, the lease given back, %d slots and score %d",
			err, w.sent(), kept, after.Slots, after.Score, before.Slots, before.Score)
	}
}

// A task in slot that comes again after a fault of ours, and finds that it was recorded, gives back the slot that it kept.
func TestGate_ReturnsAKeptSlot(t *testing.T) {
	t.Parallel()

	for _, queue := range []hook.Queue{hook.QueueSlot, hook.QueueOverflow} {
		w := setup(t)
		e := active()
		e.MaxInFlight = 1
		claim := admission.Held{Key: admission.LeaseKey(delivery(0)), Lease: admission.Lease{Nonce: "0", Until: start.Add(time.Minute)}}
		if err := w.Store.ChangeLimits(t.Context(), endpoint, admission.Limits{}, admission.Limits{Most: 1}.Begin(claim)); err != nil {
			t.Fatal(err)
		}
		ended := admit.Ended{Task: hook.Task{Tenant: tenant, Delivery: hook.DeliveryRef{DeliveryID: delivery(0)}, Attempt: 1, Nonce: "0"}}
		if err := w.Gate.Return(w.Context(), e, queue, ended); err != nil {
			t.Fatalf("Return() = %v", err)
		}
		if limits, err := w.Store.Limits(t.Context(), endpoint); err != nil || len(limits.Leases) != 0 {
			t.Errorf("from the queue %s: leases %v, %v; want none", queue, limits.Leases, err)
		}
	}
}

// exceptStore notes what lists leave out.
type exceptStore struct {
	admit.Store

	limit int
	but   admit.Except
}

func (s *exceptStore) Parked(ctx context.Context, target hook.Target, since time.Time, limit int, but admit.Except) ([]hook.Delivery, error) {
	s.limit, s.but = limit, but
	return s.Store.Parked(ctx, target, since, limit, but)
}

// The records of deliveries with a slot are not read: an endpoint with 100 slots would read all of them at each
// hand-over, hundreds for each delivery.
func TestHandOver_ReadsNoRecordOfALeasedDelivery(t *testing.T) {
	t.Parallel()

	for _, leased := range []int{0, 12} { // the list is read after the limits, or beside them
		w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 12 })
		w.park(make([]int, 30)...)
		w.open(12)
		for i := range 12 {
			w.lease(i, admission.LeaseFor)
		}
		store := &exceptStore{Store: w.Store}
		w.Store = store
		ended := admission.Held{Key: admission.LeaseKey(w.parked[3].ID), Lease: w.limits().Leases[admission.LeaseKey(w.parked[3].ID)]}
		err := w.HandOver(w.world.Context(), admit.Freed{Tenant: world.Tenant, ID: w.endpoint.ID, Endpoint: &w.endpoint, Held: []admission.Held{ended}, Leased: leased})
		if err != nil || w.sent() != "3" || store.limit != 15 || store.but.About < 11 || !store.but.Has(w.parked[11].ID) || store.but.Has(w.parked[12].ID) {
			t.Errorf("HandOver() = %v, sent %q; lists %d, and leaves out about %d; want the oldest without a lease, of 15", err, w.sent(), store.limit, store.but.About)
		}
	}
}

// HandOver returns the error, and what it did before the fault is kept.
func TestHandOver_Errors(t *testing.T) {
	t.Parallel()

	for call, left := range map[string]int{"read circuit": 1, "read limits": 1, "list parked": 0, "write limits": 1} {
		for _, leased := range []int{0, 1} { // whether the list is read beside the limits
			w := setupSlots(t, nil)
			w.park(0)
			held := w.lease(-1, time.Minute)
			w.down(call)
			err := w.HandOver(w.world.Context(), admit.Freed{Tenant: world.Tenant, ID: w.endpoint.ID, Endpoint: &w.endpoint, Held: []admission.Held{held}, Leased: leased})
			if !errors.Is(err, errDown) || w.sent() != "" || w.leased() != left {
				t.Errorf("%s fails: HandOver() = %v, and sent %q with %d leases; want the error, and %d", call, err, w.sent(), w.leased(), left)
			}
		}
	}
	w := setupSlots(t, nil)
	w.circuits.err = errDown
	if err := w.handOver([]admission.Held{w.lease(-1, time.Minute)}); !errors.Is(err, errDown) || w.leased() != 0 {
		t.Errorf("the check fails: HandOver() = %v with %d leases; want the error, and the slot free", err, w.leased())
	}
}
