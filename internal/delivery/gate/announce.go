package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// probePause is the shortest time between two probes. By then the index lists deliveries parked
// just now, and events that make no request cost at most one probe a second.
const probePause = time.Second

// announceTransition enqueues a circuit check for the next probe or for an immediate release,
// and then notifies the owner. It does both even if one fails, and nothing without a
// transition. If the check is lost, the breaker's tick finds the record by AttendAt; a lost
// notification stays lost. window has the results of the ten minutes before the transition.
func (g *Gate) announceTransition(ctx context.Context, before, after Record, window circuit.Counts, now time.Time) error {
	switch {
	case after.State == circuit.Open && (before.State == circuit.HalfOpen || !after.ProbeAt.Equal(before.ProbeAt)):
		err := g.enqueueCheck(ctx, after, max(probePause, after.NextProbe().Sub(now)))
		if before.State != circuit.Closed {
			return err
		}
		return errors.Join(err, g.notifyTransition(ctx, hook.NotificationOpened,
			"Deliveries to the endpoint keep failing. Further deliveries are parked until a probe succeeds.", after, now, map[string]float64{
				"failures": float64(after.Failures), "failed_10m": float64(window.Failed), "attempts_10m": float64(window.OK + window.Failed),
				"cooldown_s": after.Cooldown.Seconds(),
			}))
	case after.Shed == 0 && before.Shed > 0 && after.State == circuit.Closed && after.Waiting:
		return g.enqueueCheck(ctx, after, 0)
	case after.State == circuit.Closed && before.State != circuit.Closed:
		var err error
		if after.Waiting {
			err = g.enqueueCheck(ctx, after, 0)
		}
		return errors.Join(err, g.notifyTransition(ctx, hook.NotificationClosed,
			"A probe succeeded. Parked deliveries are released.", after, now, map[string]float64{"open_s": now.Sub(before.OpenedAt).Seconds()}))
	}
	return nil
}

// notifyTransition tells the owner that the circuit opened or closed. A crash before it loses
// the notification, but the state of the circuit still shows the transition.
func (g *Gate) notifyTransition(ctx context.Context, kind, reason string, r Record, now time.Time, figures map[string]float64) error {
	n := hook.Notification{
		Type: kind, Tenant: r.Tenant, Endpoint: r.Endpoint, At: now, Reason: reason,
		Figures: figures,
		Key:     fmt.Sprintf("%s/%s/%d", kind, r.Endpoint, r.Generation),
	}
	if err := g.Notifier.Notify(ctx, n); err != nil {
		return fmt.Errorf("notify %s of endpoint %s: %w", kind, r.Endpoint, err)
	}
	return nil
}
