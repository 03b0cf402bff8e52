package reliability_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// shares returns the shares of attempts that fail at random.
func shares() []float64 { return []float64{0.1, 0.3, 0.5, 0.7, 0.9, 1} }

// rates returns the numbers of events per second.
func rates() []float64 { return []float64{0.1, 1, 20, 200} }

// quick is a retry schedule that outlives random failures within seconds.
func quick() []time.Duration {
	return []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
}

// cell is the result of an hour of events with one share of failures and one rate.
type cell struct {
	share, rate     float64
	open            float64       // share of the hour with an open circuit
	plain, p95      time.Duration // 95th percentile of the time to delivery, without a circuit and with it
	plainSent, sent float64       // requests in the hour, without a circuit and with it
}

// measure runs the model with each seed, and returns the means and the percentiles of all runs.
func measure(share, rate float64, seeds int) cell {
	const span = time.Hour
	c := cell{share: share, rate: rate}
	var plain, ours []time.Duration
	var open time.Duration
	var posted int
	for n := range seeds {
		one := func(on bool) result {
			rng := rand.New(rand.NewPCG(seed, uint64(n)<<32|uint64(10*rate)<<8|uint64(100*share))) // each cell has random numbers of its own
			return newModel(quick(), on, bernoulli(rng, share)).run(poisson(rng, rate), span)
		}
		without, with := one(false), one(true)
		plain, ours = append(plain, without.took...), append(ours, with.took...)
		open += with.open
		posted += with.posted
		c.sent += float64(with.requests) / float64(seeds)
		c.plainSent += float64(without.requests) / float64(seeds)
	}
	c.open = float64(open) / float64(seeds) / float64(span)
	c.plain, c.p95 = percentile(plain, posted, 0.95), percentile(ours, posted, 0.95)
	return c
}

// seedsOf returns the number of seeds: fewer if there are many events, and more for the document. In
// about one hour of a hundred, the circuit opens by chance at the beginning, so a mean of few seeds
// would depend on whether one of them has such an hour.
func seedsOf(rate float64) int {
	every, document := 200, 1000
	switch {
	case rate >= 100:
		every, document = 1, 20
	case rate >= 10:
		every, document = 5, 100
	}
	if *update {
		return document
	}
	return every
}

// With 30 % of random failures or less, the circuit is open for less than 2 % of the time, and p95 is at
// most 1.3 times that of the retry schedule alone. An endpoint that always fails gets at most 8
// requests in an hour.
func TestHalfHealthy(t *testing.T) {
	t.Parallel()

	for _, share := range shares() {
		for _, rate := range rates() {
			t.Run(fmt.Sprintf("%.0f %% at %v a second", 100*share, rate), func(t *testing.T) {
				t.Parallel()

				c := measure(share, rate, seedsOf(rate))
				t.Logf("open %.2f %%, p95 %v of %v, %.0f requests of %.0f", 100*c.open, c.p95, c.plain, c.sent, c.plainSent)
				if share <= 0.3 && c.open >= 0.02 {
					t.Errorf("open %.1f %% of the time; want below 2 %%", 100*c.open)
				}
				if share <= 0.3 && float64(c.p95) > 1.3*float64(c.plain) {
					t.Errorf("p95 %v; want at most 1.3 times %v", c.p95, c.plain)
				}
				if share == 1 && math.Round(c.sent) > 5+3 { // 5 in a row, and probes after 5, 15 and 35 minutes
					t.Errorf("%.1f requests in an hour; want at most 8", c.sent)
				}
			})
		}
	}
}

// The circuit of an endpoint that nearly always fails opens within 15 attempts without history, and
// within 25 after ten minutes of successes.
func TestHalfHealthy_opensSoonWhenDown(t *testing.T) {
	t.Parallel()

	for _, share := range sick() {
		for _, rate := range slices.Insert(rates(), 0, 0) {
			want := 25
			if rate == 0 {
				want = 15
			}
			got := attemptsToOpen(share, rate, 2000)
			t.Logf("%.0f %% fail after ten minutes of %v a second: open after %d attempts", 100*share, rate, got)
			if got > want {
				t.Errorf("%.0f %% fail after ten minutes of %v a second: open after %d attempts in 95 %% of the seeds; want at most %d", 100*share, rate, got, want)
			}
		}
	}
}

// With 30 % of random failures and no history, the circuit opens within the first 50 attempts in at most
// 2 % of the seeds.
func TestHalfHealthy_rarelyOpensByChance(t *testing.T) {
	t.Parallel()

	const seeds, attempts = 2000, 50
	opened := 0
	for _, n := range firstOpenings(0.3, 0, seeds) {
		if n <= attempts {
			opened++
		}
	}
	if most := seeds / 50; opened > most {
		t.Errorf("30 %% fail: open within %d attempts in %d of %d seeds; want at most %d", attempts, opened, seeds, most)
	}
}

// attemptsToOpen returns the number of attempts within which the circuit opens in 95 % of the seeds,
// after ten minutes of successes.
func attemptsToOpen(share, rate float64, seeds int) int {
	all := firstOpenings(share, rate, seeds)
	slices.Sort(all)
	return all[seeds*95/100]
}

// firstOpenings returns for each seed the number of attempts until the circuit opens, after ten minutes
// of successes at the rate; 1000 if it does not open.
func firstOpenings(share, rate float64, seeds int) []int {
	settings := circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}
	all := make([]int, seeds)
	for n := range all {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		c, counts := circuit.New(), circuit.Counts{OK: int(rate * circuit.Window.Seconds())}
		for c.State == circuit.Closed && all[n] < 1000 {
			all[n]++
			r := circuit.Results{Failed: 1, Trailing: 1}
			if rng.Float64() >= share {
				r = circuit.Results{Alive: true}
				counts.OK++
			}
			counts.Failed += r.Failed
			if next := c.Settled(r, counts, c, settings, start); next != c {
				c = next
				c.Version++
			}
		}
	}
	return all
}

// halves are the figures of half-healthy endpoints in the document.
type halves struct {
	cells    []cell
	openings []opening
	places   []place
}

// opening is the number of attempts until the circuit opens, after ten minutes of successes at a rate.
type opening struct {
	share, rate float64
	attempts    int
}

// sick returns the shares of failures of an endpoint that is down, or nearly.
func sick() []float64 { return []float64{0.9, 0.95, 1} }

// measureHalves measures what the document shows.
func measureHalves(t *testing.T) (h halves) {
	t.Helper()

	for _, share := range shares() {
		for _, rate := range rates() {
			h.cells = append(h.cells, measure(share, rate, seedsOf(rate)))
		}
	}
	for _, share := range sick() {
		for _, rate := range append([]float64{0}, rates()...) {
			h.openings = append(h.openings, opening{share, rate, attemptsToOpen(share, rate, 2000)})
		}
	}
	h.places = inPlace(t, 1, 20)
	return h
}

// write writes the section of docs/reliability.md.
func (h halves) write(b *bytes.Buffer) {
	fmt.Fprint(b, `
## Half-healthy endpoints

Endpoints that fail at random, for an hour, with retries after 1, 2, 4 and 8 s. "Never" means that less than 95 % were delivered a quarter of an hour after the last event. An endpoint with half of its attempts failing, or more, counts as down, so its
deliveries wait for probes. The tests assert that the circuit is open for less than 2 % of the time at 10 % and 30 %, that p95 is at most 1.3 times that of the schedule alone, and that an endpoint that always fails gets at most 8 requests.

`)
	fmt.Fprintln(b, "| attempts that fail | events a second | circuit open | p95, schedule alone | p95, Surehook | requests an hour, schedule alone | requests an hour, Surehook |")
	fmt.Fprintln(b, "|---|---|---|---|---|---|---|")
	for _, c := range h.cells {
		fmt.Fprintf(b, "| %.0f %% | %v | %.2f %% | %s | %s | %.0f | %.0f |\n", 100*c.share, c.rate, 100*c.open, shown(c.plain), shown(c.p95), c.plainSent, c.sent)
	}
	fmt.Fprint(b, `
Attempts until the circuit opens, in 95 % of 2,000 runs, one after another, after ten minutes of successes; 0 is an endpoint without history. The tests assert at most 15 without history, and 25 with.

`)
	fmt.Fprintln(b, "| attempts that fail | events a second before | attempts until open |")
	fmt.Fprintln(b, "|---|---|---|")
	for _, o := range h.openings {
		fmt.Fprintf(b, "| %.0f %% | %v | %d |\n", 100*o.share, o.rate, o.attempts)
	}
	fmt.Fprint(b, `
The same in the real use cases, for an hour: random failures with the schedule from above, and deploys with the preset `+"`standard`"+`, where p95 is of the events posted during a deploy. Events after a deploy wait for the rest of the cooldown, so give an
endpoint with many deploys a shorter `+"`circuit.cooldown`"+`.

`)
	fmt.Fprintln(b, "| endpoint | events a second | openings | p95, schedule alone | p95, Surehook |")
	fmt.Fprintln(b, "|---|---|---|---|---|")
	for _, p := range h.places {
		fmt.Fprintf(b, "| %s | %v | %d | %s | %s |\n", p.text, p.rate, p.openings, shown(p.plain), shown(p.p95))
	}
}

// shown returns the duration as the document shows it.
func shown(d time.Duration) string {
	switch {
	case d == never:
		return "never"
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f min", d.Minutes())
}
