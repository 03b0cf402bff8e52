package admit

import (
	"context"
	"errors"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/internal/store"
)

// maxProbeTries limits the tries of writing the result of a probe: for up to a second in all.
const maxProbeTries = 8

// Ended is what became of a task.
type Ended struct {
	Task     hook.Task
	Verdict  admission.Verdict // zero: the task did not ask
	Delivery *hook.Delivery    // as read, or as parked; nil: the event is gone
	Result   admission.Result  // of the attempt, or of the decision without one
	Again    bool              // the message comes again
}

// Done takes back what the tasks held, which are in the order of their ends: the circuit, the counts
// and the speed learn from the attempts, shares are given back, and slots are handed over to parked
// deliveries. The deliveries are settled, so an error loses none: shares and leases expire, later
// attempts correct the circuit, and the breaker's tick fills the slots.
//
// After a failed attempt the circuit learns first: it may open, and then no slot is handed over. After
// a success both happen at the same time, so that a parked delivery does not wait for counts and shares. Fill may come
// before the circuit learns, because no group has both an attempt and a delivery parked for a slot: in queues of batches
// either all need slots, or none does.
func (g *Gate) Done(ctx context.Context, p *Permits, ended []Ended) error {
	var attempts []admission.Result
	for _, e := range ended {
		if e.Result.Class != 0 {
			attempts = append(attempts, e.Result)
		}
	}
	err := errors.Join(g.endWatch(p, attempts), g.fillAfterPark(ctx, p, ended))
	steps := []func() error{
		func() error {
			return errors.Join(g.leaveShares(ctx, p.Query.Queue, ended), g.Learn(ctx, p.Answer, attempts))
		},
		func() error { return g.HandOver(ctx, freedBy(p.Query.Endpoint, p.Answer.Next.Record.SpeedAt, ended)) },
	}
	if slices.ContainsFunc(attempts, func(r admission.Result) bool { return r.Class != hook.ClassDelivered }) {
		return errors.Join(err, steps[0](), steps[1]())
	}
	return errors.Join(append(parallel.Each(2, 2, func(i int) error { return steps[i]() }), err)...)
}

// Return takes back what a task held that ended without asking: the slot that its sender claimed, or that it kept
// after a fault of ours, and the share in the queue slot.
func (g *Gate) Return(ctx context.Context, e *hook.Endpoint, queue hook.Queue, ended Ended) error {
	ended.Task.Slot = ended.Task.Slot || queue.Single()
	all := []Ended{ended}
	return errors.Join(g.HandOver(ctx, freedBy(e, time.Time{}, all)), g.leaveShares(ctx, queue, all))
}

// fillAfterPark calls Fill for deliveries that were parked because no slot was free: a slot may
// have been freed just before the delivery was parked, and then nobody would pass one on to it.
func (g *Gate) fillAfterPark(ctx context.Context, p *Permits, ended []Ended) error {
	var parked []hook.Delivery
	for _, e := range ended {
		// Of a delivery that is parked, Delivery is the record just written.
		if !e.Again && e.Result.State == hook.StateParked && e.Delivery.Reason == hook.ReasonInFlight {
			parked = append(parked, *e.Delivery)
		}
	}
	if len(parked) == 0 {
		return nil
	}
	_, err := g.Fill(ctx, *p.Query.Endpoint, p.Query.Record, parked...)
	return err
}

// Learn reports the results of the attempts, ordered by their end, to the circuit. Without results
// nothing is known about the endpoint: all tasks were moved, parked or cancelled, or come again, and a
// probe among them ends its lease.
func (g *Gate) Learn(ctx context.Context, a admission.Admission, results []admission.Result) error {
	if len(results) == 0 {
		return g.changeCircuit(ctx, a, admission.Outcomes{}, circuit.Counts{}, g.Now())
	}
	counts, ok := g.counts.Get().(*stats.Counts)
	if !ok {
		counts = new(stats.Counts)
	}
	defer g.counts.Put(counts)
	return errors.Join(g.writeEarlier(ctx, a.Next.Record.Endpoint, g.Now()),
		g.recordOutcomes(ctx, a, admission.Aggregate(results, counts)), g.writeOverdue(ctx, g.Now()))
}

// recordOutcomes counts the results and changes the circuit.
func (g *Gate) recordOutcomes(ctx context.Context, a admission.Admission, o admission.Outcomes) error {
	now := g.Now()
	if g.holdsBack(a, o, now) {
		return nil
	}
	window, err := g.count(ctx, a.Next.Record, o.Counts, now)
	if err != nil && a.NeedsWindow() {
		return err
	}
	return errors.Join(err, g.changeCircuit(ctx, a, o, window, now))
}

// changeCircuit writes what the circuit learns from the outcomes, and enqueues the circuit check that
// follows: the breaker tells the owner of a transition, probes and releases. If the check is lost, the breaker's tick
// finds the record by AttendAt. The result of a probe is written through an unavailable store, too: later attempts
// would correct any other, but while the circuit is not closed there are none.
func (g *Gate) changeCircuit(ctx context.Context, a admission.Admission, o admission.Outcomes, window circuit.Counts, now time.Time) error {
	tries := 1
	if !a.NeedsWindow() {
		tries = maxProbeTries
	}
	var before, after admission.Record
	err := store.Persist(ctx, g.Wait, tries, func() (err error) {
		before, after, err = g.updateCircuit(ctx, a.Next.Record, func(before admission.Record) admission.Record {
			return before.After(a, o, window, now)
		})
		return err
	})
	if err != nil {
		return err
	}
	if delay, ok := after.CheckAfter(before, now); ok {
		return g.enqueueCheck(ctx, after, delay)
	}
	return nil
}
