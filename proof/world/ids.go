package world

import (
	"fmt"
	"strings"
	"sync"

	"surehook.example/surehook/internal/hook"
)

// IDs makes ids and secrets that are the same at every run. The retry jitter is
// a hash of the delivery's id, so a run with these ids repeats itself. It is
// safe for concurrent use; the ids are given in the order of the calls.
type IDs struct {
	seed string

	mu sync.Mutex
	n  int
}

// NewIDs returns the ids of the seed.
func NewIDs(seed string) *IDs { return &IDs{seed: seed} }

// Event returns the next event id.
func (i *IDs) Event() hook.EventID {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.n++
	return hook.KeyedEventID(Tenant, fmt.Sprintf("%s %d", i.seed, i.n))
}

// Endpoint returns the next endpoint id.
func (i *IDs) Endpoint() hook.EndpointID {
	suffix := strings.TrimPrefix(string(i.Event()), "evt_")
	return hook.EndpointID("ep_" + suffix[len(suffix)-16:])
}

// Secret is a signing secret in text form, of the usual length.
const Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
