package smoke

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"surehook.example/surehook/client/openapi"
)

// paced is the number of events of the rate check, at one request per second.
const paced = 6

// rate sends some events at once to an endpoint with a limit of one per second.
func (f *Flows) rate(ctx context.Context) (string, error) {
	t := f.target(ctx, "rate", openapi.EndpointCreate{RatePerSecond: 1}, http.StatusOK)
	events := t.post(ctx, paced)
	got := t.arrivals(ctx, paced)
	return t.end(func() (string, error) {
		return fmt.Sprintf("%d requests in %.1f s at one per second", len(got), span(got).Seconds()), judgeRate(events, got)
	})
}

// span is the time from the first request to the last.
func span(got []Request) time.Duration { return got[len(got)-1].At.Sub(got[0].At) }

// late bounds the delay of a request by a cold start, of Surehook or of the
// receiver.
const late = 2 * time.Second

// judgeRate checks the requests under a limit of one per second. Slots are a
// second apart. A late first request makes the span of all requests shorter, and
// a late last request makes the span of unlimited requests longer: with six
// events the span is 3 s or more under the limit, and 2 s or less without.
func judgeRate(events []string, got []Request) error {
	if err := judgeSignatures(got); err != nil {
		return err
	}
	arrived := map[string]int{}
	for _, r := range got {
		arrived[r.ID]++
	}
	for _, event := range events {
		if arrived[event] != 1 {
			return fmt.Errorf("event %s arrived %d times", event, arrived[event])
		}
	}
	if took, least := span(got), time.Duration(len(events)-1)*time.Second-late; took < least {
		return fmt.Errorf("%d requests came within %v at a limit of one per second", len(got), took)
	}
	return nil
}

// LatencyLimits are the limits of the time from the post of an event to the
// arrival of its first request.
type LatencyLimits struct{ P50, P99 time.Duration }

// samples is the number of events of the latency check.
const samples = 20

// latency posts events one by one to a warm endpoint and measures the arrival.
func (f *Flows) latency(ctx context.Context) (string, error) {
	t := f.target(ctx, "latency", openapi.EndpointCreate{}, http.StatusOK)
	_, id := t.postOne(ctx) // starts the sandboxes
	t.await(ctx, id, delivered)
	ahead, within, err := f.offset(ctx)
	t.fail(err)
	posted := map[string]time.Time{}
	for range samples {
		at := f.Now().Add(ahead)
		for _, event := range t.post(ctx, 1) {
			posted[event] = at
		}
	}
	got := t.arrivals(ctx, samples+1)
	return t.end(func() (string, error) {
		took, err := latencies(posted, got)
		if err != nil {
			return "", err
		}
		p50, p99 := percentile(took, 50), percentile(took, 99)
		return fmt.Sprintf("p50 %s, p99 %s of %d events, +- %s", ms(p50), ms(p99), len(took), ms(within)), judgeLatency(p50, p99, f.Latency)
	})
}

// clockTries is the number of questions for the receiver's time. The quickest
// answer counts.
const clockTries = 5

// offset returns the receiver's time minus ours, and the bound of the error: half
// of the quickest round trip.
func (f *Flows) offset(ctx context.Context) (ahead, within time.Duration, err error) {
	within = time.Hour
	for range clockTries {
		before := f.Now()
		theirs, err := f.Receiver.Clock(ctx)
		if err != nil {
			return 0, 0, err
		}
		if half := f.Now().Sub(before) / 2; half < within {
			ahead, within = theirs.Sub(before.Add(half)), half
		}
	}
	return ahead, within, nil
}

// latencies returns the sorted times from post to first arrival. posted is by the
// receiver's clock.
func latencies(posted map[string]time.Time, got []Request) ([]time.Duration, error) {
	first := map[string]time.Time{}
	for _, r := range got {
		if at, ok := first[r.ID]; r.Verified && (!ok || r.At.Before(at)) {
			first[r.ID] = r.At
		}
	}
	var took []time.Duration
	for event, at := range posted {
		arrived, ok := first[event]
		if !ok {
			return nil, fmt.Errorf("event %s did not arrive with a valid signature", event)
		}
		took = append(took, arrived.Sub(at))
	}
	slices.SortFunc(took, cmp.Compare[time.Duration])
	return took, nil
}

// percentile returns the nearest rank of sorted values, at least one.
func percentile(sorted []time.Duration, p int) time.Duration { return sorted[(len(sorted)*p+99)/100-1] }

// judgeLatency compares the percentiles with the limits.
func judgeLatency(p50, p99 time.Duration, limits LatencyLimits) error {
	if p50 > limits.P50 || p99 > limits.P99 {
		return fmt.Errorf("p50 %s and p99 %s; the limits are %s and %s", ms(p50), ms(p99), ms(limits.P50), ms(limits.P99))
	}
	return nil
}

// ms prints a duration in milliseconds.
func ms(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
}
