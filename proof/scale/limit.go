package scale

import (
	"cmp"
	"math"
	"slices"
	"time"

	"surehook.example/surehook/proof/cost"
)

// Workload is a way of posting and answering. Every event has one endpoint.
type Workload struct {
	Name     string
	Scenario string  // of docs/cost.md
	PerPost  float64 // events of a post
	Hanging  float64 // share of the deliveries that hang for HangTime
	Fresh    float64 // share of the deliveries on a new connection
}

// HangTime is the duration of a hanging attempt: the default timeout of an endpoint.
const HangTime = 10 * time.Second

// Limit is a bound on the events per second.
type Limit struct {
	Name    string
	Setting string // of infra/surehook/environments.go, or empty
	Has     float64
	Carries float64 // events per second
	Raise   string
}

// Requests to AWS, one after the other, of an invocation. Concurrent requests of a kind
// count once, as in docs/cost.md.
const (
	ingestRequests  = 3 // tenant, events, tasks
	deliverRequests = 3 // records, deliveries, counts
)

// fixedSender is the ceiling of sender-fixed, of an environment with fixed addresses.
const fixedSender = 230.0

// ingestTime is the duration of an invocation for a post of n events.
func ingestTime(n float64) time.Duration {
	return ingestRequests*cost.RequestTime + cost.WorkTime(n, cost.MemoryMB)
}

// deliverTime is the mean duration of a batch of n deliveries: a batch ends with its
// slowest delivery. New connections share the processor.
func deliverTime(n, hanging, fresh float64) time.Duration {
	work := deliverRequests*cost.RequestTime + cost.WorkTime(n, cost.MemoryMB) + cost.HandshakeTime(n*fresh, cost.MemoryMB)
	slow := 1 - math.Pow(1-hanging, n)
	return work + time.Duration(slow*float64(HangTime)+(1-slow)*float64(cost.ReceiverTime))
}

// Limits returns the limits of the stack for the workload, the lowest first.
func Limits(s Settings, measured map[string]Measured, w Workload) []Limit {
	m := measured[w.Scenario]
	live, _ := s.source("Live") // ReadTemplate has checked the queue
	route, throttle := "Throttles.Events", s.Throttles[RouteEvents]
	if w.PerPost > 1 {
		route, throttle = "Throttles.Batch", s.Throttles[RouteBatch]
	}
	ingest := quotaConcurrency - s.concurrency("")
	limits := []Limit{
		{"throttle of the route", route, throttle, throttle * w.PerPost, "the setting, or post in batches of 100"},
		{"requests to the API", "", quotaAPI, quotaAPI * w.PerPost, byRequest},
		{"functions for posts", "", ingest, ingest / ingestTime(w.PerPost).Seconds() * w.PerPost, byRequest},
		{
			"functions for posts, with fixed addresses", "Concurrency.FixedSender",
			ingest - fixedSender, (ingest - fixedSender) / ingestTime(w.PerPost).Seconds() * w.PerPost, "a smaller ceiling, or " + byRequest,
		},
		{
			"functions on the queue live", "Concurrency.Live", live.Concurrency,
			live.Concurrency * live.Batch / deliverTime(live.Batch, w.Hanging, w.Fresh).Seconds(), "the setting, to 1,000, or another stack",
		},
		{"warm write units of the table", "WarmThroughput.WriteUnits", s.WriteUnits, s.WriteUnits / m.WriteUnits, "nothing: DynamoDB doubles it in 30 minutes; or the setting"},
		{"warm read units of the table", "WarmThroughput.ReadUnits", s.ReadUnits, s.ReadUnits / m.ReadUnits, "the same"},
		{"write units of a table", "", quotaTable, quotaTable / m.WriteUnits, byRequest},
		{"read units of a table", "", quotaTable, quotaTable / m.ReadUnits, byRequest},
	}
	slices.SortStableFunc(limits, func(a, b Limit) int { return cmp.Compare(a.Carries, b.Carries) })
	return limits
}
