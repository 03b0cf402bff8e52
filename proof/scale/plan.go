package scale

import "math"

// headroom is the peak of the traffic over its mean.
const headroom = 2

// Plan holds the settings for a rate of events with one endpoint each.
type Plan struct {
	PerSecond             float64 // mean
	PerPost               float64
	Events, Batch         float64 // throttles of the routes
	Live                  float64 // concurrency of the queue
	Account               float64 // concurrency quota
	WriteUnits, ReadUnits float64
	Stacks                float64
}

// PlanFor returns the settings of each stack for the rate, with a headroom of 2, a new
// connection for each delivery, and 2 % hanging deliveries at the mean rate. No setting is below the stack's own.
func PlanFor(s Settings, measured map[string]Measured, perSecond float64) Plan {
	live, _ := s.source("Live") // ReadTemplate has checked the queue
	functions := math.Ceil(max(
		headroom*perSecond*deliverTime(live.Batch, 0, 1).Seconds(),
		perSecond*deliverTime(live.Batch, hangingShare, 1).Seconds(),
	) / live.Batch)
	stacks := math.Ceil(functions / quotaSource)
	peak := headroom * perSecond / stacks
	p := Plan{PerSecond: perSecond, PerPost: 1, Events: s.Throttles[RouteEvents], Batch: s.Throttles[RouteBatch], Stacks: stacks}
	m := measured[Alone]
	if headroom*perSecond > quotaAPI {
		p.PerPost, m = 100, measured[InBatch]
		p.Batch = max(p.Batch, math.Ceil(peak/p.PerPost))
	} else {
		p.Events = max(p.Events, math.Ceil(peak))
	}
	p.Live = max(live.Concurrency, math.Ceil(functions/stacks))
	p.Account = math.Ceil(p.Live + s.concurrency("") - live.Concurrency + peak/p.PerPost*ingestTime(p.PerPost).Seconds())
	p.WriteUnits = max(s.WriteUnits, math.Ceil(peak*m.WriteUnits))
	p.ReadUnits = max(s.ReadUnits, math.Ceil(peak*m.ReadUnits))
	return p
}

// hangingShare is the share of hanging deliveries that a plan carries.
const hangingShare = 0.02
