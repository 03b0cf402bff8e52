package breaker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
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
	// maxRemoved is the most letters of a call of Remove.
	maxRemoved = 10
)

// ReconcileDeadLetters reads dead letters and removes the needless ones. A run reads
// lettersOfRun, more while it finds needless letters, and fewer if no unseen letter is visible.
// A letter is needless if the record is gone, if the delivery is not dead, or if the delivery
// has another letter. The record of the delivery decides, never the letter alone. If a dead
// delivery has a settled replay, its settlement is completed first: the process that settled
// the replay died before it could.
//
// A run may stop at any point, as after a fault of a whole batch, and runs may overlap. A letter without
// a decision stays for the next run. The returned error is about whole batches: receive, read, remove.
// Faults of single letters are logged.
func (b *Breaker) ReconcileDeadLetters(ctx context.Context) error {
	r := letterRun{Breaker: b, seen: make(map[string]bool), kept: make(map[hook.DeliveryRef]Letter)}
	most := lettersOfRun
	if b.Now().UTC().Hour() == 0 {
		most = lettersOfNight
	}
	var faults []error
	for len(faults) == 0 && len(r.seen) < most+lettersPerRemoved*int(r.removed.Load()) && r.hasTime(ctx, receiveReserve) {
		unseen, errs := r.receive(ctx)
		faults = append(faults, errs...)
		if len(unseen) == 0 { // the queue is empty, or only kept letters return
			break
		}
		faults = append(faults, r.reconcile(ctx, unseen)...)
	}
	err, removed, failed := errors.Join(faults...), int(r.removed.Load()), int(r.failed.Load())
	settle.LogRun(ctx, r.Log, "dead_letters.reconciled", err,
		slog.Int(names.LogSeen, len(r.seen)),
		slog.Int(names.LogRemoved, removed),
		slog.Int(names.LogKept, len(r.seen)-removed-failed),
		slog.Int(names.LogFailed, failed))
	return err
}

// letterRun is one run through the dead-letter queue.
type letterRun struct {
	*Breaker

	seen            map[string]bool // letter ids
	removed, failed atomic.Int64

	mu   sync.Mutex
	kept map[hook.DeliveryRef]Letter // the letter with the lowest id of each dead delivery
}

// openedLetter is a letter with what it says.
type openedLetter struct {
	Letter

	body hook.DeadLetter
}

// receive makes maxParallel requests. It returns the letters that this run has not seen, and marks them
// as seen.
func (r *letterRun) receive(ctx context.Context) (unseen []Letter, faults []error) {
	received := make([][]Letter, maxParallel)
	faults = forEach(maxParallel, func(i int) (err error) {
		received[i], err = r.DeadLetters.Receive(ctx)
		return err
	})
	all := slices.Concat(received...)
	slices.SortFunc(all, func(a, b Letter) int { return cmp.Compare(a.ID, b.ID) }) // whichever request received them
	for _, letter := range all {
		if !r.seen[letter.ID] {
			r.seen[letter.ID] = true
			unseen = append(unseen, letter)
		}
	}
	return unseen, faults
}

// reconcile removes the needless ones of the letters.
func (r *letterRun) reconcile(ctx context.Context, letters []Letter) (faults []error) {
	var opened []openedLetter
	var refs []hook.DeliveryRef
	for _, letter := range letters {
		body, err := hook.DecodeDeadLetter(letter.Body)
		if err != nil {
			r.Log.ErrorContext(ctx, "dead_letter.decode_failed", slog.String(names.LogMessage, letter.ID), slog.Any(names.LogError, err))
			r.failed.Add(1)
			continue
		}
		opened, refs = append(opened, openedLetter{letter, body}), append(refs, body.Delivery)
	}
	records, err := r.Store.DeliveriesByRef(ctx, refs)
	if err != nil {
		r.failed.Add(int64(len(opened)))
		return []error{err}
	}
	deliveries := parallel.Groups(opened, func(l openedLetter) hook.DeliveryID { // of all generations, whose settlements are one
		return hook.DeliveryID{Event: l.body.Delivery.Event, Endpoint: l.body.Delivery.Endpoint}
	})
	found := make([][]Letter, len(deliveries))
	forEach(len(deliveries), func(i int) error {
		for _, l := range deliveries[i] {
			record, recorded := records[l.body.Delivery]
			found[i] = append(found[i], r.needless(ctx, l.Letter, l.body, record, recorded)...)
		}
		return nil // logged
	})
	requests := slices.Collect(slices.Chunk(slices.Concat(found...), maxRemoved))
	return forEach(len(requests), func(i int) error {
		err := r.DeadLetters.Remove(ctx, requests[i])
		if n := int64(len(requests[i])); err != nil {
			r.failed.Add(n)
		} else {
			r.removed.Add(n)
		}
		return err
	})
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
		r.failed.Add(1)
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
