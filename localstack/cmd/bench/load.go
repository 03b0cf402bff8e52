package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"surehook/localstack/stack"
)

// The load: the number of endpoints (each of a tenant of its own), of
// connections, and of events under way at saturation.
const (
	endpoints   = 100
	connections = 32
	atOnce      = 512
)

// The targets on two cores.
const (
	goalRate  = 5000                  // deliveries per second
	goalShare = 0.25                  // of the bare loop's rate
	goalCPU   = 0.3                   // seconds per 1000 deliveries
	goalP99   = 15 * time.Millisecond // from post to arrival, at half the rate
)

// lastDelivery bounds the wait for the last events.
const lastDelivery = time.Minute

// measured holds the results of one load.
type measured struct {
	events    int
	took      time.Duration
	cpu       time.Duration // of Surehook's process
	resident  int64         // bytes, at the end
	latencies []time.Duration
	again     int
}

func (m measured) rate() float64 { return float64(m.events) / m.took.Seconds() }

// cpuPerThousand returns CPU seconds per 1000 deliveries.
func (m measured) cpuPerThousand() float64 { return m.cpu.Seconds() / float64(m.events) * 1000 }

// load measures a load on a process like the process of `make dev`.
func load(ctx context.Context, o options) (string, error) {
	before, err := bareRate(ctx, o.duration/2)
	if err != nil {
		return "", err
	}
	fast, err := loaded(ctx, "saturated", o.duration, 200_000, atOnce, func(p *publisher) error {
		return p.flood(ctx, connections, o.duration)
	})
	if err != nil {
		return "", err
	}
	after, err := bareRate(ctx, o.duration/2)
	if err != nil {
		return "", err
	}
	half := int(fast.rate() / 2)
	calm, err := loaded(ctx, "half", o.duration, 200_000, 100_000, func(p *publisher) error {
		return p.pace(ctx, 4*connections, half, o.duration)
	})
	if err != nil {
		return "", err
	}
	return describeLoad(fast, calm, (before+after)/2), nil
}

func describeLoad(fast, calm measured, bare float64) string {
	text := fmt.Sprintf("## Load\n\n"+
		"The process of `make dev` (all use cases in one process, over memory), with publisher and receiver on the same machine:\n"+
		"%d endpoints, payloads of %d bytes, one event per post, %d connections, at most %d events in flight.\n"+
		"\"Saturated\" is the maximum rate; \"half rate\" is half the maximum, evenly spaced.\n"+
		"\"Of the bare loop\" is the share of a loop of POSTs of an `http.Client`, signed and with the same headers, without Surehook, on as many connections, before and after\n"+
		"the saturated load. An event takes two exchanges, its post and its delivery, so the limit is 0.5.\n"+
		"Publisher and receiver use the same cores: at half rate the machine is busy for 80 to 90 %% of the time. The p99 depends on all\n"+
		"that takes a core for some milliseconds: collections of garbage, and other work of the machine.\n\n", endpoints, payloadSize, connections, atOnce)
	return text + table([]string{"", "saturated", "half rate", "goal on 2 cores"}, [][]string{
		{"accepted and delivered", fmt.Sprintf("%.0f/s", fast.rate()), fmt.Sprintf("%.0f/s", calm.rate()), fmt.Sprintf(">= %d/s", goalRate)},
		{"of the bare loop", fmt.Sprintf("%.2f of %.0f/s", fast.rate()/bare, bare), "", fmt.Sprintf(">= %.2f", goalShare)},
		{"CPU per 1,000 deliveries", fmt.Sprintf("%.2f s", fast.cpuPerThousand()), fmt.Sprintf("%.2f s", calm.cpuPerThousand()), fmt.Sprintf("<= %.1f s", goalCPU)},
		{"from post to arrival, p50", fast.latency(50), calm.latency(50), ""},
		{"p95", fast.latency(95), calm.latency(95), ""},
		{"p99", fast.latency(99), calm.latency(99), fmt.Sprintf("< %s", goalP99)},
		{"resident memory, with all events in it", megabytes(fast.resident), megabytes(calm.resident), ""},
		{"events", fmt.Sprint(fast.events), fmt.Sprint(calm.events), ""},
		{"of them delivered twice", fmt.Sprint(fast.again), fmt.Sprint(calm.again), "0"},
	})
}

// latency returns the percentile by nearest rank.
func (m measured) latency(percent int) string {
	if len(m.latencies) == 0 {
		return "none"
	}
	rank := max(1, (len(m.latencies)*percent+99)/100)
	return fmt.Sprintf("%.1f ms", float64(m.latencies[rank-1].Microseconds())/1000)
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

// loaded starts everything, publishes and measures. A flood of one second first
// opens connections and fills caches.
func loaded(ctx context.Context, name string, duration time.Duration, perTenSeconds, under int, publish func(*publisher) error) (m measured, err error) {
	server, err := startServer(ctx, name)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	most := perTenSeconds * (int(duration.Seconds()/10) + 2)
	sink, err := startSink(ctx, most, under)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, sink.stop()) }()
	if err := register(ctx, server, sink); err != nil {
		return m, err
	}
	p := &publisher{server: server, sink: sink, endpoints: endpoints, posted: make([]time.Duration, most)}
	if err := p.flood(ctx, connections, time.Second); err != nil {
		return m, err
	}
	if err := awaitAll(ctx, sink); err != nil {
		return m, err
	}

	before, err := server.used()
	if err != nil {
		return m, err
	}
	first, came, began := int(p.next.Load()), sink.count(), time.Now()
	if err := publish(p); err != nil {
		return m, err
	}
	if err := awaitAll(ctx, sink); err != nil {
		return m, err
	}
	m.took = time.Since(began)
	after, err := server.used()
	if err != nil {
		return m, err
	}
	m.events, m.again = sink.count()-came, sink.again
	m.cpu, m.resident = after.CPU-before.CPU, after.Resident
	for n := first; n < most; n++ {
		if at := sink.arrived[n]; at != 0 {
			m.latencies = append(m.latencies, at-p.posted[n])
		}
	}
	slices.Sort(m.latencies)
	return m, nil
}

func awaitAll(ctx context.Context, s *sink) error {
	ctx, cancel := context.WithTimeout(ctx, lastDelivery)
	defer cancel()
	return s.await(ctx)
}

// register creates the endpoints.
func register(ctx context.Context, s *server, r *sink) error {
	api := &stack.Client{Address: s.URL, Key: s.Key, HTTP: http.DefaultClient}
	for n := range endpoints {
		_, err := api.CreateEndpoint(ctx, tenantOf(n), map[string]any{
			"url": fmt.Sprintf("%s/%d", r.url, n), "event_types": []string{"load.*"},
		})
		if err != nil {
			return err //nolint:wrapcheck // the error is complete
		}
	}
	return nil
}
