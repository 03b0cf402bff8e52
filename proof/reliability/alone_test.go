package reliability_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

const never = time.Duration(1<<63 - 1)

// receiver answers the attempt, from 1, of the event accepted at the time. Both times are since
// the beginning of the trouble; before it, they are negative.
type receiver func(event time.Duration, attempt int, at time.Duration) hook.Outcome

// answers returns the outcome of a status.
func answers(status int) hook.Outcome {
	return hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, Duration: 50 * time.Millisecond}
}

// failing answers a share of the attempts with 502. The answer depends on the event and the
// attempt only, so the schedule alone and Surehook get the same ones.
func failing(share float64) receiver {
	return func(event time.Duration, attempt int, _ time.Duration) hook.Outcome {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, event, attempt)
		if rand.New(rand.NewPCG(h.Sum64(), seed)).Float64() < share {
			return answers(502)
		}
		return answers(200)
	}
}

// closedDuring answers 503 in the outages.
func closedDuring(outages timeline) receiver {
	return func(_ time.Duration, _ int, at time.Duration) hook.Outcome {
		if outages.down(at) {
			return answers(503)
		}
		return answers(200)
	}
}

// sample is what became of the posted events: the time to the delivery, or never.
type sample struct {
	at       []time.Duration // of the events, since the beginning of the trouble
	took     []time.Duration
	requests int // in the trouble
	failed   int // of the requests
}

// alone makes the attempts of the schedule without anything else: no circuit, no slots, no holds.
// It waits for Retry-After.
func alone(posts []time.Duration, policy hook.RetryPolicy, r receiver, end time.Duration) sample {
	s := sample{at: posts, took: make([]time.Duration, len(posts))}
	for i, event := range posts {
		s.took[i] = never
		at := event
		for attempt := 1; at <= end; attempt++ {
			s.requests++
			o := r(event, attempt, at)
			if o.Class == hook.ClassDelivered {
				s.took[i] = at - event
				break
			}
			id := hook.DeliveryID{Event: hook.EventID(fmt.Sprintf("evt_%d", i)), Endpoint: "ep_alone", Generation: 1}
			delay, ok := retry.Next(policy, id, attempt, o.RetryAfter)
			if !ok {
				break
			}
			at += delay
		}
	}
	return s
}

// with returns the events of both samples.
func (s sample) with(other sample) sample {
	return sample{at: slices.Concat(s.at, other.at), took: slices.Concat(s.took, other.took), requests: s.requests + other.requests, failed: s.failed + other.failed}
}

// of returns the events that the selection chooses.
func (s sample) of(selected func(at time.Duration) bool) sample {
	chosen := sample{requests: s.requests, failed: s.failed}
	for i, at := range s.at {
		if selected(at) {
			chosen.at, chosen.took = append(chosen.at, at), append(chosen.took, s.took[i])
		}
	}
	return chosen
}

// figures are the percentiles of the time to the delivery, and the share delivered.
type figuresOf struct {
	p50, p95, most time.Duration // never: so many were not delivered
	share          float64
	requests       int
	failed         int
}

func (s sample) figures() figuresOf {
	sorted := slices.Sorted(slices.Values(s.took))
	f := figuresOf{p50: never, p95: never, most: never, requests: s.requests, failed: s.failed}
	if len(sorted) == 0 {
		return f
	}
	delivered := len(sorted)
	for delivered > 0 && sorted[delivered-1] == never {
		delivered--
	}
	f.p50, f.p95 = sorted[len(sorted)/2], sorted[len(sorted)*95/100]
	f.share = float64(delivered) / float64(len(sorted))
	if delivered > 0 {
		f.most = sorted[delivered-1]
	}
	return f
}

// shown returns the duration as the document shows it.
func shown(d time.Duration) string {
	switch {
	case d == never:
		return "never"
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.1f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
