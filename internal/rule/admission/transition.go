package admission

import (
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// probePause is the shortest time between two probes. By then the index lists deliveries parked
// just now, and events that make no request cost at most one probe a second.
const probePause = time.Second

// CheckAfter returns when a circuit check is due after the change of the record: at once to tell the
// owner of an opening or closing, or for a release, or for the next probe. ok is false without either.
func (r *Record) CheckAfter(before Record, now time.Time) (delay time.Duration, ok bool) {
	switch {
	case r.Generation != before.Generation, r.State == circuit.Closed && r.frees(before, now) && r.Waiting:
		return 0, true
	case r.State == circuit.Open && (before.State == circuit.HalfOpen || !r.ProbeAt.Equal(before.ProbeAt)):
		return max(probePause, r.NextProbe().Sub(now)), true
	}
	return 0, false
}

// Untold are the last transitions of a circuit of which nobody was told: one, or two if the second came before
// the check that tells of the first. If a third comes before it, the first stays untold.
type Untold struct {
	Earlier Transition `stored:"untold_earlier"`
	Last    Transition `stored:"untold"`
}

// Transition is an opening or a closing by outcomes, with what its notification says. The owner is not
// told of one by hand.
type Transition struct {
	State      circuit.State `stored:"state"` // after it: open or closed; zero: no transition
	Generation int64         `stored:"generation"`
	At         time.Time     `stored:"at"`
	OpenedAt   time.Time     `stored:"opened_at"`   // when the outage began
	Cooldown   time.Duration `stored:"cooldown_ns"` // until the first probe
	Failures   int           `stored:"failures"`    // those in a row that opened the circuit
	Failed     int           `stored:"failed"`      // attempts of the ten minutes before
	Attempts   int           `stored:"attempts"`    // of the ten minutes before
}

// transition returns the transition that led to the record now.
func (r *Record) transition(window circuit.Counts, now time.Time) Transition {
	return Transition{
		State: r.State, Generation: r.Generation, At: now.UTC().Truncate(time.Millisecond), OpenedAt: r.OpenedAt,
		Cooldown: r.Cooldown, Failures: r.Failures, Failed: window.Failed, Attempts: window.OK + window.Failed,
	}
}

// All returns the transitions, in their order.
func (u Untold) All() []Transition {
	return slices.DeleteFunc([]Transition{u.Earlier, u.Last}, func(t Transition) bool { return t == Transition{} })
}

// Without returns the transitions without those that somebody was told of.
func (u Untold) Without(told []Transition) Untold {
	for _, t := range told {
		if u.Earlier == t {
			u.Earlier = Transition{}
		}
		if u.Last == t {
			u.Last = Transition{}
		}
	}
	return u
}

// Announcement returns the notification of the transition.
func (r *Record) Announcement(t Transition) hook.Notification {
	n := hook.Notification{Tenant: r.Tenant, Endpoint: r.Endpoint, At: t.At}
	if t.State == circuit.Closed {
		n.Type, n.Reason = hook.NotificationClosed, "The endpoint answers again. Parked deliveries follow now, unless it answered 429, or is paused or disabled."
		n.Figures = map[string]float64{"open_s": t.At.Sub(t.OpenedAt).Seconds()}
	} else {
		n.Type, n.Reason = hook.NotificationOpened, "Deliveries to the endpoint keep failing. Further deliveries are parked until a probe succeeds."
		n.Figures = map[string]float64{
			"failures": float64(t.Failures), "failed_10m": float64(t.Failed), "attempts_10m": float64(t.Attempts), "cooldown_s": t.Cooldown.Seconds(),
		}
	}
	n.Key = fmt.Sprintf("%s/%s/%d", n.Type, r.Endpoint, t.Generation)
	return n
}
