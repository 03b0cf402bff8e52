package breaker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// warnings returns the notifications of deliveries at risk, once per key.
func (w *bundle) warnings() []hook.Notification {
	var all []hook.Notification
	keys := map[string]bool{}
	for _, n := range w.Notifications.Sent() {
		if n.Type == hook.NotificationAtRisk && !keys[n.Key] {
			keys[n.Key] = true
			all = append(all, n)
		}
	}
	return all
}

// The owner of an endpoint whose deliveries do not leave in time is told before the first loss.
func TestReview_WarnsBeforeTheFirstLoss(t *testing.T) {
	t.Parallel()

	const maxAge = 10 * time.Hour
	tests := []struct {
		name   string
		change func(e *hook.Endpoint)
		record func(r *admission.Record)
		parked []time.Duration // ages
		atRisk int             // 0: not told
		loss   time.Duration   // from now
	}{
		{name: "an open circuit, the loss is near", record: opened, parked: []time.Duration{6 * time.Hour, time.Hour}, atRisk: 2, loss: 4 * time.Hour},
		{name: "an open circuit, the loss is far", record: opened, parked: []time.Duration{4 * time.Hour, time.Hour}},
		{name: "a working endpoint without a limit", parked: []time.Duration{6 * time.Hour}},
		{name: "a rate that is enough", change: func(e *hook.Endpoint) { e.RatePerSecond = 1 }, parked: ages(300)},
		{ // 5 hours have 180 turns
			name: "a rate that is too low", change: func(e *hook.Endpoint) { e.RatePerSecond = 0.01 },
			parked: older(ages(200), 5*time.Hour), atRisk: 21, loss: 5*time.Hour - 20*time.Second,
		},
		{name: "nothing parked", record: opened},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(func(e *hook.Endpoint) {
				longAgo(e)
				e.MaxAge = maxAge
				if tt.change != nil {
					tt.change(e)
				}
			})
			w.park(e, tt.parked...)
			w.record(e, func(r admission.Record) admission.Record {
				r.Speed, r.SeenAt = admission.Fast, w.Clock.Now()
				if tt.record != nil {
					tt.record(&r)
				}
				return r.ExpectParked(w.Clock.Now())
			})
			w.count(e, 0, stats.Counts{Failed: 1})
			now := w.Clock.Now()
			for range 3 {
				w.review()
				w.Clock.Pass(15 * time.Minute)
				w.count(e, 0, stats.Counts{Failed: 1})
			}
			got := w.warnings()
			if (len(got) == 1) != (tt.atRisk > 0) || len(got) > 1 {
				t.Fatalf("warnings = %+v; want one: %t", got, tt.atRisk > 0)
			}
			for _, n := range got {
				if off := n.FirstLoss.Sub(now.Add(tt.loss)).Abs(); n.Figures["at_risk"] != float64(tt.atRisk) || off > time.Minute {
					t.Errorf("warning = %+v; want %d at risk, the first lost at about %s", n, tt.atRisk, now.Add(tt.loss))
				}
			}
		})
	}
}

func opened(r *admission.Record) {
	r.Circuit = r.Circuit.Trip(circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}, start)
}

// older returns the ages, each by so much more.
func older(ages []time.Duration, by time.Duration) []time.Duration {
	for i := range ages {
		ages[i] += by
	}
	return ages
}

// A process that dies between the warning and its flag warns again, by the same key, hours later too.
func TestReview_WarnsOnceInACrash(t *testing.T) {
	t.Parallel()

	for at := 1; at <= 2; at++ { // the notification, the flags
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %d, after it: %t", at, after), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				e := w.Endpoint(func(e *hook.Endpoint) { longAgo(e); e.MaxAge = 24 * time.Hour })
				w.park(e, 13*time.Hour)
				w.record(e, func(r admission.Record) admission.Record { opened(&r); return r.ExpectParked(w.Clock.Now()) })
				w.count(e, 0, stats.Counts{Failed: 1})
				w.Crash.Arm(at, after)
				if err := w.Breaker().Review(w.Context()); err == nil || !w.Crash.Restart() {
					t.Fatalf("Review() = %v; want a crash", err)
				}
				for range 3 {
					w.Clock.Pass(time.Hour)
					w.count(e, 0, stats.Counts{Failed: 1})
					w.review()
				}
				if got := w.warnings(); len(got) != 1 {
					t.Errorf("warnings by key = %+v; want one", got)
				}
			})
		}
	}
}

// A paused endpoint has no attempts, so no review finds it, and neither one whose next probe is far:
// its checks warn.
func TestReconcile_WarnsOfQuietEndpoints(t *testing.T) {
	t.Parallel()

	tests := map[string]func(e *hook.Endpoint){
		"paused":           func(e *hook.Endpoint) { e.Status, e.Reason = hook.StatusPaused, hook.ReasonManual },
		"disabled":         func(e *hook.Endpoint) { e.Status, e.Reason = hook.StatusDisabled, hook.ReasonManual },
		"a probe tomorrow": func(e *hook.Endpoint) { e.Circuit.Cooldown = 24 * time.Hour },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(func(e *hook.Endpoint) {
				longAgo(e)
				e.MaxAge = 10 * time.Hour
				change(e)
			})
			w.park(e, time.Minute)
			w.record(e, func(r admission.Record) admission.Record {
				if e.Circuit.Cooldown > 0 {
					r = r.Trip(circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}, w.Clock.Now())
				}
				return r.Suspect(w.Clock.Now())
			})
			w.EnqueueCheck(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}, 0)
			warned := time.Time{}
			for range 10 * 60 {
				w.Tick()
				w.CheckCircuits()
				if len(w.warnings()) > 0 && warned.IsZero() {
					warned = w.Clock.Now()
				}
				w.Clock.Pass(time.Minute)
			}
			got := w.warnings()
			if len(got) != 1 {
				t.Fatalf("warnings = %+v; want one", got)
			}
			if early := got[0].FirstLoss.Sub(warned); early > 5*time.Hour || early < 4*time.Hour {
				t.Errorf("warned %s before the first loss; want four to five hours", early)
			}
			if diff := cmp.Diff([]string{"endpoint.at_risk"}, w.notified(e)[:1]); diff != "" {
				t.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	}
}
