package breaker

import (
	"context"
	"errors"
)

// SweepTurns looks after the sequences in which a delivery has waited for some minutes: perhaps nobody moves
// them on. An error for one sequence does not stop the others.
func (b *Breaker) SweepTurns(ctx context.Context) error {
	due, err := b.Store.DueSequences(ctx, b.Now(), maxLooks)
	if err != nil {
		return err
	}
	return errors.Join(forEach(len(due), func(i int) error { return b.orders().Look(ctx, due[i]) })...)
}
