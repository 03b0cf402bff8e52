package deliver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"surehook/internal/conflict"
	"surehook/internal/delivery/parallel"
	"surehook/internal/hook"
)

// recordReplays records the new replays of a batch in their predecessors, because
// the sender of the tokens may have died before the write. recordReplays adds the
// written records to the snapshot and returns the jobs without failures, in order. A
// refused replay is not recorded, and the plan drops the token. If the token was a redriven
// letter and the delivery stays dead, its letter returns to the dead letters. A redriven
// letter of a delivery in progress fails, and comes again: the delivery may still die.
func (d *Deliverer) recordReplays(ctx context.Context, jobs []*job, snapshot Snapshot) []*job {
	var (
		unrecorded []*job
		replayed   []hook.Delivery // of unrecorded: the records before the replay, and then with the replay
	)
	now := d.Now()
	for _, j := range jobs {
		if earlyRedrive(j.Token, snapshot, now) {
			j.err = errEarlyRedrive
		} else if old, ok := unrecordedReplay(j.Token, snapshot); ok {
			unrecorded, replayed = append(unrecorded, j), append(replayed, *old)
		}
	}
	parallel.Each(len(unrecorded), len(unrecorded), func(i int) error {
		j := unrecorded[i]
		replayed[i], j.err = d.recordReplay(ctx, replayed[i], j.Token.ReplayRequest)
		return nil // each job holds its own error
	})
	for i, j := range unrecorded {
		if j.err == nil {
			snapshot.Deliveries[replayed[i].Ref()] = &replayed[i]
		}
	}
	return slices.DeleteFunc(jobs, func(j *job) bool { return j.err != nil })
}

// errEarlyRedrive fails a redriven letter whose delivery is in progress: a letter goes out
// before the record of the death. Nobody may drop the letter: another process may have
// received the same message, may see the death later, and may die after recording the
// replay. No token of the replay would be left.
var errEarlyRedrive = errors.New("the delivery to be replayed is in progress")

// earlyRedrive reports whether the redriven letter came before the record of the death.
// A delivery without any record may get one until the end of the longest max_age. Later,
// the record was removed at the end of the retention.
func earlyRedrive(t hook.Token, from Snapshot, now time.Time) bool {
	before, replay := t.Delivery.Predecessor()
	if !replay || !t.ReplayRequest.Redrive {
		return false
	}
	old, ok := from.Deliveries[before]
	if ok {
		return old.Tenant == t.Tenant && !old.State.Settled()
	}
	event, kept := from.Events[t.Delivery.Event]
	ours := kept && event.Tenant == t.Tenant && event.AcceptedAt.UnixMilli() == t.Delivery.AcceptedAt
	return ours && now.Sub(event.AcceptedAt) < hook.MaxMaxAge && !recorded(t, from)
}

func recorded(t hook.Token, from Snapshot) bool {
	_, ok := from.Deliveries[t.Delivery]
	return ok
}

// unrecordedReplay returns the delivery to be replayed by the token. ok is false
// when the token belongs to no replay, or the replay is recorded.
func unrecordedReplay(t hook.Token, from Snapshot) (old *hook.Delivery, ok bool) {
	before, replay := t.Delivery.Predecessor()
	if !replay || t.Attempt != 1 {
		return nil, false
	}
	if recorded(t, from) {
		return nil, false
	}
	old, ok = from.Deliveries[before]
	return old, ok && old.Tenant == t.Tenant && old.Replayed.Generation == 0
}

// maxSaveAttempts limits the writes of a replay request. Each conflict means that another
// writer succeeded, so 3 attempts tolerate 2 concurrent writers.
const maxSaveAttempts = 3

// recordReplay writes the replay request into the delivery and returns the new
// record. A delivery whose state refuses the replay is returned unchanged.
func (d *Deliverer) recordReplay(ctx context.Context, old hook.Delivery, request hook.ReplayRequest) (hook.Delivery, error) {
	err := conflict.Repeat(ctx, d.Wait, maxSaveAttempts, func() error {
		replayed, refused := old.Replay(request, d.Now())
		if refused != nil {
			return d.returnLetter(ctx, &old, request)
		}
		saveErr := d.Store.SaveDelivery(ctx, replayed, nil)
		if saveErr == nil {
			old = replayed
			old.Version++
			return nil
		}
		saveErr = fmt.Errorf("record replay of delivery %s: %w", old.ID, saveErr)
		if hook.CodeOf(saveErr) != hook.CodeConflict {
			return saveErr
		}
		var err error
		if old, err = d.Store.Delivery(ctx, replayed.Ref()); err != nil {
			return fmt.Errorf("read delivery %s: %w", replayed.ID, err)
		}
		return saveErr
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		return old, hook.Conflict(fmt.Sprintf("delivery %s changed %d times during the recording of a replay", old.ID, maxSaveAttempts))
	}
	return old, err
}

// returnLetter sends the letter of a delivery that stays dead after a refused redrive: SQS
// has moved the letter, and the message ends with the batch. After a death of the process
// the message comes again, and the breaker removes the second letter.
func (d *Deliverer) returnLetter(ctx context.Context, dead *hook.Delivery, request hook.ReplayRequest) error {
	if !request.Redrive || dead.State != hook.StateDead || dead.Replayed.Generation != 0 {
		return nil
	}
	if err := d.Settler.SendLetter(ctx, dead); err != nil {
		return fmt.Errorf("return the letter of a refused redrive: %w", err)
	}
	return nil
}
