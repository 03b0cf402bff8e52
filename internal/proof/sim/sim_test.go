package sim_test

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "the one seed that TestSeed runs and prints")
	firstFlag = flag.Uint64("first", 1, "the first seed of TestSeeds")
	seedsFlag = flag.Uint64("seeds", 50, "how many seeds TestSeeds runs")
)

// TestSeed runs one seed and prints the whole run.
func TestSeed(t *testing.T) {
	t.Parallel()

	if *seedFlag == 0 {
		t.Skip("no -seed is given")
	}
	w := simulate(t, *seedFlag, true)
	t.Logf("seed %d:\n%s", *seedFlag, strings.Join(w.trace, "\n"))
	if w.broken != "" {
		t.Errorf("seed %d: %s", *seedFlag, w.broken)
	}
}

// TestSeeds runs many seeds, on all processors.
func TestSeeds(t *testing.T) { //nolint:tparallel // it waits for its workers, which are parallel
	t.Parallel()

	var (
		next   atomic.Uint64
		totals = make(chan map[string]int, 1)
	)
	totals <- map[string]int{}
	t.Run("all", func(t *testing.T) {
		for range 4 {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()

				for n := next.Add(1); n <= *seedsFlag && !t.Failed(); n = next.Add(1) {
					w := simulate(t, *firstFlag+n-1, false)
					if w.broken != "" {
						next.Store(*seedsFlag)
						t.Errorf("seed %d: %s\nprint it: go test ./internal/proof/sim -run 'TestSeed$' -v -seed %d", w.seed, w.broken, w.seed)
					}
					sum := <-totals
					for what, n := range w.counts {
						sum[what] += n
					}
					sum["steps"] += w.steps
					totals <- sum
				}
			})
		}
	})
	sum := <-totals
	for _, what := range slices.Sorted(maps.Keys(sum)) {
		t.Logf("%10d %s", sum[what], what)
	}
}

// TestSeeds_RepeatThemselves runs seeds twice, with the same lines of their runs.
func TestSeeds_RepeatThemselves(t *testing.T) {
	t.Parallel()

	for seed := *firstFlag; seed < *firstFlag+8; seed++ {
		first, second := simulate(t, seed, true), simulate(t, seed, true)
		for i := range min(len(first.trace), len(second.trace)) {
			if first.trace[i] != second.trace[i] {
				t.Fatalf("seed %d, line %d:\n%s\n%s", seed, i, first.trace[i], second.trace[i])
			}
		}
		if len(first.trace) != len(second.trace) {
			t.Errorf("seed %d: %d lines, then %d", seed, len(first.trace), len(second.trace))
		}
	}
}

func simulate(t *testing.T, seed uint64, verbose bool) (w *simulation) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) { w = run(t.Context(), seed, verbose) })
	return w
}
