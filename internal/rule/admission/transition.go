package admission

import (
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// probePause is the shortest time between two probes. By then the index lists deliveries parked
// just now, and events that make no request cost at most one probe a second.
const probePause = time.Second

// CheckAfter returns when a circuit check is due after the change of the record: for the next
// probe, or for an immediate release. ok is false without either.
func (r *Record) CheckAfter(before Record, now time.Time) (delay time.Duration, ok bool) {
	switch {
	case r.State == circuit.Open && (before.State == circuit.HalfOpen || !r.ProbeAt.Equal(before.ProbeAt)):
		return max(probePause, r.NextProbe().Sub(now)), true
	case r.State == circuit.Closed && (before.State != circuit.Closed || r.frees(before, now)) && r.Waiting:
		return 0, true
	}
	return 0, false
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
