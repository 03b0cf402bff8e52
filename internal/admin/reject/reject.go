// Package reject lists the rejects, and sends them to the events queue again after their cause has
// been fixed.
//
// SQS cannot list a queue, so a call receives messages and makes them visible again. Two concurrent
// calls may each see only a part.
package reject

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/source"
)

// Bounds of a redrive.
const (
	MaxRedrive = 1000 // rejects sent by one call
	// redriveTime ends a redrive well before the function's timeout of 29 s.
	redriveTime = 15 * time.Second
)

// Queue holds the rejects and the events. Its messages are hidden for a minute after Receive.
type Queue interface {
	// Receive returns up to 10 rejects; none when the queue is empty.
	Receive(ctx context.Context) ([]source.Message, error)
	// Release makes received rejects visible at once.
	Release(ctx context.Context, messages []source.Message) error
	// Remove deletes at most 10 received rejects.
	Remove(ctx context.Context, messages []source.Message) error
	// Return sends a message to the events queue, in the group and after the delay. An empty group
	// means no group.
	Return(ctx context.Context, m source.Message, group string, delay time.Duration) error
}

// Admin lists and redrives rejects. All fields are required.
type Admin struct {
	Queue Queue
	Now   func() time.Time
}

// List returns up to limit rejects, in no particular order.
func (a *Admin) List(ctx context.Context, limit int) ([]source.Message, error) {
	var found []source.Message
	for len(found) < limit {
		received, err := a.Queue.Receive(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("list rejects: %w", err), a.release(ctx, found))
		}
		if len(received) == 0 {
			break
		}
		found = append(found, received...)
	}
	if err := a.release(ctx, found); err != nil {
		return nil, err
	}
	return found[:min(len(found), limit)], nil
}

// Redriven is the result of a redrive.
type Redriven struct {
	Sent   int  `json:"redriven"` // to the events queue
	Failed int  `json:"failed"`   // not taken by the events queue, and still rejects
	More   bool `json:"more"`     // the call ended at its bounds: there may be more
}

// Redrive sends the rejects that arrived before the call to the events queue, at most MaxRedrive
// and for about 15 s, and removes them. A reject is sent before it is removed. If a crash leaves it
// in both queues, it is still accepted once, because both messages have the same idempotency key. A
// reject that the queue refuses, such as one that is too large, does not stop the others.
func (a *Admin) Redrive(ctx context.Context) (Redriven, error) {
	began := a.Now()
	var (
		done  Redriven
		later []source.Message // rejected since the call began, or past the bound
	)
	for done.Sent < MaxRedrive && a.Now().Sub(began) < redriveTime {
		received, err := a.Queue.Receive(ctx)
		if err != nil {
			return done, errors.Join(fmt.Errorf("redrive rejects: %w", err), a.release(ctx, later))
		}
		if len(received) == 0 {
			return done, a.release(ctx, later)
		}
		var sent []source.Message
		for _, m := range received {
			switch {
			case m.SentAt.After(began), done.Sent+len(sent) == MaxRedrive:
				later = append(later, source.Message{ID: m.ID, Receipt: m.Receipt})
			case a.Queue.Return(ctx, m.Again(), "", 0) != nil:
				done.Failed++
			default:
				sent = append(sent, m)
			}
		}
		if err := a.Queue.Remove(ctx, sent); err != nil {
			return done, errors.Join(fmt.Errorf("redrive rejects: %w", err), a.release(ctx, later))
		}
		done.Sent += len(sent)
	}
	done.More = true
	return done, a.release(ctx, later)
}

func (a *Admin) release(ctx context.Context, messages []source.Message) error {
	if err := a.Queue.Release(ctx, messages); err != nil {
		return fmt.Errorf("release rejects: %w", err)
	}
	return nil
}
