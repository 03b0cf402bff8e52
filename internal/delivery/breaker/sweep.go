package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
)

const (
	// sweepAfter is how long after the planned time of an attempt the token counts as
	// lost.
	sweepAfter = 15 * time.Minute
	// maxSwept bounds the deliveries of one sweep. With a sweep every 5 minutes, 12,000
	// deliveries an hour get a token.
	maxSwept = 1000
	// sweepChunk is the number of tokens per request of SQS. A process that dies between
	// the marks and the tokens delays at most maxParallel chunks until the next look.
	sweepChunk = 10
	// maxVisible is the number of visible tokens on a retry lane younger than 5 minutes,
	// in the worst case: the lowest concurrency of an event source is 2 batches, of 10
	// tokens each, and a batch takes at most 60 s. So 100 tokens take 5 minutes.
	maxVisible = 100
	// maxFirst is the number of visible tokens on the lanes of first tokens above which
	// they are late. A busy lane that keeps up holds some hundreds at any time, so the
	// bound is higher than maxVisible. A token too many is sent at most once an hour.
	maxFirst = 1000
)

// maxLooks bounds the endpoints of one run of Look. With a sweep every 5 minutes, 12,000
// looks an hour are made.
const maxLooks = 1000

// Sweep looks for what every other way has lost: tokens, and parked deliveries of
// forgotten endpoints.
func (b *Breaker) Sweep(ctx context.Context) error {
	return errors.Join(b.SweepTokens(ctx), b.Look(ctx))
}

// Look asks the index again for parked deliveries of endpoints that the breaker has
// forgotten: the index may have lagged longer than emptyPeriod. A check finds such a
// delivery, and releases or ends it like any other; planLook has the times. An error for
// one endpoint does not stop the others.
func (b *Breaker) Look(ctx context.Context) error {
	checks, err := b.Store.DueLooks(ctx, b.Now(), maxLooks)
	if err != nil {
		return fmt.Errorf("list forgotten endpoints: %w", err)
	}
	return errors.Join(forEach(len(checks), func(i int) error { return b.Reconcile(ctx, checks[i]) })...)
}

// SweepTokens sends a token in place of a lost token: for each retrying or recorded queued
// delivery overdue by more than sweepAfter, at most once an hour and maxSwept deliveries a
// run. SweepTokens does nothing while the lanes of later attempts are late, and nothing for
// queued deliveries while the lanes of first attempts are late, because a late token is not
// lost.
//
// SweepTokens marks a delivery on the condition of the version read, and then sends the
// token. Of two sweeps, one marks the delivery. After a crash, or a refused token, the
// delivery is overdue again hook.SweepPause later, so no delivery is lost. In the
// reverse order a failing write would repeat the token at each sweep. A token that was
// not lost repeats the attempt, or finds the attempt recorded.
//
// The gate delays a token by at most isolation.MaxRateWait, so no token of an overdue
// delivery waits for the gate.
func (b *Breaker) SweepTokens(ctx context.Context) error {
	r := sweepRun{Breaker: b, now: b.Now()}
	err := r.sweep(ctx)
	r.logRun(ctx, err)
	return err
}

// sweepRun is one sweep.
type sweepRun struct {
	*Breaker

	now     time.Time
	visible int // tokens on the lanes of later attempts
	first   int // tokens on the lanes of first attempts only
	overdue int

	saved, skipped atomic.Int64
}

func (r *sweepRun) sweep(ctx context.Context) (err error) {
	if r.visible, err = r.measure(ctx, hook.LaneRetry, hook.LaneSlot, hook.LaneOverflow, hook.LaneCoalesce); err != nil {
		return err
	}
	if r.first, err = r.measure(ctx, hook.LaneLive, hook.LaneReplay); err != nil {
		return err
	}
	overdue, err := r.listOverdue(ctx)
	if err != nil {
		return err
	}
	r.overdue = len(overdue)
	chunks := slices.Collect(slices.Chunk(overdue, sweepChunk))
	faults := forEach(len(chunks), func(i int) error { return r.sweepChunk(ctx, chunks[i]) })
	if n := r.skipped.Load(); n > 0 {
		faults = append(faults, fmt.Errorf("%d overdue deliveries were not swept: %w", n, errNoTime))
	}
	return errors.Join(faults...)
}

// measure returns the number of visible tokens on the lanes.
func (r *sweepRun) measure(ctx context.Context, lanes ...hook.Lane) (sum int, err error) {
	for _, lane := range lanes {
		visible, err := r.Queue.Visible(ctx, lane)
		if err != nil {
			return 0, fmt.Errorf("measure the lane %s: %w", lane, err)
		}
		sum += visible
	}
	return sum, nil
}

// listOverdue returns the deliveries whose token is not late, retrying ones first. The two
// states have lists of their own, so that a late lane of first tokens hides no retry.
func (r *sweepRun) listOverdue(ctx context.Context) (all []hook.Delivery, err error) {
	for _, state := range []hook.State{hook.StateRetrying, hook.StateQueued} {
		if r.visible > maxVisible || state == hook.StateQueued && r.first > maxFirst || len(all) == maxSwept {
			break
		}
		overdue, err := r.Store.Overdue(ctx, state, r.now.Add(-sweepAfter), maxSwept-len(all))
		if err != nil {
			return nil, fmt.Errorf("list overdue deliveries: %w", err)
		}
		all = append(all, overdue...)
	}
	return all, nil
}

// sweepChunk marks the deliveries, and sends the tokens of those marked.
func (r *sweepRun) sweepChunk(ctx context.Context, chunk []hook.Delivery) error {
	var tokens []hook.Token
	var faults []error
	for _, d := range chunk {
		if !r.hasTime(ctx, reconcileReserve) {
			r.skipped.Add(1)
			continue
		}
		d.SweptAt = r.now
		// The record keeps the token of the last decision, as after a release.
		marked, err := r.saveDelivery(ctx, d)
		switch {
		case err != nil:
			faults = append(faults, err)
		case marked:
			tokens = append(tokens, d.NextToken())
		}
	}
	if len(tokens) == 0 {
		return errors.Join(faults...)
	}
	refused := r.Queue.Send(ctx, hook.LaneRetry, tokens, 0)
	for i, token := range tokens {
		if refused == nil || refused[i] == nil {
			r.saved.Add(1)
			r.logSaved(ctx, token)
		}
	}
	return errors.Join(append(faults, refused...)...)
}

func (r *sweepRun) logSaved(ctx context.Context, token hook.Token) {
	r.Log.LogAttrs(ctx, slog.LevelWarn, "delivery.swept",
		slog.String(names.LogTenant, string(token.Tenant)),
		slog.String(names.LogEndpoint, string(token.Delivery.Endpoint)),
		slog.String(names.LogDelivery, token.Delivery.String()),
		slog.Int(names.LogAttempt, token.Attempt))
}

func (r *sweepRun) logRun(ctx context.Context, err error) {
	level := slog.LevelInfo
	saved := int(r.saved.Load())
	attrs := []slog.Attr{
		slog.Int(names.LogVisible, r.visible),
		slog.Int(names.LogVisibleFirst, r.first),
		slog.Bool(names.LogLate, r.visible > maxVisible || r.first > maxFirst),
		slog.Int(names.LogOverdue, r.overdue),
		slog.Int(names.LogSwept, saved),
		slog.Int64(names.LogSkipped, r.skipped.Load()),
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	r.Log.LogAttrs(ctx, level, "deliveries.swept", r.Metrics.Append(attrs, r.Now(), emf.Count(names.MetricSwept, saved))...)
}
