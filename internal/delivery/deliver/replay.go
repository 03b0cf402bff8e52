package deliver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// recordReplays records the new replays of a batch in the replayed deliveries, because the
// sender of the tasks may have died before it did. It adds the written records to the
// snapshot, and returns the jobs that have not failed, in order.
//
// A refused replay is not recorded, and judge drops the task. If the task is a redriven dead
// letter and its delivery stays dead, the letter is sent to the dead-letter queue again. If the
// delivery is still in progress, the message fails and comes again, because the delivery may
// still die.
func (d *Deliverer) recordReplays(ctx context.Context, jobs []*job, snapshot Snapshot) []*job {
	var (
		unrecorded []*job
		replayed   []hook.Delivery // for each of unrecorded: the replayed delivery, first as read and then as written
	)
	now := d.Now()
	for _, j := range jobs {
		if earlyRedrive(j.Task, snapshot, now) {
			j.err = errEarlyRedrive
		} else if old, ok := unrecordedReplay(j.Task, snapshot); ok {
			unrecorded, replayed = append(unrecorded, j), append(replayed, *old)
		}
	}
	parallel.Each(len(unrecorded), len(unrecorded), func(i int) error {
		j := unrecorded[i]
		replayed[i], j.err = d.recordReplay(ctx, replayed[i], j.Task.ReplayRequest)
		return nil // each job holds its own error
	})
	for i, j := range unrecorded {
		if j.err == nil {
			snapshot.Deliveries[replayed[i].Ref()] = &replayed[i]
		}
	}
	return slices.DeleteFunc(jobs, func(j *job) bool { return j.err != nil })
}

// errEarlyRedrive fails a redriven dead letter whose delivery is in progress: a letter is sent
// before the death is recorded. The letter must not be dropped: another process may have
// received the same message, may see the death a moment later, record the replay, and die. Then
// no task of the replay would be left.
var errEarlyRedrive = errors.New("the delivery to be replayed is in progress")

// earlyRedrive reports whether the redriven letter came before the record of the death. A
// delivery without a record may still get one until the end of the longest max_age. After that,
// a missing record means that it was removed at the end of the retention.
func earlyRedrive(t hook.Task, from Snapshot, now time.Time) bool {
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

func recorded(t hook.Task, from Snapshot) bool {
	_, ok := from.Deliveries[t.Delivery]
	return ok
}

// unrecordedReplay returns the delivery that the task replays. ok is false if the task
// belongs to no replay, or if the replay is already recorded.
func unrecordedReplay(t hook.Task, from Snapshot) (old *hook.Delivery, ok bool) {
	before, replay := t.Delivery.Predecessor()
	if !replay || t.Attempt != 1 || recorded(t, from) {
		return nil, false
	}
	old, ok = from.Deliveries[before]
	return old, ok && old.Tenant == t.Tenant && old.Replayed.Generation == 0
}

// recordReplay writes the replay request into the delivery and returns the new record. If the
// state of the delivery forbids the replay, the delivery is returned unchanged.
func (d *Deliverer) recordReplay(ctx context.Context, old hook.Delivery, request hook.ReplayRequest) (hook.Delivery, error) {
	_, recorded, err := settle.Deliveries(d.Store, d.Wait).UpdateFrom(ctx, old, old.Ref(), func(old hook.Delivery) (hook.Delivery, bool, error) {
		replayed, refused := old.Replay(request, d.Now())
		if refused != nil {
			return old, false, d.returnLetter(ctx, &old, request)
		}
		return replayed, true, nil
	})
	return recorded, err
}

// returnLetter sends the dead letter again, if the delivery stays dead after a refused redrive:
// SQS has moved the letter, and the message ends with this batch. If the process dies in
// between, the message comes again, and the breaker removes the second letter.
func (d *Deliverer) returnLetter(ctx context.Context, dead *hook.Delivery, request hook.ReplayRequest) error {
	if !request.Redrive || dead.State != hook.StateDead || dead.Replayed.Generation != 0 {
		return nil
	}
	if err := d.Settler.SendLetter(ctx, dead); err != nil {
		return fmt.Errorf("send the letter of a refused redrive again: %w", err)
	}
	return nil
}
