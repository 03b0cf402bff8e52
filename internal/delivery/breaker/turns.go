package breaker

import (
	"context"
	"errors"
)

// SweepTurns looks after the sequences in which a delivery has waited for some minutes: perhaps nobody moves
// them on, page after page while the invocation has time, so that the many keys of one tenant hold up no other. An
// error for one sequence does not stop the others of its page.
func (b *Breaker) SweepTurns(ctx context.Context) error {
	for {
		due, err := b.Store.DueSequences(ctx, b.Now(), maxLooks)
		if err == nil {
			err = errors.Join(forEach(len(due), func(i int) error {
				if !b.hasTime(ctx, reserve) {
					return errNoTime
				}
				return b.orders().Look(ctx, due[i])
			})...)
		}
		if err != nil || len(due) < maxLooks || !b.hasTime(ctx, reserve) {
			return err
		}
	}
}
