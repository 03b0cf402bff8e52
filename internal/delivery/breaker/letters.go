package breaker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

const (
	// receiveReserve is the time that an invocation must have left to receive more dead
	// letters.
	receiveReserve = 15 * time.Second
	// maxLetterLead is the longest time from sending a dead letter to writing the dead
	// delivery. The letter goes out first, and an invocation lasts at most 15 minutes.
	maxLetterLead = 15 * time.Minute

	// lettersOfRun is the number of letters that every run reads.
	lettersOfRun = 200
	// lettersPerRemoved is the number of further letters that a run reads for each needless
	// one: many needless letters are soon removed, and needed ones are not read over and over.
	lettersPerRemoved = 50
	// lettersOfNight replaces lettersOfRun in the first hour of a day, UTC. So needless letters
	// are removed within a day, even if they are few or behind many needed ones.
	lettersOfNight = 20_000
)

// ReconcileDeadLetters reads dead letters and removes the needless ones. A run reads
// lettersOfRun, more while it finds needless letters, and fewer if no unseen letter is visible.
// A letter is needless if the record is gone, if the delivery is not dead, or if the delivery
// has another letter. The record of the delivery decides, never the letter alone. If a dead
// delivery has a settled replay, its settlement is completed first: the process that settled
// the replay died before it could.
//
// A run may stop at any point, and runs may overlap. A letter without a decision stays for the
// next run. The returned error is about whole batches: receive, read, remove. Faults of single
// letters are logged.
func (b *Breaker) ReconcileDeadLetters(ctx context.Context) error {
	r := letterRun{Breaker: b, most: lettersOfRun, seen: make(map[string]bool), kept: make(map[hook.DeliveryRef]Letter)}
	if b.Now().UTC().Hour() == 0 {
		r.most = lettersOfNight
	}
	err := errors.Join(forEach(maxParallel, func(int) error { return r.receiveLetters(ctx) })...)
	settle.LogRun(ctx, r.Log, "dead_letters.reconciled", err,
		slog.Int(names.LogSeen, len(r.seen)),
		slog.Int(names.LogRemoved, r.removed),
		slog.Int(names.LogKept, len(r.seen)-r.removed-r.failed),
		slog.Int(names.LogFailed, r.failed))
	return err
}

// letterRun is one run through the dead-letter queue.
type letterRun struct {
	*Breaker

	most int // letters to read, before lettersPerRemoved

	mu              sync.Mutex
	seen            map[string]bool             // letter ids
	kept            map[hook.DeliveryRef]Letter // the letter with the lowest id of each dead delivery
	removed, failed int
}

// receiveLetters reconciles letters until the queue returns no unseen letter, the run has read
// enough, or less than receiveReserve is left.
func (r *letterRun) receiveLetters(ctx context.Context) error {
	for r.readsOn() && r.hasTime(ctx, receiveReserve) {
		letters, err := r.DeadLetters.Receive(ctx)
		if err != nil {
			return err
		}
		unseen := r.unseenLetters(letters)
		if len(unseen) == 0 { // the queue is empty, or only kept letters return
			return nil
		}
		if err := r.reconcileLetters(ctx, unseen); err != nil {
			return err
		}
	}
	return nil
}

// readsOn reports whether the run reads more letters.
func (r *letterRun) readsOn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return len(r.seen) < r.most+lettersPerRemoved*r.removed
}

// unseenLetters returns the letters that this run has not seen, and marks them as seen.
func (r *letterRun) unseenLetters(letters []Letter) []Letter {
	r.mu.Lock()
	defer r.mu.Unlock()

	var unseen []Letter
	for _, letter := range letters {
		if !r.seen[letter.ID] {
			r.seen[letter.ID] = true
			unseen = append(unseen, letter)
		}
	}
	return unseen
}

// count adds to the counts of removed and failed letters.
func (r *letterRun) count(removed, failed int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.removed, r.failed = r.removed+removed, r.failed+failed
}

// reconcileLetters removes the needless ones of the letters. It decides in their order, so that a
// simulation is deterministic.
func (r *letterRun) reconcileLetters(ctx context.Context, letters []Letter) error {
	bodies := make(map[Letter]hook.DeadLetter, len(letters))
	var refs []hook.DeliveryRef
	for _, letter := range letters {
		body, err := hook.DecodeDeadLetter(letter.Body)
		if err != nil {
			r.Log.ErrorContext(ctx, "dead_letter.decode_failed", slog.String(names.LogMessage, letter.ID), slog.Any(names.LogError, err))
			r.count(0, 1)
			continue
		}
		bodies[letter], refs = body, append(refs, body.Delivery)
	}
	if len(refs) == 0 {
		return nil
	}
	deliveries, err := r.Store.DeliveriesByRef(ctx, refs)
	if err != nil {
		r.count(0, len(bodies))
		return err
	}
	records := make(map[hook.DeliveryRef]hook.Delivery, len(deliveries))
	for _, d := range deliveries {
		records[d.Ref()] = d
	}
	var needless []Letter
	for _, letter := range letters {
		if body, ok := bodies[letter]; ok {
			record, recorded := records[body.Delivery]
			needless = append(needless, r.needless(ctx, letter, body, record, recorded)...)
		}
	}
	if len(needless) == 0 {
		return nil
	}
	if err := r.DeadLetters.Remove(ctx, needless); err != nil {
		r.count(0, len(needless))
		return err
	}
	r.count(len(needless), 0)
	return nil
}

// needless returns the letter that nobody needs, if any: this one, or another one of the delivery.
func (r *letterRun) needless(ctx context.Context, letter Letter, body hook.DeadLetter, record hook.Delivery, recorded bool) []Letter {
	if !recorded {
		return []Letter{letter}
	}
	over, err := r.letterOver(ctx, record, body)
	switch {
	case err != nil:
		r.Log.ErrorContext(ctx, "dead_letter.reconcile_failed",
			slog.String(names.LogDelivery, body.Delivery.String()), slog.Any(names.LogError, err))
		r.count(0, 1)
	case over:
		return []Letter{letter}
	case record.State == hook.StateDead:
		return r.secondLetter(letter, body.Delivery)
	}
	return nil
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
			return false, nil // the task of the replay is still on the queue
		}
		if err != nil {
			return false, err
		}
	}
	if !replay.State.Settled() {
		return false, nil
	}
	if err := r.completion().End(ctx, replay); err != nil {
		return false, err
	}
	d, err := r.Store.Delivery(ctx, d.Ref())
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return false, err
	}
	return d.State != hook.StateDead, nil
}

// secondLetter returns the needless letter of a dead delivery with two letters. The letter with
// the lowest id stays, whatever the order of receipt, so two concurrent runs never remove both.
func (r *letterRun) secondLetter(letter Letter, delivery hook.DeliveryRef) []Letter {
	r.mu.Lock()
	defer r.mu.Unlock()

	other, two := r.kept[delivery]
	if two && other.ID < letter.ID {
		return []Letter{letter}
	}
	r.kept[delivery] = letter
	if two {
		return []Letter{other}
	}
	return nil
}
