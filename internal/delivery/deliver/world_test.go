package deliver_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/proof/world"
)

var start = world.Start()

// bundle is the world of function deliver. There is no breaker: the gate's circuit checks stay in
// the world's list.
type bundle struct{ *world.World }

// setup returns a world whose endpoints retry after 10 s, and then after 20 min.
func setup(t *testing.T) *bundle {
	t.Helper()

	return &bundle{world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{10 * time.Second, 20 * time.Minute}})}
}

// store is what a process can write to.
type store interface {
	deliver.Store
	settle.Store
}

// writeTo lets the process write to the store.
func writeTo(process *deliver.Deliverer, s store) {
	process.Store, settlerOf(process).Store = s, s
}

func settlerOf(process *deliver.Deliverer) *settle.Settler {
	return process.Settler.(*settle.Settler) //nolint:forcetypeassert,errcheck // a panic names the type
}

func gateOf(process *deliver.Deliverer) *admit.Gate {
	return process.Gate.(*admit.Gate) //nolint:forcetypeassert,errcheck // a panic names the type
}
