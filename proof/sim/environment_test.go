package sim_test

import (
	"context"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// environment is an execution environment of function deliver. It keeps, from one batch to the next,
// what the Deliverer and its Gate hold in memory.
type environment struct {
	kept  *deliver.Deliverer // nil before the first batch
	gate  *admit.Gate
	busy  bool
	later bool // of the later build
}

// environment returns a free environment for the next batch: a warm one if there is one of the build.
// A deployment ends all of them.
func (w *simulation) environment() *environment {
	if w.chance(w.rates.redeploy) {
		w.environments = nil
	}
	later := w.isLater()
	for _, i := range w.rng.Perm(len(w.environments)) {
		if e := w.environments[i]; !e.busy && e.later == later {
			w.count("warm batches")
			return e
		}
	}
	e := &environment{later: later}
	w.environments = append(w.environments, e)
	return e
}

// deliverer returns the environment's Deliverer with the ports of the process, which has the faults of
// one batch.
func (e *environment) deliverer(p *process) *deliver.Deliverer {
	wiring := p.wiring()
	g := wiring.NewGate()
	if e.kept == nil {
		e.gate, wiring.Gate = g, g
		e.kept = wiring.Deliverer()
		return e.kept
	}
	e.gate.Releaser = g.Releaser
	wiring.Gate = e.gate
	d := wiring.Deliverer()
	e.kept.Store, e.kept.Gate, e.kept.Attempts, e.kept.Settler = d.Store, d.Gate, d.Attempts, d.Settler
	e.kept.Log, e.kept.Now, e.kept.Wait = d.Log, d.Now, d.Wait
	return e.kept
}

// vault opens the secrets for one process, unless KMS refuses.
type vault struct{ p *process }

func (v vault) Open(ctx context.Context, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) (string, error) {
	if v.p.sealed {
		return "", unavailable("KMS did not answer")
	}
	return memory.Vault{}.Open(ctx, sealed, tenant, endpoint)
}
