package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
)

const (
	// reconcileReserve is what an invocation must have left for more letters to be looked at.
	reconcileReserve = 15 * time.Second
	// buriedAhead is how long before its delivery is dead a letter may be there at
	// most: conclude buries first, and no invocation lasts longer.
	buriedAhead = 15 * time.Minute
)

// ReconcileDeadLetters goes through the dead letters until it sees none that it did not
// see before, and removes those that nobody needs: the delivery is there no
// more, or dead no more, or it has another letter. The delivery's record says
// so, never a letter alone. A dead delivery whose replay settled is retired first,
// which is left to do only if the process that settled the replay died.
//
// It may be stopped at any point, and run beside itself. A letter that could not
// be looked at stays for the next time; the error is of what concerns them all.
func (b *Breaker) ReconcileDeadLetters(ctx context.Context) error {
	r := letterRound{Breaker: b, looked: make(map[string]bool), stays: make(map[hook.DeliveryID]Letter)}
	err := errors.Join(each(atOnce, func(int) error { return r.receiveLetters(ctx) })...)
	r.logRound(ctx, err)
	return err
}

// letterRound is one run through the letters.
type letterRound struct {
	*Breaker

	mu                    sync.Mutex
	looked                map[string]bool            // ids of letters
	stays                 map[hook.DeliveryID]Letter // of each dead delivery the letter with the lowest id
	seen, removed, failed int
}

// receiveLetters takes letters until there are none, or time is short.
func (r *letterRound) receiveLetters(ctx context.Context) error {
	for {
		if deadline, ok := ctx.Deadline(); ok && deadline.Sub(r.Now()) < reconcileReserve {
			return nil
		}
		letters, err := r.DeadLetters.Receive(ctx)
		if err != nil {
			return fmt.Errorf("exhume letters: %w", err)
		}
		fresh := r.unseenLetters(letters)
		if len(fresh) == 0 { // the end, or those that stay have come round
			return nil
		}
		if err := r.reconcileLetters(ctx, fresh); err != nil {
			return err
		}
	}
}

// unseenLetters returns the letters that this run did not see yet.
func (r *letterRound) unseenLetters(letters []Letter) []Letter {
	r.mu.Lock()
	defer r.mu.Unlock()

	var fresh []Letter
	for _, letter := range letters {
		if !r.looked[letter.ID] {
			r.looked[letter.ID] = true
			fresh = append(fresh, letter)
		}
	}
	r.seen += len(fresh)
	return fresh
}

func (r *letterRound) reconcileLetters(ctx context.Context, letters []Letter) error {
	read := make(map[Letter]hook.DeadLetter, len(letters))
	ids := make(map[hook.DeliveryID]bool, len(letters))
	for _, letter := range letters {
		about, err := hook.DecodeDeadLetter(letter.Body)
		if err != nil {
			r.Log.ErrorContext(ctx, "dead_letter.decode_failed", slog.String(names.LogMessage, letter.ID), slog.Any(names.LogError, err))
			r.countLetters(&r.failed, 1)
			continue
		}
		read[letter] = about
		ids[about.Delivery] = true
	}
	if len(ids) == 0 {
		return nil
	}
	deliveries, err := r.Store.DeliveriesByID(ctx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		r.countLetters(&r.failed, len(read))
		return fmt.Errorf("read deliveries of %d letters: %w", len(read), err)
	}
	records := make(map[hook.DeliveryID]hook.Delivery, len(deliveries))
	for _, d := range deliveries {
		records[d.ID] = d
	}
	return r.removeLetters(ctx, r.chooseLetters(ctx, letters, read, records))
}

// chooseLetters returns the letters to be removed, at most as many as were read. It goes
// through them in their order, so that a simulation repeats itself.
func (r *letterRound) chooseLetters(
	ctx context.Context, letters []Letter, read map[Letter]hook.DeadLetter, records map[hook.DeliveryID]hook.Delivery,
) []Letter {
	var needless []Letter
	for _, letter := range letters {
		about, ok := read[letter]
		if !ok {
			continue
		}
		record, ok := records[about.Delivery]
		if !ok {
			needless = append(needless, letter)
			continue
		}
		over, err := r.settledElsewhere(ctx, record, about)
		switch {
		case err != nil:
			r.Log.ErrorContext(ctx, "dead_letter.reconcile_failed",
				slog.String(names.LogDelivery, about.Delivery.String()), slog.Any(names.LogError, err))
			r.countLetters(&r.failed, 1)
		case over:
			needless = append(needless, letter)
		case record.State == hook.StateDead:
			if second, ok := r.secondLetter(letter, about.Delivery); ok {
				needless = append(needless, second)
			}
		}
	}
	return needless
}

// settledElsewhere reports whether the record says that its letter is needed no more.
func (r *letterRound) settledElsewhere(ctx context.Context, d hook.Delivery, letter hook.DeadLetter) (bool, error) {
	switch {
	case !d.State.Settled(): // it may be about to die
		return r.Now().Sub(letter.DiedAt) > buriedAhead, nil
	case d.State != hook.StateDead:
		return true, nil
	case d.Replayed.Generation == 0:
		return false, nil
	}
	return r.retireDelivery(ctx, d)
}

// retireDelivery does what follows from the replay of the dead delivery, if that is
// settled, and reports whether the delivery is dead no more.
func (r *letterRound) retireDelivery(ctx context.Context, d hook.Delivery) (bool, error) {
	replay := d
	for ok := true; ok; ok = replay.Superseded() {
		var err error
		replay, err = r.Store.Delivery(ctx, replay.Successor())
		if hook.CodeOf(err) == hook.CodeNotFound {
			return false, nil // on its way
		}
		if err != nil {
			return false, fmt.Errorf("read replay of delivery %s: %w", d.ID, err)
		}
	}
	if !replay.State.Settled() {
		return false, nil
	}
	if err := r.Settlement.Complete(ctx, replay); err != nil {
		return false, fmt.Errorf("see to what follows from delivery %s: %w", replay.ID, err)
	}
	d, err := r.Store.Delivery(ctx, d.ID)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return false, fmt.Errorf("read delivery %s again: %w", d.ID, err)
	}
	return d.State != hook.StateDead, nil
}

// secondLetter returns the letter that a dead delivery has beside the one that stays.
// The lowest id stays, whoever saw it first: of two runs that see two letters
// each in another order neither removes the one that the other leaves.
func (r *letterRound) secondLetter(letter Letter, of hook.DeliveryID) (second Letter, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	other, ok := r.stays[of]
	if ok && other.ID < letter.ID {
		return letter, true
	}
	r.stays[of] = letter
	return other, ok
}

func (r *letterRound) removeLetters(ctx context.Context, letters []Letter) error {
	if len(letters) == 0 {
		return nil
	}
	if err := r.DeadLetters.Remove(ctx, letters); err != nil {
		r.countLetters(&r.failed, len(letters))
		return fmt.Errorf("remove %d letters: %w", len(letters), err)
	}
	r.countLetters(&r.removed, len(letters))
	return nil
}

func (r *letterRound) countLetters(what *int, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	*what += n
}

func (r *letterRound) logRound(ctx context.Context, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.Int(names.LogSeen, r.seen),
		slog.Int(names.LogRemoved, r.removed),
		slog.Int(names.LogKept, r.seen-r.removed-r.failed),
		slog.Int(names.LogFailed, r.failed),
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	r.Log.LogAttrs(ctx, level, "dead_letters.reconciled", attrs...)
}
