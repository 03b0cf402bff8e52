// Package registry is what people manage and look up: endpoints with their
// secrets and circuits, API keys, and what became of events and deliveries.
//
// Everything it does is for one tenant; what belongs to another tenant does
// not exist here. Who may ask is decided before, by package httpapi. It knows
// nothing of HTTP and of how things are stored or sealed.
package registry

import (
	"time"

	"surehook/internal/delivery/egress"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// Registry holds the use cases. All fields must be set.
type Registry struct {
	Endpoints    Endpoints
	Circuits     Circuits
	CircuitQueue gate.CircuitQueue // how parked deliveries are released
	History      History
	Stats        Stats
	Index        Index
	Queues       Queues
	Vault        Vault
	Policy       egress.Policy // which URLs an endpoint may have
	Now          func() time.Time
}

// now returns the time as it is stored: UTC with milliseconds.
func (r *Registry) now() time.Time { return r.Now().UTC().Truncate(time.Millisecond) }

// missing turns a port's CodeNotFound into the one that is told to callers,
// the same for what does not exist and for what is another tenant's. Other
// errors pass as they are.
func missing(what string, err error) error {
	if hook.CodeOf(err) == hook.CodeNotFound {
		return hook.NotFound(what)
	}
	return err
}
