package breaker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/circuit"
)

const (
	// emptyFor is how long nothing must have been parked before the endpoint is
	// forgotten: longer than a delivery is on its way from the gate, which saw that
	// somebody waits and so did not write it again, to the index of what is parked.
	emptyFor = 2 * time.Minute
	// restFor is how long an endpoint that takes nothing is left alone at most.
	restFor = time.Hour
)

// The decisions, as they appear in logs.
const (
	decideEnd     = "end_more"  // more has to end than one look can
	decideAwait   = "await"     // open, before its time: look again then
	decideIdle    = "idle"      // nothing is parked, and nobody thought so
	decideEmpty   = "empty"     // nothing is parked: look again
	decideForget  = "forget"    // nothing was parked for a while
	decideRest    = "rest"      // the endpoint takes nothing
	decideHeld    = "held"      // a probe is under way
	decideProbe   = "probe"     // the oldest goes out
	decideStale   = "stale"     // that wave was released already
	decideUnder   = "under_way" // the release goes on by itself
	decideRelease = "release"   // the wave goes out
)

// reconciliation is one look at an endpoint.
type reconciliation struct {
	*Breaker

	look     hook.CircuitCheck
	now      time.Time
	record   gate.Record    // as it was read
	endpoint *hook.Endpoint // nil when it was deleted

	decision                     string
	released, expired, cancelled int
}

// reconcileEndpoint reads the endpoint and its record and decides; CodeConflict when the
// record was changed meanwhile, and then nothing was done that cannot be done again.
func (v *reconciliation) reconcileEndpoint(ctx context.Context) error {
	if err := v.readEndpoint(ctx); err != nil {
		return err
	}
	oldest, more, err := v.endParked(ctx)
	if err != nil {
		return err
	}
	next := v.record
	if oldest != nil {
		next = next.Wait(v.now) // which the gate did not write if it was parked in its last moment
	}
	active := v.endpoint != nil && v.endpoint.Status == hook.StatusActive
	switch {
	case more:
		v.decision = decideEnd
		return v.enqueueCheck(ctx, v.look.Wave, 0)
	case active && v.record.State == circuit.Open && v.now.Before(v.record.ProbeAt):
		return v.awaitProbe(ctx, next)
	case oldest == nil:
		return v.forgetEndpoint(ctx, next)
	case !active:
		v.decision = decideRest
		next.Wave = 0
		next.AttendAt = v.now.Add(restFor)
		if expires := v.expiresAt(*oldest); expires.Before(next.AttendAt) {
			next.AttendAt = expires
		}
		return v.saveCircuit(ctx, next)
	case v.record.State == circuit.Closed:
		return v.releaseWave(ctx, next)
	case !v.record.ProbeDue(v.now):
		v.decision = decideHeld
		next.AttendAt = v.record.LeaseUntil
		return v.saveCircuit(ctx, next)
	}
	return v.sendProbe(ctx, next, *oldest)
}

func (v *reconciliation) readEndpoint(ctx context.Context) error {
	v.now = v.Now()
	record, err := v.Store.Circuit(ctx, v.look.Tenant, v.look.Endpoint)
	if err != nil {
		return fmt.Errorf("read circuit: %w", err)
	}
	if record.Tenant != v.look.Tenant {
		// Its endpoint would be missed, and its deliveries cancelled.
		return fmt.Errorf("the look names tenant %s, the circuit %s: %w", v.look.Tenant, record.Tenant, hook.NotFound("endpoint"))
	}
	v.record, v.endpoint = record, nil
	endpoint, err := v.Store.Endpoint(ctx, v.look.Tenant, v.look.Endpoint)
	switch {
	case err == nil:
		v.endpoint = &endpoint
	case hook.CodeOf(err) != hook.CodeNotFound:
		return fmt.Errorf("read endpoint: %w", err)
	}
	return nil
}

// awaitProbe looks again when the cooldown is over. A message cannot be held back
// longer than 15 minutes, so it may take several.
func (v *reconciliation) awaitProbe(ctx context.Context, next gate.Record) error {
	v.decision = decideAwait
	next.AttendAt = v.record.ProbeAt
	if err := v.saveCircuit(ctx, next); err != nil {
		return err
	}
	return v.enqueueCheck(ctx, 0, v.record.ProbeAt.Sub(v.now))
}

// forgetEndpoint forgets the endpoint in two looks. An open circuit stays open: the
// next delivery that comes is the probe.
func (v *reconciliation) forgetEndpoint(ctx context.Context, next gate.Record) error {
	next.Wave = 0
	switch {
	case !next.Waiting:
		v.decision = decideIdle
		next.AttendAt = time.Time{}
	case next.EmptySince.IsZero():
		v.decision = decideEmpty
		next.EmptySince = v.now
		next.AttendAt = v.now.Add(emptyFor)
	case v.now.Before(next.EmptySince.Add(emptyFor)):
		v.decision = decideEmpty
		next.AttendAt = next.EmptySince.Add(emptyFor)
	default:
		v.decision = decideForget
		next.Waiting, next.EmptySince, next.AttendAt = false, time.Time{}, time.Time{}
	}
	return v.saveCircuit(ctx, next)
}

// sendProbe sends the oldest alone. It stays parked in its record: the gate gives
// it the lease when it arrives, and if it does not arrive the tick sends it again.
func (v *reconciliation) sendProbe(ctx context.Context, next gate.Record, oldest hook.Delivery) error {
	// An AttendAt within the next minute was set by a look that sent the probe; the
	// gate sets it to when a probe is due, a look at a resting endpoint farther off.
	if left := v.record.AttendAt.Sub(v.now); left > 0 && left <= gate.AttendAfter {
		v.decision = decideHeld
		return nil
	}
	v.decision = decideProbe
	next.AttendAt = v.now.Add(gate.AttendAfter)
	if err := v.saveCircuit(ctx, next); err != nil {
		return err
	}
	token := hook.NewToken(oldest.Tenant, oldest.ID, oldest.Attempts+1)
	if errs := v.Queue.Send(ctx, hook.LaneRetry, []hook.Token{token}, 0); errs != nil {
		return fmt.Errorf("send probe %s: %w", oldest.ID, errs[0])
	}
	return nil
}

func (v *reconciliation) saveCircuit(ctx context.Context, next gate.Record) error {
	if next == v.record {
		return nil
	}
	if err := v.Store.SaveCircuit(ctx, next); err != nil {
		return fmt.Errorf("save circuit: %w", err)
	}
	return nil
}

func (v *reconciliation) enqueueCheck(ctx context.Context, wave int, delay time.Duration) error {
	look := hook.CircuitCheck{Tenant: v.look.Tenant, Endpoint: v.look.Endpoint, Wave: wave}
	if err := v.CircuitQueue.Enqueue(ctx, look, delay); err != nil {
		return fmt.Errorf("ask for the next look: %w", err)
	}
	return nil
}

func (v *reconciliation) logCheck(ctx context.Context, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String(names.LogTenant, string(v.look.Tenant)),
		slog.String(names.LogEndpoint, string(v.look.Endpoint)),
		slog.String(names.LogCircuit, v.record.State.String()),
		slog.String(names.LogDecision, v.decision),
		slog.Int(names.LogWave, v.look.Wave),
		slog.Int(names.LogReleased, v.released),
		slog.Int(names.LogExpired, v.expired),
		slog.Int(names.LogCancelled, v.cancelled),
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	v.Log.LogAttrs(ctx, level, "circuit.reconciled",
		v.Metrics.Append(attrs, v.Now(), emf.Count(names.MetricDead, v.expired))...)
}
