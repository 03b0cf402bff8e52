package sim_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Seven in eight seeds run without the sweeper, which would hide lost tokens: see purging.

const (
	sweepEvery  = 5 * time.Minute
	sweepWithin = 15*time.Minute + sweepEvery + time.Minute // from OverdueFrom to the sweeper's look
)

// TestSweeper_BringsLostTokensBack: tokens are lost at random, first tokens as well. The
// sweeper looks at each overdue delivery within its bound, and all deliveries end.
func TestSweeper_BringsLostTokensBack(t *testing.T) {
	t.Parallel()

	sum := sweepSeeds(t, true)
	if sum["tokens lost"] < 20 || sum["tokens by the sweeper"] < sum["tokens lost"]/2 {
		t.Errorf("%d tokens lost, %d by the sweeper; want many", sum["tokens lost"], sum["tokens by the sweeper"])
	}
}

// TestSweeper_SavesNothingWithoutALoss: limits, throttles, circuits and operators delay
// tokens, and the sweeper takes none of them for lost.
func TestSweeper_SavesNothingWithoutALoss(t *testing.T) {
	t.Parallel()

	if sum := sweepSeeds(t, false); sum["tokens by the sweeper"] > 0 || sum["sweeps"] == 0 {
		t.Errorf("%d tokens by %d sweeps; want none by some", sum["tokens by the sweeper"], sum["sweeps"])
	}
}

// sweepSeeds runs seeds without other faults, with the sweeper, on every level; with -short few.
func sweepSeeds(t *testing.T, losing bool) map[string]int {
	t.Helper()

	const calm = 8 // seeds without faults
	sum := make(map[string]int)
	seeds := uint64(24)
	if testing.Short() {
		seeds = 9
	}
	for n := range seeds {
		seed := calm * (n + 1)
		w := simulate(t, options{seed: seed, level: levels()[n%3], sweeper: true, losing: losing})
		if w.broken != "" {
			t.Errorf("seed %d, level %s: %s", seed, w.level.name, w.broken)
		}
		for _, what := range []string{"tokens lost", "first tokens lost", "tokens by the sweeper", "sweeps"} {
			sum[what] += w.counts[what]
		}
	}
	t.Logf("%v", sum)
	return sum
}

// loses reports whether the token is lost, until the end of the faults: one in five without
// other faults, one in 20 beside them.
func (p *process) loses(t hook.Token) bool {
	rate := 0.05
	if p.calm {
		rate = 0.2
	}
	if !p.losing || p.quiet || !p.chance(rate) {
		return false
	}
	p.count("tokens lost")
	if t.Attempt == 1 {
		p.count("first tokens lost")
	}
	return true
}

// planSweep plans the next sweep.
func (w *simulation) planSweep() {
	w.plan.add(w.now.Add(sweepEvery), func() {
		w.spawn("sweep", workTimeout, nil, func(p *process) {
			wiring := p.wiring()
			wiring.Queue = sweepQueue{p.ports()}
			if err := wiring.Breaker().Sweep(p.context()); err == nil {
				p.count("sweeps")
			}
		}, func(*process) { w.checkSwept() })
		if _, reason := w.unfinished(); w.quiet && (reason == "" || w.now.Sub(start) > suffering+drainAtMost) {
			return
		}
		w.planSweep()
	})
}

// sweepQueue counts the tokens of the sweeper.
type sweepQueue struct{ ports }

func (q sweepQueue) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	for range tokens {
		q.p.count("tokens by the sweeper")
	}
	return q.ports.Send(ctx, lane, tokens, delay)
}

// checkSwept: without other faults, and an hour after the last one and a restore, no delivery is overdue
// after a sweep for longer than the bound.
func (w *simulation) checkSwept() {
	late := checkLate
	if !w.restored.IsZero() {
		late = checkRestored
	}
	if !w.calm && (w.restored.IsZero() || w.now.Sub(w.quietAt) < time.Hour) {
		return
	}
	for _, id := range w.recorded {
		if d := w.records[id]; (d.State == hook.StateRetrying || d.State == hook.StateQueued) && w.now.Sub(d.OverdueFrom()) > sweepWithin {
			w.fail(late, "%s is overdue for %s after a sweep", id, w.now.Sub(d.OverdueFrom()))
		}
	}
}
