package stats

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
)

// Figures are the counts of an endpoint or of an event type, over any number of hours
// and endpoints. Figures of endpoints have outcomes, times of delivery and a fine
// histogram; figures of event types have a coarse histogram. The zero value is empty.
type Figures struct {
	Attempts  int
	Successes int // attempts of class delivered
	Delivered int // delivered deliveries; of an event type: Successes
	Dead      int

	First       int                       // see Counts.First; of an event type: DeliveredAt[1]
	ByNumber    [hook.MaxRequests + 1]int // attempts by number, from 1
	DeliveredAt [hook.MaxRequests + 1]int // deliveries by the number of the successful attempt, from 1
	ByOutcome   [hook.Classes]int         // attempts by class; of endpoints only
	Waited      time.Duration             // see Counts.Waited; of endpoints only
	Fine        latency.Histogram         // of endpoints only
	Coarse      latency.Coarse            // of event types only
}

// Figures returns the figures of the endpoint.
func (c *Counts) Figures() Figures {
	return Figures{
		Attempts: c.Attempts(), Successes: c.Classes[hook.ClassDelivered], Delivered: c.Delivered, Dead: c.Dead,
		First: c.First, ByNumber: c.Numbers, DeliveredAt: c.Types.ByAttempts(), ByOutcome: c.Classes, Waited: c.Waited, Fine: c.Latency,
	}
}

// Figures returns the figures of the event type.
func (t *TypeCounts) Figures() Figures {
	f := Figures{
		Attempts: t.Attempts(), Successes: t.Delivered(), Delivered: t.Delivered(), Dead: t.Dead,
		First: t.Succeeded[1], ByNumber: t.Failed, DeliveredAt: t.Succeeded, Coarse: t.Latency,
	}
	latency.AddEach(f.ByNumber[:], t.Succeeded[:])
	return f
}

// Add adds other figures.
func (f *Figures) Add(other Figures) {
	f.Attempts += other.Attempts
	f.Successes += other.Successes
	f.Delivered += other.Delivered
	f.Dead += other.Dead
	f.First += other.First
	latency.AddEach(f.ByNumber[:], other.ByNumber[:])
	latency.AddEach(f.DeliveredAt[:], other.DeliveredAt[:])
	latency.AddEach(f.ByOutcome[:], other.ByOutcome[:])
	f.Waited += other.Waited
	f.Fine.Merge(&other.Fine)
	f.Coarse.Merge(other.Coarse)
}

// Settled returns the number of delivered and dead deliveries. Dead counts as 0 in an
// hour that took more deaths back than it counted.
func (f *Figures) Settled() int { return f.Delivered + max(f.Dead, 0) }

// SuccessRate returns the share of successful attempts, 0 to 1; 0 for no attempts.
func (f *Figures) SuccessRate() float64 { return share(f.Successes, f.Attempts) }

// FirstRate returns the share of successes among first attempts, 0 to 1; 0 for none.
func (f *Figures) FirstRate() float64 { return share(f.First, f.ByNumber[1]) }

// DeadRate returns the share of dead deliveries among settled deliveries, 0 to 1; 0 for none.
func (f *Figures) DeadRate() float64 { return share(max(f.Dead, 0), f.Settled()) }

// FinalRate returns the share of delivered deliveries among settled deliveries, 0 to 1; 0 for none.
func (f *Figures) FinalRate() float64 { return share(f.Delivered, f.Settled()) }

// MeanAge returns the mean age of the deliveries when they were delivered; 0 for none delivered.
func (f *Figures) MeanAge() time.Duration {
	if f.Delivered == 0 {
		return 0
	}
	return f.Waited / time.Duration(f.Delivered)
}

// Latency returns the number of timed attempts and a function for percentiles.
func (f *Figures) Latency() (samples int, percentile func(p float64) time.Duration) {
	if n := f.Fine.Count(); n > 0 {
		return n, f.Fine.Percentile
	}
	return f.Coarse.Count(), f.Coarse.Percentile
}
