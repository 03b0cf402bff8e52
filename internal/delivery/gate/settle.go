package gate

import (
	"context"
	"errors"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// Settle gives back the tenant's places of an Admission, and reports the results of the
// attempts, ordered by their end, to the circuit. Without results no attempt was begun: the
// messages come again, and a probe among them ends its lease. A crash before Settle loses no
// delivery: places and leases expire, and later attempts correct the circuit.
func (g *Gate) Settle(ctx context.Context, a admission.Admission, results []admission.Result) error {
	err := g.leavePlaces(ctx, a.Next.Record.Tenant, a.Next.Record.Endpoint, a.Places...)
	if len(results) == 0 {
		return errors.Join(err, g.changeCircuit(ctx, a, admission.Outcomes{}, circuit.Counts{}, g.Now()))
	}
	counts, ok := g.counts.Get().(*stats.Counts)
	if !ok {
		counts = new(stats.Counts)
	}
	defer g.counts.Put(counts)
	return errors.Join(err, g.writeEarlier(ctx, a.Next.Record.Endpoint, g.Now()),
		g.recordOutcomes(ctx, a, admission.Aggregate(results, counts)), g.writeOverdue(ctx, g.Now()))
}

// recordOutcomes counts the results and changes the circuit.
func (g *Gate) recordOutcomes(ctx context.Context, a admission.Admission, o admission.Outcomes) error {
	now := g.Now()
	if g.holdsBack(a, o, now) {
		return nil
	}
	window, err := g.count(ctx, a.Next.Record, o.Counts, now)
	if err != nil {
		return err
	}
	return g.changeCircuit(ctx, a, o, window, now)
}

// changeCircuit writes what the circuit learns from the outcomes, and announces a transition.
func (g *Gate) changeCircuit(ctx context.Context, a admission.Admission, o admission.Outcomes, window circuit.Counts, now time.Time) error {
	var (
		before, after admission.Record
		untold        error
	)
	err := conflict.Update(ctx, g.Wait, maxSaveAttempts, &a.Next.Record, g.circuitOf(ctx, a.Next.Record.Tenant, a.Next.Record.Endpoint), func(record admission.Record) error {
		before = record
		if after = before.After(a, o, window, now); after == before {
			return nil
		}
		if after.Generation != before.Generation && !before.AnnounceAt.IsZero() {
			// The record names the last transition alone, so the one before is told first.
			untold = g.notifyTransition(ctx, before.Announcement())
		}
		return g.saveCircuit(ctx, after)
	})
	if err != nil {
		return contentionOf(err, before.Endpoint)
	}
	return errors.Join(untold, g.announceTransition(ctx, before, after, window, now))
}
