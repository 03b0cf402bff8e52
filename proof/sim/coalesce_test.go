package sim_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// coalesce lets one endpoint in three without max_in_flight get the events of a window
// together. The endpoint's id chooses, as in place.
func coalesce(e *hook.Endpoint) {
	if e.MaxInFlight > 0 || e.ID[3]%3 != 0 {
		return
	}
	e.Coalesce = hook.Coalescing{
		Window:    []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute}[e.ID[4]%4],
		MaxEvents: []int{1, 2, 5, hook.MaxCoalesceEvents}[e.ID[5]%4],
	}.WithDefaults()
}

// member is a delivery of a request.
type member struct {
	ID         hook.EventID    `json:"id"`
	Type       string          `json:"type"`
	AcceptedAt time.Time       `json:"accepted_at"`
	Delivery   string          `json:"delivery_id"`
	Attempt    int             `json:"attempt"`
	Payload    json.RawMessage `json:"payload"`

	of attempt
}

// membersOf returns the deliveries of the request, as its receiver reads them.
func (w *simulation) membersOf(p *process, r send.Request) []member {
	if r.Event.Type != hook.BatchEventType {
		ref, _ := r.Event.Ref(r.Delivery.Endpoint, r.Delivery.Generation)
		return []member{{Type: r.Event.Type, of: attempt{ref, r.Attempt}}}
	}
	var document struct {
		ID     hook.EventID `json:"id"`
		Events []member     `json:"events"`
	}
	if err := json.Unmarshal(r.Event.Payload, &document); err != nil || document.ID != r.Event.ID || len(document.Events) == 0 {
		w.fail(checkBatch, "%s sends the batch %s with the body %s: %v", p.name, r.Event.ID, r.Event.Payload, err)
	}
	for i := range document.Events {
		m := &document.Events[i]
		t := slices.IndexFunc(p.batch, func(b memory.Message) bool {
			return b.Task.Delivery.String() == m.Delivery && b.Task.Attempt == m.Attempt && b.Task.Delivery.AcceptedAt == m.AcceptedAt.UnixMilli()
		})
		if t < 0 {
			w.fail(checkBatch, "%s sends attempt %d of %s, and received no task", p.name, m.Attempt, m.Delivery)
			continue
		}
		m.of = attempt{p.batch[t].Task.Delivery, m.Attempt}
	}
	return document.Events
}

// checkBatch: a request has at most max_events events, each of them once and byte for
// byte, and its name is made of its members. A delivery goes alone after a rejection of
// several, and as the probe.
func (w *simulation) checkBatch(p *process, r send.Request, members []member) {
	c := w.circuits[r.Delivery.Endpoint]
	if len(members) > r.Endpoint.Coalesce.MaxEvents {
		w.fail(checkBatch, "%s sends %d events to %s; at most %d", p.name, len(members), r.Delivery.Endpoint, r.Endpoint.Coalesce.MaxEvents)
	}
	if len(members) > 1 && !c.open.IsZero() && c.open.Before(p.started) {
		w.fail(checkBatch, "%s sends %d events to %s, whose circuit is %s", p.name, len(members), r.Delivery.Endpoint, c.State)
	}
	seen := make(map[string]bool)
	var ids []hook.DeliveryID
	for _, m := range members {
		d := w.records[m.of.DeliveryRef]
		i := slices.IndexFunc(w.posted, func(e hook.Event) bool { return e.ID == m.ID && e.AcceptedAt.UnixMilli() == m.AcceptedAt.UnixMilli() })
		switch {
		case seen[m.Delivery]:
			w.fail(checkBatch, "%s sends %s twice in one request", p.name, m.Delivery)
		case i < 0 || m.of.Event != m.ID || w.posted[i].Type != m.Type || !bytes.Equal(w.posted[i].Payload, m.Payload):
			w.fail(checkBatch, "%s sends %s as %s %s %s", p.name, m.Delivery, m.ID, m.Type, m.Payload)
		case len(members) > 1 && w.goesAlone(r.Endpoint, d) && w.written[m.of.DeliveryRef].Before(p.started):
			w.fail(checkBatch, "%s sends %s with %d others, and the endpoint rejected it in a request with others", p.name, m.Delivery, len(members)-1)
		}
		seen[m.Delivery] = true
		ids = append(ids, m.of.DeliveryID)
	}
	if want := hook.NewBatch(ids, r.Delivery).ID; string(r.Event.ID) != string(want) {
		w.fail(checkBatch, "%s sends %v as %s; want %s", p.name, ids, r.Event.ID, want)
	}
}

// goesAlone reports whether the endpoint rejected the delivery together with others.
func (w *simulation) goesAlone(e *hook.Endpoint, d hook.Delivery) bool {
	return d.Last.Batch.Several() && meaning(e, &d.Last) == hook.ResultRejected
}

// leaderOf returns the member with the rate slot of the request; the member that the
// request names, if no task had to wait for its slot.
func (w *simulation) leaderOf(p *process, r send.Request, members []member) int {
	for i, m := range members {
		if slices.ContainsFunc(p.batch, func(b memory.Message) bool {
			return b.Task.Reserved && b.Task.Delivery == m.of.DeliveryRef && b.Task.Attempt == m.of.number
		}) {
			return i
		}
	}
	return max(0, slices.IndexFunc(members, func(m member) bool { return m.of.DeliveryID == r.Delivery }))
}

// checkFewRequests: of the requests of a process to a coalescing endpoint, at most one has
// room for another event. Requests of deliveries that go alone, and probes, have none.
func (w *simulation) checkFewRequests(p *process) {
	type room struct{ requests, events int }
	rooms := make(map[hook.EndpointID]room)
	seen := make(map[*exchange]bool)
	for _, sent := range p.made {
		if !sent.by.Coalesce.On() || seen[sent.exchange] || sent.apart || sent.test || len(sent.members) >= sent.by.Coalesce.MaxEvents {
			continue
		}
		seen[sent.exchange] = true
		if len(sent.members) == 1 && sent.alone {
			continue
		}
		one := rooms[sent.of.Endpoint]
		rooms[sent.of.Endpoint] = room{one.requests + 1, one.events + len(sent.members)}
	}
	for id, one := range rooms {
		if one.requests > 1 {
			w.fail(checkBatch, "%s makes %d requests to %s for %d events; at most one is not full", p.name, one.requests, id, one.events)
		}
	}
}
