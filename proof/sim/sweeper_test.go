package sim_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Seven in eight seeds run without the sweeper, which would hide lost tasks: see purging.

const (
	sweepEvery  = 5 * time.Minute
	sweepWithin = 15*time.Minute + sweepEvery + time.Minute // from OverdueFrom to the sweeper's look
)

// TestSweeper_BringsLostTasksBack: tasks are lost at random, first tasks as well. The
// sweeper looks at each overdue delivery within its bound, and all deliveries end.
func TestSweeper_BringsLostTasksBack(t *testing.T) {
	t.Parallel()

	sum := sweepSeeds(t, true)
	if sum["tasks lost"] < 20 || sum["tasks by the sweeper"] < sum["tasks lost"]/2 {
		t.Errorf("%d tasks lost, %d by the sweeper; want many", sum["tasks lost"], sum["tasks by the sweeper"])
	}
}

// TestSweeper_SavesNothingWithoutALoss: limits, throttles, circuits and operators delay
// tasks, and the sweeper takes none of them for lost.
func TestSweeper_SavesNothingWithoutALoss(t *testing.T) {
	t.Parallel()

	if sum := sweepSeeds(t, false); sum["tasks by the sweeper"] > 0 || sum["sweeps"] == 0 {
		t.Errorf("%d tasks by %d sweeps; want none by some", sum["tasks by the sweeper"], sum["sweeps"])
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
		for _, what := range []string{"tasks lost", "first tasks lost", "tasks by the sweeper", "sweeps"} {
			sum[what] += w.counts[what]
		}
	}
	t.Logf("%v", sum)
	return sum
}

// loses reports whether the task is lost, until the end of the faults: one in five without
// other faults, one in 20 beside them.
func (p *process) loses(t hook.Task) bool {
	rate := 0.05
	if p.calm {
		rate = 0.2
	}
	if !p.losing || p.quiet || !p.chance(rate) {
		return false
	}
	p.count("tasks lost")
	if t.Attempt == 1 {
		p.count("first tasks lost")
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
		}, w.checkSwept)
		over := w.now.Sub(start) > suffering+drainAtMost
		if w.ordered {
			over = w.now.Sub(w.quietAt) > orderedDrain
		}
		if _, reason := w.unfinished(); w.mayEnd() && (reason == "" || over || w.broken != "") {
			return
		}
		w.planSweep()
	})
}

// sweepQueue counts the tasks of the sweeper.
type sweepQueue struct{ ports }

func (q sweepQueue) Send(ctx context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error {
	for range tasks {
		q.p.count("tasks by the sweeper")
	}
	return q.ports.Send(ctx, queue, tasks, delay)
}

// checkSwept: without other faults, and an hour after the last one and a restore, no delivery that the index listed when
// a sweep began is overdue after it for longer than the bound.
func (w *simulation) checkSwept(sweep *process) {
	late := checkLate
	if !w.restored.IsZero() {
		late = checkRestored
	}
	if !w.calm && (w.restored.IsZero() || w.now.Sub(w.quietAt) < time.Hour) {
		return
	}
	for _, id := range w.recorded {
		if w.listed[id].After(sweep.started) {
			continue
		}
		if d := w.records[id]; (d.State == hook.StateRetrying || d.State == hook.StateQueued) && w.now.Sub(d.OverdueFrom()) > sweepWithin {
			w.fail(late, "%s is overdue for %s after a sweep", id, w.now.Sub(d.OverdueFrom()))
		}
	}
}
