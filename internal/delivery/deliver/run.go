package deliver

import (
	"context"
	"slices"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
)

// processEndpoint plans the steps of one endpoint's tokens and takes them concurrently.
func (d *Deliverer) processEndpoint(ctx context.Context, jobs []*job, snapshot *Snapshot, now time.Time, made *results) {
	decided, due := d.plan(ctx, jobs, snapshot, now)
	n := len(decided)
	if len(due) > 0 {
		n++
	}
	parallel.Each(n, n, func(i int) error {
		if i == len(decided) {
			d.processDue(ctx, due, snapshot, made)
			return nil
		}
		j := decided[i]
		made.run(j, func() (gate.Result, error) { return d.take(ctx, j, nil) })
		return nil // each job holds its own error
	})
	for _, j := range decided {
		d.handOver(ctx, []*job{j})
		d.leavePlace(ctx, j)
	}
}

// processDue asks the gate about the groups of due jobs of one endpoint, one after the other,
// because groups that ask at the same time would compete for the endpoint's limits. Each group is
// processed as soon as it has its answer, while the next one asks.
func (d *Deliverer) processDue(ctx context.Context, jobs []*job, snapshot *Snapshot, made *results) {
	groups := groupsOf(jobs)
	var wg sync.WaitGroup
	for i, members := range groups {
		g, err := d.ask(ctx, members, snapshot)
		if err != nil {
			failAll(members, err)
			continue
		}
		if i == len(groups)-1 {
			d.processGroup(ctx, g, made) // in this goroutine, as in package parallel
			break
		}
		wg.Go(func() { d.processGroup(ctx, g, made) })
	}
	wg.Wait()
}

// processGroup takes the steps of a group concurrently, adds the results to made, and reports
// them to the gate.
func (d *Deliverer) processGroup(ctx context.Context, g *group, made *results) {
	own := results{all: make([]gate.Result, 0, len(g.jobs))}
	units := g.units()
	watch := d.watch(ctx, g)
	open := d.Attempts.Opener(ctx, g.Endpoint)
	parallel.Each(len(units), len(units), func(i int) error {
		members := units[i]
		if attempts(members) {
			watch.running.Add(1)
			defer watch.running.Add(-1)
		}
		if g.together(members[0]) {
			d.attemptTogether(ctx, members, open, &own)
		} else if j := members[0]; j.err == nil {
			own.run(j, func() (gate.Result, error) { return d.take(ctx, j, open) })
		}
		return nil // each job holds its own error
	})
	attempted := own.attempts()
	requests := requestsOf(attempted)
	watch.end(requests)
	if !g.Lane.Single() {
		d.credits.earn(g.ID, inTime(requests), d.Now())
	}
	made.add(own.all...)
	d.fillAfterPark(ctx, g.jobs, g.Record)
	d.settleEndpoint(ctx, g, attempted)
}

// settleEndpoint reports the results to the gate, and hands the slots over. After a failed
// attempt the report comes first: it may open the circuit, and then no slot is handed over.
// After a success both happen at the same time, so that a parked delivery does not wait for the
// counts.
func (d *Deliverer) settleEndpoint(ctx context.Context, g *group, attempts []gate.Result) {
	var settled sync.WaitGroup
	settled.Go(func() { d.logFailed(ctx, "gate.settle_failed", g.ID, d.Gate.Settle(ctx, g.Admission, attempts)) })
	if slices.ContainsFunc(attempts, func(r gate.Result) bool { return r.Class != hook.ClassDelivered }) {
		settled.Wait()
	}
	d.handOver(ctx, g.jobs)
	settled.Wait()
}
