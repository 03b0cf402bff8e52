package isolation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// firstCooldown is the default time from the opening of a circuit to the first probe.
func firstCooldown() time.Duration { return hook.CircuitSettings{}.WithDefaults().Cooldown }

// poison posts five bad events, which open the circuit, and then the good events. The
// bad ones are due again within half a minute, or just when the cooldown is over.
func poison(t *testing.T, s setup) (measured string) {
	t.Helper()

	atTheProbe := hook.RetryPolicy{Schedule: slices.Repeat([]time.Duration{firstCooldown()}, 5), Jitter: hook.JitterNone}
	took := max(poisoned(t, s, hook.RetryPolicy{Preset: "standard"}), poisoned(t, s, atTheProbe))
	return "all after " + seconds(took)
}

// poisoned returns the time until all good events are delivered.
func poisoned(t *testing.T, s setup, retries hook.RetryPolicy) (took time.Duration) {
	t.Helper()

	const good = 50
	s.run(t, func(l *lab) {
		e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
			if r.Event.Type == "order.bad" {
				return healthyAfter, 500
			}
			return healthyAfter, 200
		}, func(e *hook.Endpoint) { e.Retry = retries })
		for range 5 {
			l.post(e, "order.bad")
		}
		l.until(time.Minute, func() bool { return l.record(e).State == circuit.Open })
		l.postMany(e, good)
		took = l.until(time.Hour, func() bool { return l.delivered(e) == good })
		bound := firstCooldown() + time.Minute
		s.want(t, took <= bound, "%d of %d good events after %s; want all within %s", l.delivered(e), good, took, bound)
	})
	return took
}

// hangs makes a fast endpoint answer 503, then its probe, and then nothing at all.
func hangs(t *testing.T, s setup) (measured string) {
	t.Helper()

	s.run(t, func(l *lab) {
		next := []answer{after(healthyAfter)} // the last one answers all further requests
		e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
			now := next[0]
			if len(next) > 1 && now == nil {
				next = next[1:]
				now = after(healthyAfter)
			}
			return now(r)
		}, nil)
		l.prove(e)
		proved := l.delivered(e)
		l.setting(func() { next = []answer{func(send.Request) (time.Duration, int) { return healthyAfter, 503 }} })
		l.postMany(e, 20)
		l.until(time.Minute, func() bool { return l.record(e).State == circuit.Open })
		l.setting(func() {
			next = []answer{nil, after(time.Hour)}
			l.all[e.ID].most = 0
		})
		l.postMany(e, 1000)
		l.until(time.Hour, func() bool { return l.delivered(e) == proved+1 })
		before := len(l.at(e).arrivals)
		time.Sleep(10 * time.Minute)
		most, all := l.at(e).most, len(l.at(e).arrivals)-before
		s.want(t, l.delivered(e) == proved+1 && most == 1 && all <= 10,
			"%d answered after the outage, %d requests at once, and %d in all; want the probe answered, and then at most 10, one at a time", l.delivered(e)-proved, most, all)
		measured = fmt.Sprintf("%d at once, %d in the 10 minutes after the probe", most, all)
	})
	return measured
}

// randomFailures observes the circuit of an endpoint that fails now and then.
func randomFailures(t *testing.T, s setup) (measured string) {
	t.Helper()

	const rate, share = 500, 0.005
	events := rate * s.of(5, 20, 120)
	s.run(t, func(l *lab) {
		dice := rand.New(rand.NewPCG(1, 2))
		e := l.endpoint("acme", func(send.Request) (time.Duration, int) {
			if dice.Float64() < share {
				return healthyAfter, 500
			}
			return healthyAfter, 200
		}, nil)
		begin := time.Now()
		for i := range events {
			time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / rate)))
			l.post(e, "order.paid")
		}
		time.Sleep(time.Second)
		g := l.record(e).Generation
		s.want(t, g == 0, "the circuit changed %d times; want never", g)
		measured = fmt.Sprintf("%d changes of the circuit in %d s", g, events/rate)
	})
	return measured
}

// halfHealthy measures an endpoint with random failures that its retries outlast: 95 % of
// the events need three attempts at most, and the third is after 3 s.
func halfHealthy(t *testing.T, s setup) (measured string) {
	t.Helper()

	const share, within = 0.3, 4 * time.Second
	quick := hook.RetryPolicy{Schedule: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, Jitter: hook.JitterNone}
	for _, rate := range []int{20, 200} {
		events := rate * s.of(5, 60, 600)
		s.run(t, func(l *lab) {
			dice := rand.New(rand.NewPCG(1, uint64(rate)))
			var took []time.Duration
			e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
				if dice.Float64() < share {
					return healthyAfter, 502
				}
				took = append(took, time.Since(r.Event.AcceptedAt))
				return healthyAfter, 200
			}, func(e *hook.Endpoint) { e.Retry = quick })
			begin := time.Now()
			for i := range events {
				time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(rate))))
				l.post(e, "order.paid")
			}
			time.Sleep(20 * time.Second)
			g := l.record(e).Generation
			s.want(t, g == 0, "%d events a second: the circuit changed %d times; want never", rate, g)
			for range events - len(took) {
				took = append(took, time.Hour) // dead
			}
			p95 := percentile(took, 95)
			s.want(t, p95 <= within, "%d events a second: 95 %% arrived within %s; want within %s", rate, p95, within)
			if measured != "" {
				measured += "; "
			}
			measured += fmt.Sprintf("at %d a second 95 %% within %s, %d changes of the circuit, %.1f writes per event",
				rate, seconds(p95), g, float64(l.calls.writes.Load())/float64(events))
		})
	}
	return measured
}
