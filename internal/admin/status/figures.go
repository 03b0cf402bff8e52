package status

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// Figures are what an answer shows of counts. Rates and durations without samples are left out.
type Figures struct {
	Attempts     int            `json:"attempts"`
	Success      *float64       `json:"success_rate,omitzero"`
	FirstSuccess *float64       `json:"first_attempt_success_rate,omitzero"`
	DeadRate     *float64       `json:"dead_rate,omitzero"`
	Delivered    int            `json:"delivered"`
	Dead         int            `json:"dead"`
	Latency      *Latency       `json:"latency,omitzero"`
	MeanDelivery *time.Duration `json:"mean_delivery_time,omitzero"`
	ByNumber     []int          `json:"attempts_by_number"` // first attempts, second attempts, ...
}

// Latency has fractions of milliseconds, because rounding short times to milliseconds would
// exceed the error of 5 %.
type Latency struct {
	Samples int           `json:"samples"`
	P50     time.Duration `json:"p50"`
	P95     time.Duration `json:"p95"`
	P99     time.Duration `json:"p99"`
}

// Window holds the figures of whole clock hours, the current hour included.
type Window struct {
	Since time.Time `json:"since"` // start of the first hour
	Figures
	FinalSuccess *float64           `json:"final_success_rate,omitzero"`
	ByOutcome    map[hook.Class]int `json:"attempts_by_outcome"`
}

func windowOf(since time.Time, c *stats.Counts) Window {
	f := c.Figures()
	return Window{Since: since, Figures: figuresOf(&f), FinalSuccess: known(f.FinalRate(), f.Settled()), ByOutcome: byOutcome(&f)}
}

func figuresOf(f *stats.Figures) Figures {
	shown := Figures{
		Attempts: f.Attempts, Delivered: f.Delivered, Dead: f.Dead, MeanDelivery: meanDelivery(f), ByNumber: byNumber(f.ByNumber[:]),
		Success: known(f.SuccessRate(), f.Attempts), FirstSuccess: known(f.FirstRate(), f.ByNumber[1]), DeadRate: known(f.DeadRate(), f.Settled()),
	}
	if n, percentile := f.Latency(); n > 0 {
		at := func(p float64) time.Duration { return percentile(p).Truncate(time.Microsecond) }
		shown.Latency = &Latency{Samples: n, P50: at(50), P95: at(95), P99: at(99)}
	}
	return shown
}

// known returns the rate of n samples; nil without samples.
func known(rate float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	return &rate
}

// meanDelivery returns the mean time from creation to delivery; nil without deliveries.
func meanDelivery(f *stats.Figures) *time.Duration {
	if f.Delivered == 0 {
		return nil
	}
	return new(f.MeanAge().Truncate(time.Millisecond))
}

// byOutcome returns the attempts by class; nil for none.
func byOutcome(f *stats.Figures) map[hook.Class]int {
	var counts map[hook.Class]int
	for class, n := range f.ByOutcome {
		if n > 0 {
			if counts == nil {
				counts = make(map[hook.Class]int)
			}
			counts[hook.Class(class)] = n
		}
	}
	return counts
}

// byNumber returns the counts from number 1 to the last number with a count.
func byNumber(counts []int) []int {
	last := 0
	for i, n := range counts {
		if n > 0 {
			last = i
		}
	}
	return counts[1 : last+1]
}
