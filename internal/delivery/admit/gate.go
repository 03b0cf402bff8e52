package admit

import (
	"context"
	"sync"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/store"
)

// Gate decides whether attempts may start now. All fields but Wait and AfterFunc must be set. A Gate
// must not be copied.
type Gate struct {
	Releaser

	Shares    int       // shares of a tenant in the queue slot, at least 1
	AfterFunc AfterFunc // nil: time.AfterFunc

	unwritten unwrittenCounts
	credits   credits
	counts    sync.Pool // of *stats.Counts, which have 6 kB: without the pool they would be a third of the garbage
}

// Permits are the verdicts about the due tasks of one endpoint, and what those tasks hold that may
// start. Done takes it back.
type Permits struct {
	Query  admission.Query
	Answer admission.Admission

	late *lateWatch
}

// Ask returns a verdict for each due delivery. A fast endpoint without limits costs no request.
func (g *Gate) Ask(ctx context.Context, q admission.Query) (*Permits, error) {
	k := question{gate: g, query: q, now: g.Now()}
	k.query.MaxShares, k.query.Run = g.Shares, hook.NewNonce()
	err := store.Repeat(ctx, g.Wait, store.Tries, func() error { return k.try(ctx) })
	if err != nil {
		k.giveBack(ctx)
	}
	p := &Permits{Query: k.query, Answer: k.answer}
	p.late = g.watch(ctx, p)
	return p, store.Busy(err, "what the endpoint "+string(q.Record.Endpoint)+" holds")
}

// question is one call of Ask.
type question struct {
	gate   *Gate
	query  admission.Query // with the state as stored
	answer admission.Admission
	now    time.Time
	stale  bool // the circuit in the query was changed since
	crowds int  // conflicts at the shares of the tenant
}

// try reads what the table needs, and writes what it changes. CodeConflict means that somebody
// else has changed a part of the state, which the next try reads again.
func (k *question) try(ctx context.Context) error {
	if k.stale {
		record, err := k.gate.Store.Circuit(ctx, k.query.Record.Tenant, k.query.Record.Endpoint)
		if err != nil {
			return err
		}
		k.query.Record, k.stale = record, false
	}
	for {
		k.answer = admission.Ask(&k.query, k.now)
		switch k.answer.Lacks {
		case admission.LimitsPart:
			limits, err := k.gate.Store.Limits(ctx, k.query.Record.Endpoint)
			if err != nil {
				return err
			}
			k.query.Limits = &limits
		case admission.SharesPart:
			shares, err := k.gate.Store.Shares(ctx, k.query.Record.Tenant)
			if err != nil {
				return err
			}
			k.query.Shares = &shares
		default:
			return k.write(ctx)
		}
	}
}

// write writes the parts that the table changed: it replaces their pointers. The circuit comes first, so
// that the breaker misses no delivery that is parked. The query forgets a part before it is written:
// after a conflict, or a write without an answer, the next try reads it again.
func (k *question) write(ctx context.Context) error {
	id, tenant, next := k.query.Record.Endpoint, k.query.Record.Tenant, &k.answer.Next
	if next.Record != k.query.Record {
		if err := k.gate.Store.SaveCircuit(ctx, next.Record); err != nil {
			k.stale = true
			return err
		}
		next.Record.Version++ // the stored version, for Learn
		k.query.Record = next.Record
		if wait := k.answer.CheckAt.Sub(k.now); wait > 0 && next.Record.State == circuit.Closed { // if it is lost, the breaker's tick releases the deliveries
			if err := k.gate.enqueueCheck(ctx, next.Record, wait); err != nil {
				return err
			}
		}
	}
	if before := k.query.Limits; before != next.Limits {
		k.query.Limits = nil
		if err := k.gate.Store.ChangeLimits(ctx, id, *before, *next.Limits); err != nil {
			return err
		}
	}
	if before := k.query.Shares; before != next.Shares {
		k.query.Shares = nil
		if err := k.gate.Store.ChangeShares(ctx, tenant, *before, *next.Shares); err != nil {
			if k.crowds++; k.crowds >= store.Tries/2 { // the tenant is so busy that it counts as having no free share
				k.query.MaxShares = 0
			}
			return err
		}
	}
	return nil
}

// giveBack ends the leases of an admission that failed: a write without an answer may have taken
// them. The messages come again, so the tasks keep their shares. If this fails, the leases expire.
func (k *question) giveBack(ctx context.Context) {
	for _, v := range k.answer.Verdicts {
		if v.Lease.Key != "" {
			_, _ = k.gate.updateLimits(ctx, k.query.Record.Endpoint, func(before admission.Limits) admission.Limits { return before.End(v.Lease) })
		}
	}
}
