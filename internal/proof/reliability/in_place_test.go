package reliability_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// The deploys of an endpoint: a minute of 503, three times an hour.
const (
	deployEvery = 20 * time.Minute
	deployTakes = time.Minute
)

// deploys returns the outages of an hour.
func deploys() timeline {
	var t timeline
	for at := deployEvery / 2; at < time.Hour; at += deployEvery {
		t = append(t, at, at+deployTakes)
	}
	return t
}

// place is an endpoint that fails at random, or in its deploys, in the real use cases.
type place struct {
	text       string
	rate       float64
	plain, p95 time.Duration // without a circuit, and with it
	openings   int64
}

// notSettled is a gate that tells the circuit nothing.
type notSettled struct{ deliver.Gate }

func (g notSettled) Settle(ctx context.Context, a gate.Admission, _ []gate.Result) error {
	return g.Gate.Settle(ctx, a, nil)
}

// attempted returns the openings of the circuit, and the 95th percentile of the time to the
// delivery. With deploys, only the events posted during one count.
func attempted(t *testing.T, rate float64, deploying, circuits bool) (p95 time.Duration, openings int64) {
	t.Helper()

	w := newTrial(t)
	if !circuits {
		w.deliverer.Gate = notSettled{w.deliverer.Gate}
	}
	var outages timeline
	var s *site
	if deploying {
		outages = deploys()
		s = w.add(t, "deploys", 0, outages)
	} else {
		s = w.add(t, "half", 0, nil, func(e *hook.Endpoint) {
			e.Retry = hook.RetryPolicy{Schedule: quick(), Jitter: hook.JitterNone}
		})
		s.fails = func(r send.Request) bool { return draw(r) < 0.3 }
	}
	rng := rand.New(rand.NewPCG(seed, uint64(rate)))
	posted := 0
	w.run(t, rng, time.Duration(float64(time.Second)/rate), time.Hour, func(_ *site, at time.Duration) {
		if !deploying || outages.down(at) {
			posted++
		}
	})
	var took []time.Duration
	for at, d := range s.took {
		if !deploying || outages.down(at.Sub(start)) {
			took = append(took, d)
		}
	}
	record, err := w.store.Circuit(t.Context(), s.endpoint.Tenant, s.endpoint.ID)
	if err != nil {
		t.Fatal(err)
	}
	return percentile(took, posted, 0.95), (record.Generation + 1) / 2
}

// draw returns a number of 0 to 1 that depends on the event and the attempt only, so the
// order of attempts at the same time changes nothing.
func draw(r send.Request) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Event.ID, r.Attempt)
	return rand.New(rand.NewPCG(h.Sum64(), seed)).Float64()
}

// inPlace measures the endpoints.
func inPlace(t *testing.T, rates ...float64) []place {
	t.Helper()

	var all []place
	for _, rate := range rates {
		for _, deploying := range []bool{false, true} {
			p := place{text: "30 % of the attempts fail", rate: rate}
			if deploying {
				p.text = "a minute of 503 every 20 minutes"
			}
			p.plain, _ = attempted(t, rate, deploying, false)
			p.p95, p.openings = attempted(t, rate, deploying, true)
			all = append(all, p)
		}
	}
	return all
}

// The rule holds in its place: the real use cases, with stores and queues in memory.
func TestHalfHealthy_inPlace(t *testing.T) {
	t.Parallel()

	for _, p := range inPlace(t, 1) {
		deploying := p.openings > 0
		t.Logf("%s, %v a second: opened %d times, p95 %v of %v", p.text, p.rate, p.openings, p.p95, p.plain)
		factor := 1.3
		if deploying {
			factor = 1.5
		}
		if float64(p.p95) > factor*float64(p.plain) {
			t.Errorf("%s: p95 %v; want at most %.1f times %v", p.text, p.p95, factor, p.plain)
		}
	}
}
