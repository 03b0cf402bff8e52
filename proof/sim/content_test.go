package sim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	adminendpoint "surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

// Some endpoints have an envelope or a transformation, and operators change them. One of the
// transformations cannot shape each event: its attempts make no request, and each ends its delivery.

// The transformations of the simulation. The brittle one needs a number below 3.
const (
	sturdy  = `{"body": {"type": event.type, "sent": event.data}}`
	brittle = `{"body": {"type": event.type, "sent": event.data.n < 3 ? event.data.n : event.data.absent}}`
)

// contentOf gives one endpoint in two a shape of its own. The endpoint's id chooses, as in place.
func contentOf(e *hook.Endpoint) {
	switch e.ID[6] % 8 {
	case 0:
		e.Envelope = hook.EnvelopeStandard
	case 1:
		e.Envelope = hook.EnvelopeThin
	case 2:
		e.Transformation = sturdy
	case 3, 4:
		e.Transformation = brittle
	}
	if e.Coalesce.On() { // which permits neither thin nor a transformation
		e.Envelope, e.Transformation = hook.EnvelopeRaw, ""
	}
}

// drawContent returns a change of the shape.
func (w *simulation) drawContent() (f adminendpoint.Fields) {
	expression, envelope := pick(w, "", sturdy, brittle), pick(w, hook.EnvelopeRaw, hook.EnvelopeStandard)
	f.Transformation, f.Envelope = &expression, &envelope
	return f
}

// shapes reports whether the endpoint's transformation can shape the payload.
func shapes(e hook.Endpoint, payload []byte) bool {
	var data struct {
		N *int `json:"n"`
	}
	return e.Transformation != brittle || json.Unmarshal(payload, &data) == nil && data.N != nil && *data.N < 3
}

// checkContent: the body is the event in the shape of the endpoint, as the process knows it.
func (w *simulation) checkContent(p *process, r send.Request) {
	e, payload := r.Endpoint, string(r.Event.Payload)
	stamp := r.Event.AcceptedAt.UTC().Format(shape.Time)
	want := payload
	switch {
	case r.Event.Type == hook.BatchEventType:
	case e.Transformation == sturdy:
		want = fmt.Sprintf(`{"sent":%s,"type":%q}`, payload, r.Event.Type)
	case e.Transformation == brittle:
		var data struct {
			N json.Number `json:"n"`
		}
		if !shapes(*e, r.Event.Payload) || json.Unmarshal(r.Event.Payload, &data) != nil {
			w.fail(checkContent, "%s sends %s, which the transformation cannot shape", p.name, r.Delivery)
		}
		want = fmt.Sprintf(`{"sent":%s,"type":%q}`, data.N, r.Event.Type)
	case e.Envelope == hook.EnvelopeStandard:
		want = fmt.Sprintf(`{"type":%q,"timestamp":%q%s,"data":%s}`, r.Event.Type, stamp, w.ordering(r), payload)
	case e.Envelope == hook.EnvelopeThin:
		want = fmt.Sprintf(`{"type":%q,"timestamp":%q,"id":%q%s}`, r.Event.Type, stamp, r.Event.ID, w.ordering(r))
	}
	if !bytes.Equal(r.Content.Body, []byte(want)) {
		w.fail(checkContent, "%s sends %s with the body %s; want %s", p.name, r.Delivery, r.Content.Body, want)
	}
}

// checkUnmade: an attempt without a request ends the delivery, and the transformation explains it.
func (w *simulation) checkUnmade(p *process, d hook.Delivery, a *hook.Attempt) {
	w.count("attempts without a request")
	i, known := w.byID[d.ID.Event]
	explained := known && slices.ContainsFunc(w.statuses[d.ID.Endpoint].known(p.started), func(s setting) bool {
		return !shapes(s.Endpoint, w.posted[i].Payload)
	})
	switch {
	case !explained:
		w.fail(checkContent, "%s: attempt %d of %s makes no request, and its endpoint can shape the event", p.name, d.Attempts, d.ID)
	case a == nil || d.State != hook.StateDead || d.Reason != hook.ReasonTransformation:
		w.fail(checkRecord, "%s: attempt %d of %s made no request, and it is %s %s", p.name, d.Attempts, d.ID, d.State, d.Reason)
	}
	p.unmade = append(p.unmade, d.Ref())
}

// checkProbeLease: a probe without a request gives its lease back, unless a copy of its task shares it.
func (w *simulation) checkProbeLease(p *process) {
	for _, d := range p.unmade {
		c := w.circuits[d.Endpoint]
		if len(c.leases) == 0 || len(w.blamed[d]) > 0 || w.twoTasks(attempt{d, w.records[d].Attempts}) || !p.reads(d.DeliveryID) {
			continue
		}
		w.count("attempts without a request at circuits with a lease")
		last := c.leases[len(c.leases)-1]
		if last.to.IsZero() && strings.HasPrefix(last.holder, attempt{d, w.records[d].Attempts}.holder()) {
			w.fail(checkUnmade, "%s made no request to %s, and its probe %s keeps the lease", p.name, d.Endpoint, d.DeliveryID)
		}
	}
}
