package breaker

import (
	"context"
	"errors"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

const (
	maxWave      = 500         // deliveries per wave
	waveInterval = time.Second // between two waves: time for the circuit to open again, unless the tasks wait for a window
)

// waveSize returns the number of deliveries in wave n, from 1: 2^(n-1), at most
// maxWave. 2^9 = 512, so admission.FullWave is the first wave of maxWave deliveries.
func waveSize(n int) int { return min(1<<min(n-1, admission.FullWave), maxWave) }

// releaseWave sends the next wave. It sends nothing for a check of another wave, for a check
// without a wave during a release, and while the endpoint is throttled: the gate would park the
// deliveries again, for a task and a write each.
func (r *reconciliation) releaseWave(next admission.Record) step {
	wave := max(r.record.Wave, 1)
	switch {
	case r.check.Wave != 0 && r.check.Wave != wave:
		return step{decision: decideStale, next: next}
	case r.check.Wave == 0 && wave > 1 && r.now.Before(r.record.AttendAt):
		return step{decision: decideUnderWay, next: next}
	case r.now.Before(r.record.ThrottledUntil):
		next.Wave = 1 // not a wave as large as the one that was refused
		return r.checkAt(decidePause, next, r.record.ThrottledUntil, next.Wave)
	}
	// After the save no other process releases this wave. If this process dies
	// before the message for the next wave, Tick continues when AttendAt is due.
	next.Wave, next.AttendAt = wave+1, r.now.Add(admission.AttendAfter)
	return step{decision: decideRelease, next: next, act: func(ctx context.Context) error { return r.sendWave(ctx, wave) }}
}

// sendWave sends those whose turn is first, and enqueues the check of the next wave.
func (r *reconciliation) sendWave(ctx context.Context, wave int) error {
	parked, _, err := r.withoutSlot(ctx, max(waveSize(wave), probeChoice))
	if err != nil || len(parked) == 0 {
		return err // Tick checks the endpoint again at AttendAt
	}
	admission.Order(parked, r.now)
	// If the queue refuses a task, its delivery stays parked and is among the oldest of the
	// next wave. So the next wave is enqueued even after an error: nobody repeats this one.
	return errors.Join(r.sendTasks(ctx, parked[:min(len(parked), waveSize(wave))]), r.enqueueCheck(ctx, wave+1, waveInterval))
}

// sendTasks sends the tasks, and then saves the sent deliveries as retrying. After a crash
// between the two steps a delivery is still parked: its task may settle it, or the next wave
// sends another one. If the task has already changed the delivery, that change stands.
func (r *reconciliation) sendTasks(ctx context.Context, deliveries []hook.Delivery) error {
	tasks := make([]hook.Task, len(deliveries))
	for i, d := range deliveries {
		tasks[i] = d.NextTask()
	}
	queue, at := r.endpoint.QueueAt(hook.QueueRetry, r.now)
	refused := r.Queue.Send(ctx, queue, tasks, at.Sub(r.now))
	var sent []hook.Delivery
	for i, d := range deliveries {
		if refused == nil || refused[i] == nil {
			sent = append(sent, d)
		}
	}
	r.released = len(sent)
	faults := forEach(len(sent), func(i int) error {
		d := sent[i]
		// The record keeps the task that parked the delivery. With the new task in it,
		// deliver would think that the new task had made this write.
		d.State, d.Reason = hook.StateRetrying, hook.ReasonNone
		d.NextAttemptAt, d.UpdatedAt = at, r.now
		_, err := r.saveDelivery(ctx, d)
		return err
	})
	return errors.Join(append(faults, refused...)...)
}

// fillSlots sends a delivery through each free slot. From then on the slots are handed over
// from one delivery to the next: see package admit. As long as deliveries wait, the tick
// fills the slots again, in case their tasks were lost.
func (r *reconciliation) fillSlots(next admission.Record) step {
	if r.now.Before(r.record.ThrottledUntil) {
		return r.checkAt(decidePause, next, r.record.ThrottledUntil, r.record.Wave)
	}
	next.Wave, next.AttendAt = 0, r.now.Add(admission.AttendAfter)
	return step{decision: decideFill, next: next, act: func(ctx context.Context) (err error) {
		slots := admit.Releaser{Store: r.Store, Queue: r.Queue, CircuitQueue: r.CircuitQueue, Now: r.Now, Wait: r.Wait}
		r.released, err = slots.Fill(ctx, *r.endpoint, next)
		return err
	}}
}
