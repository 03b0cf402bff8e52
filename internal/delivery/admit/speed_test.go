package admit_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/proof/world"
)

// slotQuery is query in the queue slot, with the speed class of the endpoint as stored. The tasks
// were moved there from the queue live, so as many of them have a share as the tenant has.
func (w *bundle) slotQuery(e *hook.Endpoint, first, n int) admission.Query {
	w.T.Helper()

	q := w.query(e, first, n)
	q.Record, q.Queue = w.record(), hook.QueueLive
	w.admit(q)
	q.Queue = hook.QueueSlot
	return q
}

// overflowQuery is slotQuery in the queue overflow.
func (w *bundle) overflowQuery(e *hook.Endpoint, first, n int) admission.Query {
	w.T.Helper()

	q := w.query(e, first, n)
	q.Record, q.Queue = w.record(), hook.QueueOverflow
	return q
}

// empty records that no parked delivery is left.
func (w *bundle) empty() {
	w.T.Helper()

	r := w.record()
	r.EmptySince = w.Clock.Now()
	if err := w.Store.SaveCircuit(w.T.Context(), r); err != nil {
		w.T.Fatal(err)
	}
}

// fast stores a fast endpoint.
func (w *bundle) fast() {
	w.T.Helper()

	r := admission.NewRecord(tenant, endpoint)
	r.Speed, r.SeenAt = admission.Fast, start
	if err := w.Store.SaveCircuit(w.T.Context(), r); err != nil {
		w.T.Fatal(err)
	}
}

// end ends the leases of the admission, as HandOver does.
func (w *bundle) end(a admission.Admission) {
	w.T.Helper()

	before, err := w.Store.Limits(w.T.Context(), endpoint)
	if err != nil {
		w.T.Fatal(err)
	}
	after := before
	for _, v := range a.Verdicts {
		after = after.End(v.Lease)
	}
	if err := w.Store.ChangeLimits(w.T.Context(), endpoint, before, after); err != nil {
		w.T.Fatal(err)
	}
}

func (w *bundle) shares() int {
	w.T.Helper()

	l, err := w.Store.Shares(w.T.Context(), tenant)
	if err != nil {
		w.T.Fatal(err)
	}
	return len(l.Leases)
}

func TestRecord_Slots(t *testing.T) {
	t.Parallel()

	fast := admission.Record{Speed: admission.Fast, SeenAt: start}
	recovering := admission.Record{Speed: admission.Unproven, SpeedAt: start.Add(-2 * time.Minute)}
	recovering.ClosedAt = start.Add(-time.Minute)
	strained := fast
	strained.State, strained.StrainedAt = circuit.Closed, start
	relieved := fast
	relieved.ClosedAt = start.Add(time.Hour)
	answered := func(slots int, since time.Time) admission.Limits {
		return admission.Limits{Slots: slots, ScoreAt: since}
	}
	tests := []struct {
		name        string
		record      admission.Record
		maxInFlight int
		rate        float64
		later       time.Duration
		limits      admission.Limits
		slots       int // at most
		width       int // at most
		open        int // slots now
	}{
		{name: "a new endpoint", record: admission.NewRecord(tenant, endpoint), slots: 100, width: 100, open: 5},
		{name: "a new endpoint after some answers", record: admission.NewRecord(tenant, endpoint), limits: answered(8, time.Time{}), slots: 100, width: 100, open: 8},
		{name: "a fast endpoint", record: fast},
		{name: "a fast endpoint, silent for 8 days", record: fast, later: 8 * 24 * time.Hour},
		{name: "a fast endpoint, silent for longer", record: fast, later: 8*24*time.Hour + 1, slots: 100, width: 100, open: 5},
		{name: "a slow endpoint", record: admission.Record{Speed: admission.Slow, SpeedAt: start}, slots: 100, width: 100, open: 5},
		{name: "a slow endpoint in its first minute", record: admission.Record{Speed: admission.Slow, SpeedAt: start}, limits: answered(70, start), later: time.Minute - 1, slots: 100, width: 100, open: 20},
		{name: "a slow endpoint after it", record: admission.Record{Speed: admission.Slow, SpeedAt: start}, limits: answered(70, start), later: time.Minute, slots: 100, width: 100, open: 70},
		{name: "slots of another class", record: admission.Record{Speed: admission.Slow, SpeedAt: start}, limits: answered(70, start.Add(-time.Hour)), slots: 100, width: 100, open: 5},
		{name: "a fast endpoint that the review found slow", record: admission.Record{Speed: admission.Fast, SeenAt: start, Review: review.Flags{Slow: true}}, slots: 100, width: 100, open: 5},
		{name: "a fast endpoint with a limit", record: fast, maxInFlight: 7, limits: answered(2, time.Time{}), slots: 7, width: 7, open: 7},
		{name: "a slow endpoint with a limit", record: admission.Record{Speed: admission.Slow}, maxInFlight: 7, limits: answered(70, time.Time{}), slots: 7, width: 7, open: 7},
		{name: "a slow endpoint with a high limit", record: admission.Record{Speed: admission.Slow}, maxInFlight: 7, slots: 7, width: 7, open: 5},
		{name: "a fast endpoint with a rate", record: fast, rate: 1, width: 20, open: 20},
		{name: "a recovering endpoint", record: recovering, slots: 100, width: 100, open: 1},
		{name: "a recovering endpoint after an answer", record: recovering, limits: answered(2, recovering.SpeedAt), slots: 100, width: 100, open: 2},
		{name: "a recovering endpoint with a rate", record: recovering, rate: 50, slots: 100, width: 100, open: 1},
		{name: "a new endpoint with a rate", record: admission.NewRecord(tenant, endpoint), rate: 1, slots: 100, width: 100, open: 5},
		{name: "a strained endpoint", record: strained, slots: 100, width: 100, open: 5},
		{name: "a strained endpoint after some answers", record: strained, limits: answered(8, time.Time{}), slots: 100, width: 100, open: 8},
		{name: "a strained endpoint of which nothing is known any more", record: strained, later: circuit.Window},
		{name: "a fast endpoint that was strained, silent for longer", record: relieved, later: 8*24*time.Hour + 1, slots: 100, width: 100, open: 5},
		{name: "a strained endpoint with a limit", record: strained, maxInFlight: 10, slots: 10, width: 10, open: 5},
		{name: "a strained endpoint with a rate", record: strained, rate: 1, slots: 100, width: 100, open: 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := hook.Endpoint{MaxInFlight: tt.maxInFlight, RatePerSecond: tt.rate}
			now := start.Add(tt.later)
			if slots, width := tt.record.MostSlots(&e, now), tt.record.Width(&e, now); slots != tt.slots || width != tt.width {
				t.Errorf("Slots(), Width() = %d, %d; want %d, %d", slots, width, tt.slots, tt.width)
			}
			if open := tt.record.SlotsNow(tt.limits, tt.width, now); open != tt.open {
				t.Errorf("Open() = %d; want %d", open, tt.open)
			}
		})
	}
}

// A claim may end while its task is on the way. If the endpoint has become fast and has no
// limits by then, the attempt needs no slot.
func TestGate_ALateClaimOfAFastEndpointNeedsNoSlot(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.fast()
	q := w.overflowQuery(active(), 0, 1)
	q.Due[0].Slot = true
	if v := w.admit(q).Verdicts[0]; v.Decision != admission.Admit || v.Lease.Key != "" {
		t.Errorf("the verdict is %+v; want an attempt without a slot", v)
	}
}

// After an outage the endpoint gets one attempt at a time, until the hand-over has counted its
// answer.
func TestGate_OneAtATimeAfterAnOutage(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.settle(w.admit(w.query(active(), 0, 5)), slices.Repeat([]hook.Class{hook.ClassUnavailable}, 5)...)
	opened := w.record()
	w.Clock.Until(opened.NextProbe())
	w.settle(w.admit(w.overflowQuery(active(), 0, 1)), hook.ClassDelivered)
	if got := w.record(); got.State != circuit.Closed {
		t.Fatalf("after the probe: %s; want closed", got.State)
	}
	q := w.overflowQuery(active(), 5, 3)
	for i := range q.Due {
		q.Due[i].Slot = true
	}
	if got := decisions(w.admit(q)); got != "admit park park" {
		t.Errorf("after the probe: %s; want one attempt", got)
	}
	if got := decisions(w.admit(w.overflowQuery(active(), 8, 1))); got != "park" {
		t.Errorf("a new delivery meanwhile: %s; want parked", got)
	}
}

// An unproven endpoint has five slots, whichever queue its tasks are in.
func TestGate_SlotsOfAnUnprovenEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	for _, queue := range []hook.Queue{0, hook.QueueLive, hook.QueueRetry, hook.QueueReplay} {
		q := w.slotQuery(active(), 0, 2)
		q.Queue = queue
		if diff := cmp.Diff([]admission.Verdict{{Decision: admission.Move, Queue: hook.QueueSlot}, {Decision: admission.Move, Queue: hook.QueueSlot}}, w.admit(q).Verdicts); diff != "" {
			t.Errorf("Ask() in queue %s differs (-want +got):\n%s", queue, diff)
		}
	}
	q := w.slotQuery(active(), 0, 4)
	a := w.admit(q)
	b := w.admit(w.overflowQuery(active(), 4, 2))
	if got := decisions(a) + " " + decisions(b); got != "admit admit admit admit admit park" || b.Verdicts[1].Reason != hook.ReasonInFlight {
		t.Errorf("Ask() of 6 = %s; want 5 admitted, and 1 parked for a slot", got)
	}
	if got := w.record(); !got.Waiting || got.AttendAt.IsZero() {
		t.Errorf("record = %+v; want waiting", got)
	}
	if got := w.shares(); got != 4 {
		t.Errorf("%d shares are taken; want 4: the overflow has none", got)
	}
	w.settle(a)
	w.leave(q)
	if got := w.shares(); got != 0 {
		t.Errorf("%d shares are taken after the attempts; want none", got)
	}
	w.empty()
	if got := decisions(w.admit(w.overflowQuery(active(), 6, 1))); got != "park" {
		t.Errorf("before the slots are handed over: %s; want parked", got)
	}
	w.end(a)
	w.end(b)
	w.empty()
	if got := decisions(w.admit(w.slotQuery(active(), 6, 6))); got != "admit admit admit admit admit move" {
		t.Errorf("after the slots are handed over: %s; want 5 admitted, and 1 moved: no share is left", got)
	}
}

// If deliveries are already parked, another one waits without a slot or a share, whichever queue
// it is in. A claimed delivery does not wait.
func TestGate_ParksBehindParkedDeliveries(t *testing.T) {
	t.Parallel()

	w := setup(t)
	if err := w.Store.SaveCircuit(t.Context(), admission.NewRecord(tenant, endpoint).ExpectParked(start)); err != nil {
		t.Fatal(err)
	}
	for _, queue := range hook.Queues() {
		q := w.overflowQuery(active(), 0, 1)
		q.Queue = queue
		want := []admission.Verdict{{Decision: admission.Park, Reason: hook.ReasonInFlight}}
		if diff := cmp.Diff(want, w.admit(q).Verdicts); diff != "" {
			t.Errorf("Ask() in queue %s differs (-want +got):\n%s", queue, diff)
		}
	}
	if got := w.shares(); got != 0 {
		t.Errorf("%d shares are taken; want none", got)
	}
	claimed, reserved := w.overflowQuery(active(), 1, 1), w.overflowQuery(active(), 2, 1)
	claimed.Due[0].Slot, reserved.Due[0].Reserved = true, true
	if got := decisions(w.admit(claimed)) + " " + decisions(w.admit(reserved)); got != "admit admit" {
		t.Errorf("a delivery with a claim, and one with a rate slot: %s; want admit", got)
	}
}

// With many concurrent functions, the endpoint never has more attempts in flight than its limit.
// The slots of a killed function are free again after LeaseFor.
func TestGate_InFlightLimit(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := active()
	e.MaxInFlight = 2
	var (
		wg              sync.WaitGroup
		mu              sync.Mutex
		flying, highest int
	)
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		flying += n
		highest = max(highest, flying)
	}
	for i := range 40 {
		q := w.overflowQuery(e, i, 1)
		wg.Go(func() {
			a, err := w.Gate.Ask(w.Context(), q)
			if err != nil || a.Answer.Verdicts[0].Decision != admission.Admit {
				return // too many concurrent changes, or parked
			}
			count(1)
			count(-1)
			w.settle(a.Answer, hook.ClassDelivered)
		})
	}
	wg.Wait()
	if highest == 0 || highest > 2 {
		t.Errorf("%d were in flight at once; want 1 or 2", highest)
	}
	w.Clock.Pass(admission.LeaseFor) // nobody handed the slots over
	w.empty()
	if got := decisions(w.admit(w.overflowQuery(e, 100, 3))); got != "admit admit park" {
		t.Errorf("after the leases expired: %s; want two admitted", got)
	}
}

// While an attempt of a delivery is in flight, neither a copy of its message nor another task of
// the delivery makes one.
func TestGate_OneAttemptOfADeliveryAtATime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first := w.admit(w.slotQuery(active(), 0, 1))
	for name, nonce := range map[string]string{"a copy": "0", "another task": "other"} {
		q := w.slotQuery(active(), 0, 1)
		q.Due[0].Nonce = nonce
		for q.Queue = hook.QueueSlot; q.Queue <= hook.QueueOverflow; q.Queue++ {
			busy := w.admit(q)
			if got := decisions(busy); got != "busy" && (got != "move" || q.Queue != hook.QueueSlot) {
				t.Errorf("%s in queue %s: %s; want busy, or moved to the overflow", name, q.Queue, got)
			}
			w.settle(busy)
		}
	}
	if got := w.shares(); got != 1 {
		t.Errorf("%d shares beside the copies; want the share of the attempt", got)
	}
	w.settle(first, hook.ClassDelivered)
	w.end(first)
	if got := decisions(w.admit(w.slotQuery(active(), 0, 1))); got != "admit" {
		t.Errorf("after the attempt: %s; want admit", got)
	}
	w.Clock.Pass(admission.LeaseFor) // the process is dead
	if got := decisions(w.admit(w.slotQuery(active(), 0, 1))); got != "admit" {
		t.Errorf("after the lease: %s; want admit", got)
	}
}

// A task with a claim starts the lease of its claim, and needs no other slot.
func TestGate_AClaimIsStartedOnce(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := active()
	e.MaxInFlight = 1
	claim := admission.Held{Key: admission.LeaseKey(delivery(0)), Lease: admission.Lease{Nonce: "0", Until: start.Add(time.Second)}}
	if err := w.Store.ChangeLimits(t.Context(), endpoint, admission.Limits{}, admission.Limits{Most: 1}.Begin(claim)); err != nil {
		t.Fatal(err)
	}
	q := w.overflowQuery(e, 0, 1)
	q.Due[0].Slot = true
	if got := decisions(w.admit(w.overflowQuery(e, 1, 1))); got != "park" {
		t.Errorf("another delivery: %s; want parked", got)
	}
	if got := decisions(w.admit(q)); got != "admit" {
		t.Errorf("the claimed delivery: %s; want admit", got)
	}
	if got := decisions(w.admit(q)); got != "busy" {
		t.Errorf("a copy of the task: %s; want busy", got)
	}
	w.Clock.Pass(admission.LeaseFor - 1)
	w.empty()
	if got := decisions(w.admit(w.overflowQuery(e, 1, 1))); got != "park" {
		t.Errorf("until the attempt may have ended: %s; want parked: the start renews the lease", got)
	}
}

// leave gives back the shares of the query's tasks in the queue slot.
func (w *bundle) leave(q admission.Query) {
	w.T.Helper()

	for _, due := range q.Due {
		task := hook.Task{Tenant: tenant, Delivery: hook.DeliveryRef{DeliveryID: due.Delivery}, Attempt: due.Attempt, Nonce: due.Nonce}
		if err := w.Gate.Return(w.Context(), q.Endpoint, hook.QueueSlot, admit.Ended{Task: task}); err != nil {
			w.T.Fatalf("Return() = %v", err)
		}
	}
}

func TestGate_OwnLeaseWithALostAnswer(t *testing.T) {
	t.Parallel()

	for _, call := range []string{"write limits", "write shares"} {
		w := setup(t)
		w.Clock.Pass(time.Nanosecond) // more precise than the store
		w.Calls.Lose(call)
		e := active()
		e.MaxInFlight = 1
		q := w.slotQuery(e, 0, 1)
		a := w.admit(q)
		if got := decisions(a); got != "admit" {
			t.Errorf("after a lost answer of %q: %s; want admit", call, got)
		}
		w.settle(a, hook.ClassDelivered)
		w.end(a)
		w.leave(q)
		if got := w.shares(); got != 0 || decisions(w.admit(w.slotQuery(e, 1, 1))) != "admit" {
			t.Errorf("after the attempt: %d shares taken; want none, and a free slot", got)
		}
	}
}

// A delivery is parked if others already are, or if the next rate slot is over a minute away. A check
// at the time of that slot releases it, because the attempts before it hand no slots over.
func TestGate_RateLimitParks(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := active()
	e.RatePerSecond = 0.05
	if got := w.admit(w.query(e, 0, 6)); decisions(got) != "admit move move move park park" || got.Verdicts[4].Reason != hook.ReasonRate {
		t.Errorf("Ask() = %s; want slots now and after 20, 40 and 60 s, and the others parked", decisions(got))
	}
	if diff := cmp.Diff([]string{queuedCheck(0, 80*time.Second)}, w.checks()); diff != "" {
		t.Errorf("circuit checks differ (-want +got):\n%s", diff)
	}
	w.Clock.Pass(time.Hour)
	if got := decisions(w.admit(w.query(e, 6, 1))); got != "park" {
		t.Errorf("behind a parked delivery: %s; want parked", got)
	}
	w.empty()
	if got := decisions(w.admit(w.query(e, 7, 1))); got != "admit" {
		t.Errorf("after the parked deliveries: %s; want admit", got)
	}
	e.RatePerSecond = 1000
	if got := w.admit(w.query(e, 8, 1)); decisions(got) != "admit" {
		t.Errorf("at a raised rate: %+v; want admit, and no wait for the slots of the old rate", got.Verdicts)
	}
}

// Five late attempts in a minute make a fast endpoint slow.
func TestGate_Late(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.fast()
	late := func(n int, want admission.Class) {
		t.Helper()

		if err := w.Gate.Late(w.Context(), tenant, endpoint, n); err != nil {
			t.Fatal(err)
		}
		if got := w.record().Speed; got != want {
			t.Errorf("after %d late attempts more: %s; want %s", n, got, want)
		}
	}
	late(4, admission.Fast)
	w.Clock.Pass(time.Minute)
	late(2, admission.Fast)
	late(2, admission.Fast)
	late(1, admission.Slow)
	since := w.record().SpeedAt
	w.Clock.Pass(time.Second)
	late(9, admission.Slow)
	if got := w.record().SpeedAt; !got.Equal(since) {
		t.Errorf("slow since %s; want since %s", got, since)
	}
}

func TestRecord_Promoted(t *testing.T) {
	t.Parallel()

	at := func(c admission.Class) admission.Record { return admission.Record{Speed: c, SpeedAt: start} }
	proof := admission.Limits{}
	for range 20 {
		proof = proof.Answered(admission.Answer{Took: time.Millisecond, Timed: true, OK: true}, admission.FirstSlots, start, start)
	}
	// lateOf has one attempt that began so long before the proof, beside nine that began just now.
	lateOf := func(l admission.Limits, before time.Duration) admission.Limits {
		for i := range 10 {
			began := start
			if i == 0 {
				began = start.Add(-before)
			}
			l = l.Begin(admission.Held{Key: strconv.Itoa(i), Lease: admission.Lease{Nonce: "n", Run: "r", Until: admission.LeaseEnd(began)}})
		}
		return l
	}
	claimed := proof.Begin(admission.Held{Key: "k", Lease: admission.Lease{Nonce: "n", Until: admission.LeaseEnd(start.Add(-time.Minute))}})
	much := proof
	much.Score += 19
	tests := []struct {
		name   string
		record admission.Record
		limits admission.Limits
		later  time.Duration
		want   admission.Class
	}{
		{name: "a proof", record: at(admission.Unproven), limits: proof, want: admission.Fast},
		{name: "an attempt in flight is late", record: at(admission.Unproven), limits: lateOf(proof, time.Second), want: admission.Unproven},
		{name: "an attempt in flight is not late yet", record: at(admission.Unproven), limits: lateOf(proof, time.Second-time.Millisecond), want: admission.Fast},
		{name: "a claim of long ago is no attempt", record: at(admission.Unproven), limits: claimed, want: admission.Fast},
		{name: "19 answers more make up for a late attempt in flight", record: at(admission.Unproven), limits: lateOf(much, time.Minute), want: admission.Fast},
		{name: "no proof", record: at(admission.Unproven), limits: admission.Limits{Score: 19, ScoreAt: start}, want: admission.Unproven},
		{name: "a proof from before the outage", record: admission.Record{Speed: admission.Unproven, SpeedAt: start.Add(1)}, limits: proof, want: admission.Unproven},
		{name: "slow for less than a minute", record: at(admission.Slow), limits: proof, later: time.Minute - 1, want: admission.Slow},
		{name: "slow for a minute", record: at(admission.Slow), limits: proof, later: time.Minute, want: admission.Fast},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := tt.record.Promoted(tt.limits, start.Add(tt.later))
			if got.Speed != tt.want || got.Speed == admission.Fast && !got.SeenAt.Equal(start.Add(tt.later)) {
				t.Errorf("Promoted() = %s, seen %s; want %s", got.Speed, got.SeenAt, tt.want)
			}
		})
	}
}

// An endpoint whose circuit opens becomes unproven.
func TestGate_AnOutageEndsTheProof(t *testing.T) {
	t.Parallel()

	w := setup(t)
	failed := []hook.Class{hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS}
	w.settle(w.admit(w.query(active(), 0, 5)), failed...)
	r := w.record()
	if r.Speed != admission.Unproven || !r.SpeedAt.Equal(start) {
		t.Errorf("record = %+v; want unproven since now", r)
	}
	w.Clock.Until(r.NextProbe())
	q := w.overflowQuery(active(), 5, 2)
	q.Queue = hook.QueueRetry
	moved := w.admit(q)
	if got := decisions(moved); got != "move park" || !moved.Verdicts[0].Probe {
		t.Errorf("a due probe in a queue of batches: %s; want the probe moved, as the probe", got)
	}
	q = w.overflowQuery(active(), 5, 2)
	q.Queue, q.Due[0].Probe = hook.QueueSlot, true
	probe := w.admit(q)
	if got := decisions(probe); got != "admit park" || w.shares() != 1 {
		t.Errorf("a due probe in the queue slot: %s, %d shares; want a probe with a share", got, w.shares())
	}
	w.settle(probe, hook.ClassDelivered)
	w.leave(q)
	if got := w.shares(); got != 0 {
		t.Errorf("%d shares after the probe; want none", got)
	}
}

// Tasks of a tenant without a free share go to the overflow and never reach the queue slot. A
// task whose share has expired leaves the queue slot.
func TestGate_Shares(t *testing.T) {
	t.Parallel()

	w := setup(t)
	q := w.overflowQuery(active(), 0, world.Shares+1)
	q.Queue = hook.QueueLive
	moved := w.admit(q)
	for i, v := range moved.Verdicts {
		want := hook.QueueSlot
		if i == world.Shares {
			want = hook.QueueOverflow
		}
		if v.Decision != admission.Move || v.Queue != want {
			t.Errorf("verdict %d = %+v; want moved to queue %s", i, v, want)
		}
	}
	if again := w.admit(q); decisions(again) != decisions(moved) || again.Verdicts[0].Queue != hook.QueueSlot || w.shares() != world.Shares {
		t.Errorf("copies of the tasks: %+v, %d places; want them moved with the same places", again.Verdicts, w.shares())
	}
	admit := func(i int) admission.Admission {
		q = w.overflowQuery(active(), i, 1)
		q.Queue = hook.QueueSlot
		return w.admit(q)
	}
	first := admit(0)
	w.settle(first)
	w.leave(q)
	if got := w.shares(); decisions(first) != "admit" || got != world.Shares-1 {
		t.Errorf("%s, %d shares after an attempt; want %d", decisions(first), got, world.Shares-1)
	}
	for i := range 2 { // one without a share, and one whose share has expired
		w.Clock.Pass(time.Duration(i) * admission.LeaseFor)
		late := admit(world.Shares - i)
		if diff := cmp.Diff([]admission.Verdict{{Decision: admission.Move, Queue: hook.QueueOverflow}}, late.Verdicts); diff != "" {
			t.Errorf("Ask() without a share differs (-want +got):\n%s", diff)
		}
		w.settle(late)
	}
	if got := decisions(w.admit(w.slotQuery(active(), 100, 1))); got != "admit" || w.shares() != 1 {
		t.Errorf("after the shares of dead processes ended: %s with %d shares; want admit with 1", got, w.shares())
	}
}

// A group that finds no free slot asks again when an attempt may have ended, not after a long window: an
// endpoint with one slot would otherwise get one request in each window.
func TestGate_GroupWithoutASlotAsksSoon(t *testing.T) {
	t.Parallel()

	for window, want := range map[time.Duration]time.Duration{2 * time.Second: 2 * time.Second, 10 * time.Second: 10 * time.Second, 2 * time.Minute: 10 * time.Second} {
		w := setup(t)
		e := active()
		e.Coalesce = hook.Coalescing{Window: window}.WithDefaults()
		w.Clock.Until(e.Coalesce.End(w.Clock.Now()))
		ask := func(first int) admission.Admission {
			q := w.query(e, first, 2)
			q.Record, q.Queue = w.record(), hook.QueueCoalesce
			return w.admit(q)
		}
		for i := range admission.FirstSlots {
			if got := decisions(ask(2 * i)); got != "admit admit" {
				t.Fatalf("window %s, request %d: %s; want it admitted", window, i, got)
			}
		}
		for _, v := range ask(100).Verdicts {
			if got := v.Until.Sub(w.Clock.Now()); v.Decision != admission.Move || v.Queue != hook.QueueCoalesce || got != want {
				t.Errorf("window %s: %s for %s; want move for %s", window, v.Decision, got, want)
			}
		}
	}
}
