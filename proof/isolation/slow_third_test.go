package isolation_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// lateAnswer is shorter than the timeout of an attempt, and hanging is longer.
const (
	lateAnswer = 9500 * time.Millisecond
	hanging    = time.Hour
)

// lateThird, hangingThird and allLate observe endpoints that answer some or all attempts late, or
// not at all. The endpoint needs more slots than a new one has, for ever.
func lateThird(t *testing.T, s setup) (measured string) {
	t.Helper()

	return slowFor(t, s, rates{1: 10, 20: s.of(0, 0, 10)}, 0.3, lateAnswer, lateAnswer)
}

func hangingThird(t *testing.T, s setup) (measured string) {
	t.Helper()

	// Two attempts in 100 time out three times in a row, so 95 % have two time-outs at most, and
	// the delays after them.
	return slowFor(t, s, rates{1: 10, 20: s.of(0, 3, 10)}, 0.3, hanging, 2*hook.DefaultTimeout+3*time.Second)
}

func allLate(t *testing.T, s setup) (measured string) {
	t.Helper()

	return slowFor(t, s, rates{1: 10, 20: s.of(0, 0, 10)}, 1, lateAnswer, lateAnswer)
}

// rates are for how many minutes events are posted, by events a second.
type rates map[int]int

// slowFor posts events of which a share is answered after the wait. alone is the 95th percentile of the time to the
// delivery without slots. With some answers in time the slots suffice.
func slowFor(t *testing.T, s setup, r rates, share float64, wait, alone time.Duration) (measured string) {
	t.Helper()

	var all []string
	for _, rate := range slices.Sorted(maps.Keys(r)) {
		events := 60 * r[rate] * rate
		if events == 0 {
			continue
		}
		s.run(t, func(l *lab) {
			var took []time.Duration
			e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
				answer := healthyAfter
				if share >= 1 || draw(r) < share {
					answer = wait
				}
				if answer < r.Endpoint.Timeout {
					took = append(took, time.Since(r.Event.AcceptedAt)+answer)
				}
				return answer, 200
			}, func(e *hook.Endpoint) {
				e.Retry = hook.RetryPolicy{Schedule: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, Jitter: hook.JitterNone}
			})
			begin := time.Now()
			for i := range events {
				time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(rate))))
				l.post(e, "order.paid")
			}
			time.Sleep(30 * time.Second)
			delivered, most := len(took), l.at(e).most
			for range events - len(took) {
				took = append(took, time.Hour)
			}
			p95 := percentile(took, 95)
			s.want(t, rate > 1 || p95 <= alone*13/10, "%d a second: p95 %s; want at most 1.3 times %s", rate, p95, alone)
			s.want(t, share >= 1 || 100*delivered >= 95*events && most <= admission.MaxSlots,
				"%d a second: %d of %d delivered, at most %d requests at once; want 95 %% and %d", rate, delivered, events, most, admission.MaxSlots)
			all = append(all, fmt.Sprintf("at %d a second %.1f %% delivered, p95 %s, at most %d requests at once", rate, 100*float64(delivered)/float64(events), shownUpTo(p95), most))
		})
	}
	return strings.Join(all, "; ")
}

// shownUpTo returns the time, or says that so many were not delivered.
func shownUpTo(d time.Duration) string {
	if d >= time.Hour {
		return "never"
	}
	return seconds(d)
}

// draw returns a number from 0 to 1 that depends on the event and the attempt only.
func draw(r send.Request) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Event.ID, r.Attempt)
	return rand.New(rand.NewPCG(h.Sum64(), 1)).Float64()
}
