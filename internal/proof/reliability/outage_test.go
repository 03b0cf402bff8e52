package reliability_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// class is endpoints of one quality.
type class struct {
	name         string
	endpoints    int
	first, final float64 // share of deliveries that succeed: at once, and in the end under the reference policy
}

// classes are the three qualities: what is known of them is what the outages are made to fit.
func classes() []class {
	return []class{
		{name: "stable", endpoints: 350, first: 0.972, final: 0.998},
		{name: "intermittent", endpoints: 100, first: 0.724, final: 0.913},
		{name: "unreliable", endpoints: 50, first: 0.418, final: 0.652},
	}
}

// referenceDelays returns the delays of the reference policy after each failure.
func referenceDelays() []time.Duration {
	return []time.Duration{
		30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 4 * time.Hour, 8 * time.Hour,
	}
}

// timeline is when an endpoint is down: it goes down at the even times and up
// again at the odd ones.
type timeline []time.Duration

func (t timeline) down(at time.Duration) bool {
	return sort.Search(len(t), func(i int) bool { return t[i] > at })%2 == 1
}

// newTimeline makes a stationary process: at any time the endpoint is down with
// the probability 1-first, and an outage lasts down on average.
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

// reference returns how many requests the reference policy makes for a delivery
// that begins at the time given, and whether it is delivered.
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

// meanOutage finds how long the outages of a class last, on average, so that
// the reference policy ends with the final success that is known of it. Failing
// in all attempts takes an outage from the first to the last of them, or several:
// the exact probability is that of a two-state Markov process.
func meanOutage(c class) time.Duration {
	return time.Duration(math.Exp(bisect(func(logMean float64) float64 {
		return allFail(c.first, math.Exp(logMean)) - (1 - c.final)
	}, math.Log(float64(time.Minute)), math.Log(float64(1000*time.Hour)))))
}

// allFail returns the probability that every attempt of the reference policy
// fails. An endpoint that is down is down again after d with the probability
// (1-first) + first exp(-d (1/up + 1/down)).
func allFail(first, down float64) float64 {
	up := down * first / (1 - first)
	p := 1 - first
	for _, delay := range referenceDelays() {
		p *= (1 - first) + first*math.Exp(-float64(delay)*(1/up+1/down))
	}
	return p
}

// bisect returns where the increasing function f is zero between low and high.
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
