package status

import "surehook.example/surehook/internal/hook"

// states counts the deliveries of events by state, as their records are read.
type states struct {
	known  map[hook.EndpointID]bool // endpoints whose deliveries are read
	newest map[hook.EventID]map[hook.EndpointID]hook.Delivery
}

func newStates(targets []hook.Target) states {
	s := states{known: make(map[hook.EndpointID]bool, len(targets)), newest: make(map[hook.EventID]map[hook.EndpointID]hook.Delivery)}
	for _, t := range targets {
		s.known[t.Endpoint] = true
	}
	return s
}

// add keeps the record if it is of the newest generation so far. A row without a record is none.
func (s states) add(d hook.Delivery) {
	if d.Version == 0 {
		return
	}
	of := s.newest[d.ID.Event]
	if of == nil {
		of = make(map[hook.EndpointID]hook.Delivery)
		s.newest[d.ID.Event] = of
	}
	if of[d.ID.Endpoint].ID.Generation < d.ID.Generation {
		of[d.ID.Endpoint] = d
	}
}

// of returns the number of endpoints by the state of the event's newest delivery. A target
// without a record is queued, and so is a replay.
func (s states) of(e hook.Event) map[hook.State]int {
	counts := make(map[hook.State]int)
	for _, d := range s.newest[e.ID] {
		switch {
		case d.AcceptedAt != e.AcceptedAt.UnixMilli() || d.Unreadable():
		case d.Replayed.Generation != 0:
			counts[hook.StateQueued]++
		default:
			counts[d.State]++
		}
	}
	for _, t := range e.Targets {
		if _, recorded := s.newest[e.ID][t.Endpoint]; !recorded && s.known[t.Endpoint] {
			counts[hook.StateQueued]++
		}
	}
	return counts
}
