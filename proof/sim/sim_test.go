package sim_test

import (
	"cmp"
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
	seedsFlag = flag.Uint64("seeds", 60, "how many seeds TestSeeds runs")
	levelFlag = flag.String("level", "", "mild, rough or brutal; without, the seeds share the levels out")
)

// TestSeed runs one seed and prints the whole run.
func TestSeed(t *testing.T) {
	t.Parallel()

	if *seedFlag == 0 {
		t.Skip("no -seed is given")
	}
	w := simulate(t, options{seed: *seedFlag, level: levelOf(t, *seedFlag), verbose: true})
	t.Logf("seed %d:\n%s", *seedFlag, strings.Join(w.trace, "\n"))
	if w.broken != "" {
		t.Errorf("seed %d: %s", *seedFlag, w.broken)
	}
}

// TestSeeds runs many seeds, on all processors; with -short a third of them.
func TestSeeds(t *testing.T) { //nolint:tparallel // it waits for its workers, which are parallel
	t.Parallel()

	var (
		next   atomic.Uint64
		totals = make(chan map[string]int, 1)
	)
	totals <- map[string]int{}
	seeds := *seedsFlag
	if testing.Short() {
		seeds /= 3
	}
	t.Logf("%d seeds from seed %d, level %s", seeds, *firstFlag, cmp.Or(*levelFlag, "of each seed"))
	t.Run("all", func(t *testing.T) {
		for range 4 {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()

				for n := next.Add(1); n <= seeds && !t.Failed(); n = next.Add(1) {
					seed := *firstFlag + n - 1
					w := simulate(t, options{seed: seed, level: levelOf(t, seed)})
					if w.broken != "" {
						next.Store(seeds)
						t.Errorf("seed %d: %s\nprint it: make sim SEED=%d LEVEL=%s", w.seed, w.broken, w.seed, w.level.name)
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
		o := options{seed: seed, level: levelOf(t, seed), verbose: true}
		first, second := simulate(t, o), simulate(t, o)
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

// levelOf returns the level of -level, or the seed's.
func levelOf(t *testing.T, seed uint64) level {
	t.Helper()

	all := levels()
	if *levelFlag == "" {
		return all[seed%uint64(len(all))]
	}
	i := slices.IndexFunc(all, func(l level) bool { return l.name == *levelFlag })
	if i < 0 {
		t.Fatalf("-level is %q; want mild, rough or brutal", *levelFlag)
	}
	return all[i]
}

func simulate(t *testing.T, o options) (w *simulation) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) { w = run(t.Context(), o) })
	return w
}
