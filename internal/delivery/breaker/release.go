package breaker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

const (
	maxWave      = 500         // deliveries per wave
	waveInterval = time.Second // between two waves: time for the circuit to open again
)

// waveSize returns the number of deliveries in wave n, from 1: 2^(n-1), at most
// maxWave. 2^9 = 512, so admission.FullWave is the first wave of maxWave deliveries.
func waveSize(n int) int { return min(1<<min(n-1, admission.FullWave), maxWave) }

// releaseWave sends the next wave. It sends nothing for a check of another wave, for a check
// without a wave during a release, and while the endpoint is throttled.
func (r *reconciliation) releaseWave(ctx context.Context, next admission.Record) error {
	wave := max(r.record.Wave, 1)
	switch {
	case r.check.Wave != 0 && r.check.Wave != wave:
		r.decision = decideStale
		return r.saveCircuit(ctx, next)
	case r.check.Wave == 0 && wave > 1 && r.now.Before(r.record.AttendAt):
		r.decision = decideUnderWay
		return r.saveCircuit(ctx, next)
	case r.now.Before(r.record.ThrottledUntil):
		return r.pauseRelease(ctx, next)
	}
	r.decision = decideRelease
	next.Wave = wave + 1
	next.AttendAt = r.now.Add(admission.AttendAfter)
	// After the save no other process releases this wave. If this process dies
	// before the message for the next wave, Tick continues when AttendAt is due.
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	live, err := r.liveLimits(ctx, r.now)
	if err != nil {
		return err
	}
	parked, err := r.withoutSlot(ctx, live, time.Time{}, max(waveSize(wave), probeChoice))
	if err != nil {
		return err
	}
	// Fewest attempts first: otherwise deliveries that always fail would open the circuit again.
	slices.SortStableFunc(parked, func(a, b hook.Delivery) int { return cmp.Compare(a.Attempts, b.Attempts) })
	parked = parked[:min(len(parked), waveSize(wave))]
	if len(parked) == 0 {
		return nil // Tick checks the endpoint again at AttendAt
	}
	// If the queue refuses a token, its delivery stays parked and is among the oldest of the
	// next wave. So the next wave is enqueued even after an error: nobody repeats this one.
	return errors.Join(r.sendTokens(ctx, parked), r.enqueueCheck(ctx, wave+1, waveInterval))
}

// pauseRelease schedules a check of the same wave for the end of the throttle. A wave sent now
// would cost a token and a write per delivery, and the gate would park them all again. SQS
// delays a message by at most 15 minutes, so a longer throttle takes several messages.
func (r *reconciliation) pauseRelease(ctx context.Context, next admission.Record) error {
	r.decision = decidePause
	next.AttendAt = r.record.ThrottledUntil
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	return r.checkAgain(ctx, r.record.Wave, next.AttendAt.Sub(r.now))
}

// sendTokens sends the tokens, and then saves the sent deliveries as retrying. After a crash
// between the two steps a delivery is still parked: its token may settle it, or the next wave
// sends another one. If the token has already changed the delivery, that change stands.
func (r *reconciliation) sendTokens(ctx context.Context, deliveries []hook.Delivery) error {
	tokens := make([]hook.Token, len(deliveries))
	for i, d := range deliveries {
		tokens[i] = d.NextToken()
	}
	lane, at := r.endpoint.LaneAt(hook.LaneRetry, r.now)
	refused := r.Queue.Send(ctx, lane, tokens, at.Sub(r.now))
	var sent []hook.Delivery
	for i, d := range deliveries {
		if refused == nil || refused[i] == nil {
			sent = append(sent, d)
		}
	}
	r.released = len(sent)
	faults := forEach(len(sent), func(i int) error {
		d := sent[i]
		// The record keeps the token that parked the delivery. With the new token in it,
		// deliver would think that the new token had made this write.
		d.State, d.Reason = hook.StateRetrying, hook.ReasonNone
		d.NextAttemptAt, d.UpdatedAt = at, r.now
		_, err := r.saveDelivery(ctx, d)
		return err
	})
	return errors.Join(append(faults, refused...)...)
}
