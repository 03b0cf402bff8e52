package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// probePause is the shortest time between two probes. By then the index lists deliveries parked
// just now, and events that make no request cost at most one probe a second.
const probePause = time.Second

// announceTransition enqueues a circuit check for the next probe or for an immediate release, and
// tells the owner that the circuit opened or closed. It does both even if one fails, and nothing
// without a transition. What is lost here, the breaker's tick repairs: it finds the record by
// AttendAt. window has the results of the ten minutes before the transition.
func (g *Gate) announceTransition(ctx context.Context, before, after Record, window circuit.Counts, now time.Time) error {
	var err error
	switch {
	case after.State == circuit.Open && (before.State == circuit.HalfOpen || !after.ProbeAt.Equal(before.ProbeAt)):
		err = g.enqueueCheck(ctx, after, max(probePause, after.NextProbe().Sub(now)))
	case after.State == circuit.Closed && (before.State != circuit.Closed || before.waitsFor(after, now)) && after.Waiting:
		err = g.enqueueCheck(ctx, after, 0)
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
func (g *Gate) announce(ctx context.Context, after Record, n hook.Notification, now time.Time) error {
	if err := g.notifyTransition(ctx, n); err != nil {
		return err
	}
	written := after
	written.Version++
	return contentionOf(conflict.Update(ctx, g.Wait, maxSaveAttempts, &written, g.circuitOf(ctx, after.Tenant, after.Endpoint), func(record Record) error {
		if record.AnnounceAt.IsZero() || record.Generation != after.Generation {
			return nil
		}
		record.AnnounceAt = time.Time{}
		return g.saveCircuit(ctx, record.planCheck(now))
	}), after.Endpoint)
}

func (g *Gate) notifyTransition(ctx context.Context, n hook.Notification) error {
	if err := g.Notifier.Notify(ctx, n); err != nil {
		return fmt.Errorf("notify %s of endpoint %s: %w", n.Type, n.Endpoint, err)
	}
	return nil
}

// Announcement returns the notification of the transition that AnnounceAt belongs to.
func (r Record) Announcement() hook.Notification {
	n := hook.Notification{Tenant: r.Tenant, Endpoint: r.Endpoint, At: r.AnnounceAt.Add(-AttendAfter)}
	if r.State == circuit.Closed {
		n.Type, n.Reason = hook.NotificationClosed, "A probe succeeded. Parked deliveries are released."
		if !r.OpenedAt.IsZero() { // an answer has ended the outage since
			n.Figures = map[string]float64{"open_s": n.At.Sub(r.OpenedAt).Seconds()}
		}
	} else {
		n.Type, n.Reason = hook.NotificationOpened, "Deliveries to the endpoint keep failing. Further deliveries are parked until a probe succeeds."
		n.Figures = map[string]float64{"failures": float64(r.Failures), "cooldown_s": r.Cooldown.Seconds()}
	}
	n.Key = fmt.Sprintf("%s/%s/%d", n.Type, r.Endpoint, r.Generation)
	return n
}
