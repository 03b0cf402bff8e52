package breaker

import (
	"context"
	"fmt"
	"log/slog"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// needlessLetters returns the letters to remove, at most len(letters). It decides in the order
// of letters, so that a simulation is deterministic.
func (r *letterRun) needlessLetters(
	ctx context.Context, letters []Letter, decoded map[Letter]hook.DeadLetter, records map[hook.DeliveryRef]hook.Delivery,
) []Letter {
	var needless []Letter
	for _, letter := range letters {
		body, ok := decoded[letter]
		if !ok {
			continue
		}
		record, ok := records[body.Delivery]
		if !ok {
			needless = append(needless, letter)
			continue
		}
		over, err := r.letterOver(ctx, record, body)
		switch {
		case err != nil:
			r.Log.ErrorContext(ctx, "dead_letter.reconcile_failed",
				slog.String(names.LogDelivery, body.Delivery.String()), slog.Any(names.LogError, err))
			r.failed.Add(1)
		case over:
			needless = append(needless, letter)
		case record.State == hook.StateDead:
			if second, ok := r.secondLetter(letter, body.Delivery); ok {
				needless = append(needless, second)
			}
		}
	}
	return needless
}

// letterOver reports whether the record proves that nobody needs the letter. The letter of a
// delivery in progress stays for maxLetterLead, because the record of the death may still be
// written.
func (r *letterRun) letterOver(ctx context.Context, d hook.Delivery, letter hook.DeadLetter) (bool, error) {
	switch {
	case d.Unreadable():
		return false, nil
	case !d.State.Settled():
		return r.Now().Sub(letter.DiedAt) > maxLetterLead, nil
	case d.State != hook.StateDead:
		return true, nil
	case d.Replayed.Generation == 0:
		return false, nil
	}
	return r.retireDelivery(ctx, d)
}

// retireDelivery completes the settlement of the dead delivery's replay, if that has settled,
// and reports whether the delivery is no longer dead.
func (r *letterRun) retireDelivery(ctx context.Context, d hook.Delivery) (bool, error) {
	replay := d
	for ok := true; ok; ok = replay.CancelledByReplay() {
		var err error
		replay, err = r.Store.Delivery(ctx, replay.Successor())
		if hook.CodeOf(err) == hook.CodeNotFound {
			return false, nil // the token of the replay is still on the queue
		}
		if err != nil {
			return false, fmt.Errorf("read replay of delivery %s: %w", d.ID, err)
		}
	}
	if !replay.State.Settled() {
		return false, nil
	}
	if err := r.Completer.Complete(ctx, replay); err != nil {
		return false, fmt.Errorf("complete settlement of delivery %s: %w", replay.ID, err)
	}
	d, err := r.Store.Delivery(ctx, d.Ref())
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return false, fmt.Errorf("read delivery %s again: %w", d.ID, err)
	}
	return d.State != hook.StateDead, nil
}

// secondLetter returns the needless letter of a dead delivery with two letters. The letter with
// the lowest id stays, whatever the order of receipt, so two concurrent runs never remove both.
func (r *letterRun) secondLetter(letter Letter, delivery hook.DeliveryRef) (second Letter, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	other, ok := r.kept[delivery]
	if ok && other.ID < letter.ID {
		return letter, true
	}
	r.kept[delivery] = letter
	return other, ok
}
