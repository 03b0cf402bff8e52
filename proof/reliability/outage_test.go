package reliability_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// class is a class of endpoints.
type class struct {
	name         string
	endpoints    int
	first, final float64 // share of successful deliveries: at the first attempt, and in the end under the reference policy
}

// classes returns the three classes. The outages are fitted to their rates.
func classes() []class {
	return []class{
		{name: "stable", endpoints: 70, first: 0.972, final: 0.998},
		{name: "intermittent", endpoints: 20, first: 0.724, final: 0.913},
		{name: "unreliable", endpoints: 10, first: 0.418, final: 0.652},
	}
}

// referenceDelays returns the delays of the reference policy after each failure.
func referenceDelays() []time.Duration {
	return []time.Duration{
		30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 4 * time.Hour, 8 * time.Hour,
	}
}

// timeline is the outages of an endpoint: the endpoint goes down at the times with
// an even index, and up at the times with an odd index.
type timeline []time.Duration

func (t timeline) down(at time.Duration) bool {
	return sort.Search(len(t), func(i int) bool { return t[i] > at })%2 == 1
}

// newTimeline returns a stationary process: at any time the endpoint is down with
// the probability 1-first. down is the mean duration of an outage.
func newTimeline(rng *rand.Rand, first float64, down, span time.Duration) timeline {
	up := time.Duration(float64(down) * first / (1 - first))
	var t timeline
	at := time.Duration(0)
	if rng.Float64() >= first {
		t = append(t, 0)
		at = exponential(rng, down)
		t = append(t, at)
	}
	for at < span {
		at += exponential(rng, up)
		t = append(t, at)
		at += exponential(rng, down)
		t = append(t, at)
	}
	return t
}

func exponential(rng *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(rng.ExpFloat64() * float64(mean))
}

// reference returns the number of requests of the reference policy for a delivery
// from the time at, and whether the delivery succeeds.
func reference(t timeline, at time.Duration) (requests int, delivered bool) {
	if !t.down(at) {
		return 1, true
	}
	requests = 1
	for _, delay := range referenceDelays() {
		at += delay
		requests++
		if !t.down(at) {
			return requests, true
		}
	}
	return requests, false
}

// meanOutage returns the mean duration of an outage of the class. With this mean,
// the reference policy has the known final success. A delivery fails when one
// outage covers all attempts, or several outages do: allFail has the probability,
// by a two-state Markov process.
func meanOutage(c class) time.Duration {
	return time.Duration(math.Exp(bisect(func(logMean float64) float64 {
		return allFail(c.first, math.Exp(logMean)) - (1 - c.final)
	}, math.Log(float64(time.Minute)), math.Log(float64(1000*time.Hour)))))
}

// allFail returns the probability of failure in every attempt of the reference
// policy. An endpoint, once down, is down after d with the probability
// (1-first) + first exp(-d (1/up + 1/down)).
func allFail(first, down float64) float64 {
	up := down * first / (1 - first)
	p := 1 - first
	for _, delay := range referenceDelays() {
		p *= (1 - first) + first*math.Exp(-float64(delay)*(1/up+1/down))
	}
	return p
}

// bisect returns the zero of the increasing function f between low and high.
func bisect(f func(float64) float64, low, high float64) float64 {
	for range 100 {
		if middle := (low + high) / 2; f(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
