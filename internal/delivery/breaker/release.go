package breaker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

const (
	waveMost  = 500             // deliveries of a wave at most
	waveEvery = 2 * time.Second // from one wave to the next: time for the circuit to open again
)

// waveSize returns how many deliveries wave n has, counted from 1: 2^(n-1),
// waveMost at most, which it reaches with the tenth.
func waveSize(n int) int { return min(1<<min(n-1, 10), waveMost) }

// releaseWave sends the wave that is next, if that is what the look is for.
func (v *reconciliation) releaseWave(ctx context.Context, next gate.Record) error {
	wave := max(v.record.Wave, 1)
	switch {
	case v.look.Wave != 0 && v.look.Wave != wave:
		v.decision = decideStale
		return v.saveCircuit(ctx, next)
	case v.look.Wave == 0 && wave > 1 && v.now.Before(v.record.AttendAt):
		v.decision = decideUnder
		return v.saveCircuit(ctx, next)
	}
	v.decision = decideRelease
	next.Wave = wave + 1
	next.AttendAt = v.now.Add(gate.AttendAfter)
	// From here on the wave is ours alone. If this process dies before it asked for
	// the next wave, nobody does, and the tick goes on with it after AttendAt.
	if err := v.saveCircuit(ctx, next); err != nil {
		return err
	}
	parked, err := v.Store.Parked(ctx, v.look.Endpoint, waveSize(wave))
	if err != nil {
		return fmt.Errorf("list parked deliveries: %w", err)
	}
	if len(parked) == 0 {
		return nil // the tick finds out whether that stays so
	}
	// What did not go stays parked and is among the oldest of the next wave, which
	// is asked for in any case: this one would not be taken up again.
	return errors.Join(v.sendTokens(ctx, parked), v.enqueueCheck(ctx, wave+1, waveEvery))
}

// sendTokens sends the deliveries' tokens, and then writes that those that went wait
// no longer. If the process dies between the two the delivery is still parked:
// its token may settle it, or the next wave repeats the token. One whose token
// was faster than the write is not touched.
func (v *reconciliation) sendTokens(ctx context.Context, deliveries []hook.Delivery) error {
	tokens := make([]hook.Token, len(deliveries))
	for i, d := range deliveries {
		tokens[i] = hook.NewToken(d.Tenant, d.ID, d.Attempts+1)
	}
	refused := v.Queue.Send(ctx, hook.LaneRetry, tokens, 0)
	var sent []hook.Delivery
	for i, d := range deliveries {
		if refused == nil || refused[i] == nil {
			sent = append(sent, d)
		}
	}
	v.released = len(sent)
	faults := each(len(sent), func(i int) error {
		d := sent[i]
		// The token that parked it stays in the record: if this one were written, it
		// would take the record for its own decision.
		d.State, d.Reason = hook.StateRetrying, hook.ReasonNone
		d.NextAttemptAt, d.UpdatedAt = v.now, v.now
		_, err := v.saveDelivery(ctx, d)
		return err
	})
	return errors.Join(append(faults, refused...)...)
}
