package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
)

const (
	// maxSaveAttempts limits the tries of writing a delivery. After a conflict another writer
	// has succeeded, so 5 tries tolerate 4 concurrent writers.
	maxSaveAttempts = 5
	// maxParallel limits the records read or written at the same time.
	maxParallel = 16
)

// candidate is a delivery with a replay request.
type candidate struct {
	delivery hook.Delivery // the delivery to replay; afterwards as recorded with the replay
	request  hook.ReplayRequest
	delay    time.Duration // of the token, in whole seconds

	sent    bool  // the queue holds the token
	refused error // final: the replay is forbidden, or another request made it
	skip    Skip  // why it was refused, for the count of a job
	failed  error // something failed: the request may be repeated
}

// queued reports whether the delivery is queued, with a record or without. Its replay sends the
// first token again and makes no new generation.
func (c *candidate) queued() bool {
	return c.delivery.Version == 0 || c.delivery.State == hook.StateQueued
}

// recordedIn reports whether the record d names this request as its replay. A Replayer wrote
// that, or function deliver with the request from the token.
func (c *candidate) recordedIn(d hook.Delivery) bool {
	by := d.Replayed
	return by.Generation != 0 && by.Job == c.request.Job && by.JobIndex == c.request.JobIndex && by.By == c.request.By
}

func (c *candidate) token() hook.Token {
	if c.queued() {
		return c.delivery.NextToken()
	}
	t := hook.NewToken(c.delivery.Tenant, c.delivery.Successor(), 1)
	t.ReplayRequest = c.request
	return t
}

// enqueue sends the tokens of the replays, and then records the replays that were sent. Each
// candidate holds its own result; refused ones are skipped. A replay that is already recorded
// for the same job counts as sent, without another token.
func (r *Replayer) enqueue(ctx context.Context, candidates []*candidate) {
	now := r.now()
	var toSend, toRecord []*candidate
	for _, c := range candidates {
		if c.refused != nil {
			continue
		}
		if c.request.Job != "" && c.recordedIn(c.delivery) {
			c.sent = true
			toRecord = append(toRecord, c)
			continue
		}
		if _, err := c.delivery.Replay(c.request, now); err != nil {
			c.refuse(err, skipOf(c.delivery, err, now))
			continue
		}
		toSend = append(toSend, c)
	}
	r.sendTokens(ctx, toSend)
	for _, c := range toSend {
		if c.sent && !c.queued() {
			toRecord = append(toRecord, c)
		}
	}
	_ = forEach(len(toRecord), func(i int) error {
		r.recordReplay(ctx, toRecord[i], now)
		return nil // the candidate holds the error
	})
}

// sendTokens sends the tokens, with one call for neighbours that have the same delay.
func (r *Replayer) sendTokens(ctx context.Context, candidates []*candidate) {
	for len(candidates) > 0 {
		n := 1
		for n < len(candidates) && candidates[n].delay == candidates[0].delay {
			n++
		}
		tokens := make([]hook.Token, n)
		for i, c := range candidates[:n] {
			tokens[i] = c.token()
		}
		errs := r.Queue.Send(ctx, hook.LaneReplay, tokens, candidates[0].delay)
		for i, c := range candidates[:n] {
			if errs != nil && errs[i] != nil {
				c.failed = fmt.Errorf("send token of %s: %w", tokens[i].Delivery, errs[i])
				continue
			}
			c.sent = true
		}
		candidates = candidates[n:]
	}
}

// recordReplay writes the replay into the old record. The token is already on the queue, so the
// write is repeated after every conflict. The candidate is refused only if the record is
// missing or no longer accepts the replay.
func (r *Replayer) recordReplay(ctx context.Context, c *candidate, now time.Time) {
	ref := c.delivery.Ref()
	err := conflict.Update(ctx, r.Wait, maxSaveAttempts, &c.delivery, func() (hook.Delivery, error) {
		stored, err := r.Store.Delivery(ctx, ref)
		if err != nil {
			return stored, fmt.Errorf("read delivery %s: %w", ref.DeliveryID, err)
		}
		return stored, nil
	}, func(d hook.Delivery) error {
		if c.recordedIn(d) {
			c.delivery = d
			c.failed = r.settleReplaced(ctx, d)
			return nil
		}
		next, refused := d.Replay(c.request, now)
		if refused != nil {
			c.refuse(refused, skipOf(d, refused, now))
			return nil
		}
		c.delivery = next // function deliver writes the same record for the token
		if err := r.Store.SaveDelivery(ctx, next, nil); err != nil {
			return fmt.Errorf("record replay of delivery %s: %w", d.ID, err)
		}
		c.delivery.Version++
		c.failed = r.settleReplaced(ctx, c.delivery)
		return nil
	})
	switch {
	case hook.CodeOf(err) == hook.CodeConflict:
		c.failed = errBusy("delivery " + ref.String())
	case hook.CodeOf(err) == hook.CodeNotFound:
		c.refuse(err, SkipGone)
	case err != nil:
		c.failed = err
	}
}

// settleReplaced completes the settlement of a delivery that was in progress and was cancelled
// by its replay.
func (r *Replayer) settleReplaced(ctx context.Context, d hook.Delivery) error {
	if !d.CancelledByReplay() {
		return nil
	}
	return r.completeSettled(ctx, d)
}

func (r *Replayer) completeSettled(ctx context.Context, d hook.Delivery) error {
	if err := r.Completer.Complete(ctx, d); err != nil {
		return fmt.Errorf("complete settlement of delivery %s: %w", d.ID, err)
	}
	return nil
}

// now returns the time in milliseconds, as stored.
func (r *Replayer) now() time.Time { return r.Now().UTC().Truncate(time.Millisecond) }

func errBusy(subject string) error {
	return &hook.Error{Code: hook.CodeUnavailable, Message: fmt.Sprintf("%s changed %d times meanwhile; try again", subject, maxSaveAttempts)}
}

// forEach calls f for 0 to n-1, maxParallel calls at a time, and returns the errors. An
// error does not stop the other calls.
func forEach(n int, f func(i int) error) error {
	return errors.Join(parallel.Each(n, maxParallel, f)...)
}
