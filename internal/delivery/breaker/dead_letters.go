package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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
	r.logRun(ctx, err)
	return err
}

// letterRun is one run through the dead-letter queue.
type letterRun struct {
	*Breaker

	most int // letters to read, before lettersPerRemoved

	mu   sync.Mutex
	seen map[string]bool             // letter ids
	kept map[hook.DeliveryRef]Letter // the letter with the lowest id of each dead delivery

	removed, failed atomic.Int64
}

// receiveLetters reconciles letters until the queue returns no unseen letter, the run has read
// enough, or less than receiveReserve is left.
func (r *letterRun) receiveLetters(ctx context.Context) error {
	for r.readsOn() {
		if !r.hasTime(ctx, receiveReserve) {
			return nil
		}
		letters, err := r.DeadLetters.Receive(ctx)
		if err != nil {
			return fmt.Errorf("receive dead letters: %w", err)
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

	return len(r.seen) < r.most+lettersPerRemoved*int(r.removed.Load())
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

func (r *letterRun) reconcileLetters(ctx context.Context, letters []Letter) error {
	decoded := make(map[Letter]hook.DeadLetter, len(letters))
	refs := make(map[hook.DeliveryRef]bool, len(letters))
	for _, letter := range letters {
		body, err := hook.DecodeDeadLetter(letter.Body)
		if err != nil {
			r.Log.ErrorContext(ctx, "dead_letter.decode_failed", slog.String(names.LogMessage, letter.ID), slog.Any(names.LogError, err))
			r.failed.Add(1)
			continue
		}
		decoded[letter] = body
		refs[body.Delivery] = true
	}
	if len(refs) == 0 {
		return nil
	}
	deliveries, err := r.Store.DeliveriesByRef(ctx, slices.Collect(maps.Keys(refs)))
	if err != nil {
		r.failed.Add(int64(len(decoded)))
		return fmt.Errorf("read deliveries of %d dead letters: %w", len(decoded), err)
	}
	records := make(map[hook.DeliveryRef]hook.Delivery, len(deliveries))
	for _, d := range deliveries {
		records[d.Ref()] = d
	}
	return r.removeLetters(ctx, r.needlessLetters(ctx, letters, decoded, records))
}

func (r *letterRun) removeLetters(ctx context.Context, letters []Letter) error {
	if len(letters) == 0 {
		return nil
	}
	if err := r.DeadLetters.Remove(ctx, letters); err != nil {
		r.failed.Add(int64(len(letters)))
		return fmt.Errorf("remove %d dead letters: %w", len(letters), err)
	}
	r.removed.Add(int64(len(letters)))
	return nil
}

func (r *letterRun) logRun(ctx context.Context, err error) {
	seen, removed, failed := int64(len(r.seen)), r.removed.Load(), r.failed.Load()
	settle.LogRun(ctx, r.Log, "dead_letters.reconciled", err,
		slog.Int64(names.LogSeen, seen),
		slog.Int64(names.LogRemoved, removed),
		slog.Int64(names.LogKept, seen-removed-failed),
		slog.Int64(names.LogFailed, failed))
}
