package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

const (
	// sweepAfter is how long after the planned time of an attempt its task counts as lost.
	sweepAfter = 15 * time.Minute
	// sweepPage is the most deliveries of a page. A sweep takes page after page while its invocation
	// has sweepReserve left, half of its time: the rest is for the page in progress and for Look.
	sweepPage    = 1000
	sweepReserve = 30 * time.Second
	// sweepChunk is the number of tasks per request to SQS. If a process dies between marking
	// and sending, at most maxParallel chunks wait until the next look.
	sweepChunk = 10
	// maxLate limits the deliveries of one sweep and state while their queues are late, and
	// maxLateOfTenant those of a tenant among them: most are late and not lost, and their tasks
	// make the queues later. maxLatePages limits the pages in which the sweep looks for other tenants,
	// behind those of the tenant that makes the queues late.
	maxLate         = 100
	maxLateOfTenant = 10
	maxLatePages    = 10
	// maxVisible is the number of visible tasks on the queues of later attempts above which
	// they are late. In the worst case 100 tasks take 5 minutes: an event source runs at least
	// 2 batches of 10 tasks at a time, and a batch takes at most 60 s.
	maxVisible = 100
	// maxFirst is the number of visible tasks on the queues of first attempts above which they
	// are late. It is higher than maxVisible, because a busy queue that keeps up holds some
	// hundreds at any time. If a task is not late after all, an unneeded one is sent at most
	// once an hour.
	maxFirst = 1000
)

// maxLooks limits the endpoints of one run of Look, and the sequences of a page of SweepTurns. With a sweep every 5
// minutes, up to 12,000 looks an hour are made.
const maxLooks = 1000

// Sweep finds what was lost despite everything else: tasks, turns, and parked deliveries of forgotten
// endpoints.
func (b *Breaker) Sweep(ctx context.Context) error {
	return errors.Join(b.SweepTasks(ctx), b.SweepTurns(ctx), b.Look(ctx))
}

// Look looks in the index for parked deliveries of endpoints that the breaker has forgotten,
// because the index may have lagged longer than emptyPeriod. The check then releases or ends
// such a delivery like any other. planLook chooses the times. An error for one endpoint does
// not stop the others.
func (b *Breaker) Look(ctx context.Context) error {
	checks, err := b.Store.DueLooks(ctx, b.Now(), maxLooks)
	if err != nil {
		return err
	}
	return errors.Join(forEach(len(checks), func(i int) error { return b.Reconcile(ctx, checks[i]) })...)
}

// SweepTasks replaces lost tasks: it sends a new one for each retrying or recorded queued
// delivery that is overdue by more than sweepAfter, at most once an hour per delivery, page after
// page while the invocation has time. A late task is not lost, so while the queues are late, only
// a few deliveries of each tenant get one: with that, the backlog of one tenant stops no sweep of
// the others. Queued deliveries wait for the queues of first attempts, too.
//
// It marks a delivery on the condition of the version read, and then sends the task, so of two
// sweeps one marks the delivery. After a crash, or if the queue refuses the task, the delivery
// is swept again an hour later: it is due after hook.SweepPause, and overdue 15 minutes after that. So none is lost. In the reverse order, a write that
// keeps failing would send a task with each sweep. If the old task was not lost after all,
// one of the two finds the attempt recorded, unless both come at the same time.
//
// An ordered delivery whose turn has not come gets no task. The gate delays a task by at most
// admission.MaxRateWait, so no task of an overdue delivery is waiting for a rate slot, but for one of a
// coalescing endpoint, which waits for longer: it gets a second one.
func (b *Breaker) SweepTasks(ctx context.Context) error {
	r := sweepRun{Breaker: b, now: b.Now()}
	err := r.sweep(ctx)
	saved := int(r.saved.Load())
	settle.LogRun(ctx, r.Log, "deliveries.swept", err, r.Metrics.Append([]slog.Attr{
		slog.Int(names.LogVisible, r.visible),
		slog.Int(names.LogVisibleFirst, r.first),
		slog.Bool(names.LogLate, r.visible > maxVisible || r.first > maxFirst),
		slog.Int(names.LogOverdue, r.overdue),
		slog.Int(names.LogSwept, saved),
		slog.Int64(names.LogSkipped, r.skipped.Load()),
	}, r.Now(), emf.Count(names.MetricSwept, saved))...)
	return err
}

// sweepRun is one sweep.
type sweepRun struct {
	*Breaker

	now     time.Time
	visible int // visible tasks on the queues of later attempts
	first   int // visible tasks on the queues of first attempts
	overdue int

	saved, skipped atomic.Int64
}

func (r *sweepRun) sweep(ctx context.Context) (err error) {
	if r.visible, err = r.measure(ctx, hook.QueueRetry, hook.QueueSlot, hook.QueueOverflow, hook.QueueCoalesce); err != nil {
		return err
	}
	if r.first, err = r.measure(ctx, hook.QueueLive, hook.QueueReplay); err != nil {
		return err
	}
	// Retrying ones first. The two states are listed separately, so that a late queue of first
	// attempts hides no retry.
	err = errors.Join(r.sweepState(ctx, hook.StateRetrying), r.sweepState(ctx, hook.StateQueued))
	if n := r.skipped.Load(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d overdue deliveries were not swept: %w", n, errNoTime))
	}
	return err
}

// sweepState sweeps the overdue deliveries in the state, page after page. A page with a fault is the last
// one: a queue that refuses tasks would refuse those of the next page, too. A page begins with the last
// delivery of the page before, whose millisecond may have more. A whole page of one millisecond is listed
// again if deliveries left it.
//
// While the queues are late, it sweeps a few of each tenant, whatever the faults. Nobody can see whose
// tasks the queues hold: those of a tenant with many overdue deliveries are probably there, and the tasks
// of the others may be lost.
func (r *sweepRun) sweepState(ctx context.Context, state hook.State) error {
	late := r.visible > maxVisible || state == hook.StateQueued && r.first > maxFirst
	few := make(map[hook.TenantID]int)
	var from time.Time
	var faults []error
	for pages, swept := 1, 0; ; pages++ {
		saved := r.saved.Load()
		page, err := r.Store.Overdue(ctx, state, from, r.now.Add(-sweepAfter), sweepPage)
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		var taken []hook.Delivery
		for _, d := range page {
			if !late || swept+len(taken) < maxLate && few[d.Tenant] < maxLateOfTenant {
				few[d.Tenant]++
				taken = append(taken, d)
			}
		}
		swept += len(taken)
		r.overdue += len(taken)
		chunks := slices.Collect(slices.Chunk(taken, sweepChunk))
		faults = append(faults, forEach(len(chunks), func(i int) error { return r.sweepChunk(ctx, chunks[i]) })...)
		enough := len(faults) > 0
		if late {
			enough = swept == maxLate || pages == maxLatePages
		}
		if enough || len(page) < sweepPage || !r.hasTime(ctx, sweepReserve) {
			return errors.Join(faults...)
		}
		last := page[len(page)-1].ListedAt()
		if !last.After(from) && r.saved.Load() == saved {
			last = from.Add(time.Millisecond)
		}
		from = last
	}
}

// measure returns the number of visible tasks on the queues.
func (r *sweepRun) measure(ctx context.Context, queues ...hook.Queue) (sum int, err error) {
	for _, queue := range queues {
		visible, err := r.Queue.Visible(ctx, queue)
		if err != nil {
			return 0, err
		}
		sum += visible
	}
	return sum, nil
}

// sweepChunk marks the deliveries, and sends tasks for those that it could mark.
func (r *sweepRun) sweepChunk(ctx context.Context, chunk []hook.Delivery) error {
	var tasks []hook.Task
	var faults []error
	for _, d := range chunk {
		if !r.hasTime(ctx, reserve) {
			r.skipped.Add(1)
			continue
		}
		d.SweptAt = r.now
		// The record keeps the task of the last decision, as in sendTasks.
		marked, err := r.saveDelivery(ctx, d)
		switch {
		case err != nil:
			faults = append(faults, err)
		case marked:
			tasks, err = r.orders().AppendDue(ctx, tasks, d)
			faults = append(faults, err)
		}
	}
	if len(tasks) == 0 {
		return errors.Join(faults...)
	}
	refused := r.Queue.Send(ctx, hook.QueueRetry, tasks, 0)
	for i, task := range tasks {
		if refused == nil || refused[i] == nil {
			r.saved.Add(1)
			r.Log.LogAttrs(ctx, slog.LevelWarn, "delivery.swept",
				slog.String(names.LogTenant, string(task.Tenant)),
				slog.String(names.LogEndpoint, string(task.Delivery.Endpoint)),
				slog.String(names.LogDelivery, task.Delivery.String()),
				slog.Int(names.LogAttempt, task.Attempt))
		}
	}
	return errors.Join(append(faults, refused...)...)
}
