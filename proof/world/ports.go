package world

import (
	"context"
	"errors"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// ports are the ports of the functions beside the table: those in memory, with the faults
// of the function under test.
type ports struct{ w *World }

// Send is an effect, with the tasks that the queue does not refuse.
func (p ports) Send(ctx context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error {
	errs := make([]error, len(tasks))
	err := p.w.call(ctx, "send", tasks[0].Delivery.Endpoint, tasks[0].Delivery.String(), true, func() error {
		underTest := ctx.Value(functionKey{}) == p.w.options.Function
		var taken []hook.Task
		for i, task := range tasks {
			if underTest && p.w.Calls.Refuse != nil {
				errs[i] = p.w.Calls.Refuse(i, task)
			}
			if errs[i] == nil {
				taken = append(taken, task)
			}
		}
		if underTest && p.w.Calls.Twice {
			taken = append(taken, taken...)
		}
		return errors.Join(p.w.Queue.Send(ctx, queue, taken, delay)...)
	})
	for i := range errs {
		if err != nil {
			errs[i] = err
		}
	}
	if errors.Join(errs...) == nil {
		return nil
	}
	return errs
}

// Visible reads the depth of a queue.
func (p ports) Visible(ctx context.Context, queue hook.Queue) (n int, err error) {
	err = p.w.call(ctx, "read queue", "", queue.String(), false, func() (err error) {
		n, err = p.w.Queue.Visible(ctx, queue)
		return err
	})
	return n, err
}

// At is an effect.
func (p ports) At(ctx context.Context, task hook.Task, at time.Time) error {
	return p.w.call(ctx, "schedule", task.Delivery.Endpoint, task.Delivery.String(), true, func() error { return p.w.Schedules.At(ctx, task, at) })
}

// Enqueue is an effect.
func (p ports) Enqueue(ctx context.Context, check hook.CircuitCheck, delay time.Duration) error {
	return p.w.call(ctx, "enqueue check", check.Endpoint, "", true, func() error {
		p.w.checked(Check{check, delay})
		return p.w.CircuitQueue.Enqueue(ctx, check, delay)
	})
}

// EnqueueReview is an effect.
func (p ports) EnqueueReview(ctx context.Context, page hook.ReviewPage) error {
	return p.w.call(ctx, "enqueue review", "", "", true, func() error { return p.w.CircuitQueue.EnqueueReview(ctx, page) })
}

// Continue is an effect.
func (p ports) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	return p.w.call(ctx, "continue", "", "", true, func() error { return p.w.Jobs.Continue(ctx, m, delay) })
}

// Notify is an effect.
func (p ports) Notify(ctx context.Context, n hook.Notification) error {
	return p.w.call(ctx, "notify", n.Endpoint, n.Type, true, func() error { return p.w.Notifications.Notify(ctx, n) })
}

// deadLetters is the port of dead letters.
type deadLetters struct{ w *World }

// Send is an effect.
func (l deadLetters) Send(ctx context.Context, letter hook.DeadLetter) error {
	return l.w.call(ctx, "send dead letter", letter.Endpoint, letter.Delivery.String(), true, func() error { return l.w.DeadLetters.Send(ctx, letter) })
}

// Receive is an effect: the letters are hidden from other receivers.
func (l deadLetters) Receive(ctx context.Context) (letters []breaker.Letter, err error) {
	err = l.w.call(ctx, "receive dead letters", "", "", true, func() (err error) {
		letters, err = l.w.DeadLetters.Receive(ctx)
		return err
	})
	return letters, err
}

// Remove is an effect.
func (l deadLetters) Remove(ctx context.Context, letters []breaker.Letter) error {
	return l.w.call(ctx, "remove dead letters", "", "", true, func() error { return l.w.DeadLetters.Remove(ctx, letters) })
}

// Depth returns the number of dead letters.
func (l deadLetters) Depth(ctx context.Context) (n int, err error) {
	err = l.w.call(ctx, "read depth", "", "", false, func() (err error) {
		n, err = l.w.DeadLetters.Depth(ctx)
		return err
	})
	return n, err
}
