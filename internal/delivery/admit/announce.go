package admit

import (
	"context"
	"errors"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// followTransition enqueues a circuit check for the next probe, or for a release at once, also when the
// circuit sheds no more; and it tells the owner that the circuit opened or closed. It does both even if
// one fails. What is lost here, the breaker's tick repairs: it finds the record by AttendAt. window has the results of the ten minutes before the transition.
func (g *Gate) followTransition(ctx context.Context, before, after admission.Record, window circuit.Counts, now time.Time) error {
	var err error
	if delay, ok := after.CheckAfter(before, now); ok {
		err = g.enqueueCheck(ctx, after, delay)
	}
	if after.Generation == before.Generation {
		return err
	}
	n := after.Announcement()
	if n.Type == hook.NotificationOpened {
		n.Figures["failed_10m"], n.Figures["attempts_10m"] = float64(window.Failed), float64(window.OK+window.Failed)
	}
	return errors.Join(err, g.announce(ctx, after, n, now))
}

// announce sends the notification of a transition, and records that it is sent.
func (g *Gate) announce(ctx context.Context, after admission.Record, n hook.Notification, now time.Time) error {
	if err := g.Notifier.Notify(ctx, n); err != nil {
		return err
	}
	_, _, err := g.updateCircuit(ctx, after, func(record admission.Record) admission.Record {
		if record.AnnounceAt.IsZero() || record.Generation != after.Generation {
			return record
		}
		return record.Announced(now)
	})
	return err
}
