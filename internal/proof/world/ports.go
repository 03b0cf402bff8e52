package world

import (
	"context"
	"errors"
	"time"

	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/speed"
	"surehook/internal/rule/stats"
)

// ports are the ports of one function: those in memory, counted, and with the
// faults if the function is under test. Methods without a wrapper here are the
// store's own: no test counts their calls.
type ports struct {
	*memory.Store

	w      *World
	prefix string // of the function's calls; empty: the function is under test
}

func (p ports) underTest() bool { return p.prefix == "" }

// read counts a call without an effect.
func (p ports) read(call string, id hook.EndpointID) error {
	p.w.Calls.count(p.prefix + call)
	if !p.underTest() {
		return nil
	}
	return p.w.Calls.fail(call, id)
}

// effect makes an effect, and counts the call.
func (p ports) effect(call string, id hook.EndpointID, do func() error) error {
	if !p.underTest() {
		p.w.Calls.count(p.prefix + call)
		return do()
	}
	if err := p.w.Calls.fail(call, id); err != nil {
		return err
	}
	p.w.Calls.count(call)
	return p.w.Crash.do(func() error { return p.w.Calls.answer(call, do()) })
}

// PutEvent is an effect.
func (p ports) PutEvent(ctx context.Context, e hook.Event) error {
	return p.effect("put event", "", func() error { return p.Store.PutEvent(ctx, e) })
}

// RegisterTenant is an effect.
func (p ports) RegisterTenant(ctx context.Context, tenant hook.TenantID) error {
	return p.effect("register tenant", "", func() error { return p.Store.RegisterTenant(ctx, tenant) })
}

// AddTarget is an effect.
func (p ports) AddTarget(ctx context.Context, e hook.Event, target hook.Target) error {
	return p.effect("add target", target.Endpoint, func() error { return p.Store.AddTarget(ctx, e, target) })
}

// Load reads the records of the tokens.
func (p ports) Load(ctx context.Context, tokens []hook.Token) (deliver.Snapshot, error) {
	if len(tokens) > 0 {
		if err := p.read("load", tokens[0].Delivery.Endpoint); err != nil {
			return deliver.Snapshot{}, err
		}
	}
	snapshot, err := p.Store.Load(ctx, tokens)
	for _, token := range tokens {
		id := token.Delivery.Endpoint
		record, ok := snapshot.Circuits[id]
		if !ok {
			record = gate.NewRecord(token.Tenant, id)
		}
		if err == nil {
			snapshot.Circuits[id] = p.proven(record)
		}
	}
	return snapshot, err
}

// proven returns the record of a fast endpoint, unless the test is about speed.
func (p ports) proven(r gate.Record) gate.Record {
	if !p.w.options.Unproven && r.Speed == speed.Unproven {
		r.Speed, r.SeenAt = speed.Fast, p.w.Clock.Now()
	}
	return r
}

// TLSMaterial reads the material of an endpoint.
func (p ports) TLSMaterial(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Material, error) {
	if err := p.read("read TLS settings", id); err != nil {
		return hook.Material{}, err
	}
	return p.Store.TLSMaterial(ctx, tenant, id)
}

// Circuit reads a circuit record.
func (p ports) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (gate.Record, error) {
	if err := p.read("read circuit", id); err != nil {
		return gate.Record{}, err
	}
	r, err := p.Store.Circuit(ctx, tenant, id)
	return p.proven(r), err
}

// Limits reads an endpoint's limits.
func (p ports) Limits(ctx context.Context, id hook.EndpointID) (gate.Limits, error) {
	if err := p.read("read limits", id); err != nil {
		return gate.Limits{}, err
	}
	return p.Store.Limits(ctx, id)
}

// ChangeLimits is an effect, if something differs.
func (p ports) ChangeLimits(ctx context.Context, id hook.EndpointID, before, after gate.Limits, most int) error {
	if before.To(after).Empty() {
		return nil
	}
	return p.effect("change limits", id, func() error { return p.Store.ChangeLimits(ctx, id, before, after, most) })
}

// Places reads a tenant's places.
func (p ports) Places(ctx context.Context, tenant hook.TenantID) (gate.Limits, error) {
	if err := p.read("read places", ""); err != nil {
		return gate.Limits{}, err
	}
	return p.Store.Places(ctx, tenant)
}

// ChangePlaces is an effect, if something differs.
func (p ports) ChangePlaces(ctx context.Context, tenant hook.TenantID, before, after gate.Limits, most int) error {
	if before.To(after).Empty() {
		return nil
	}
	return p.effect("change places", "", func() error { return p.Store.ChangePlaces(ctx, tenant, before, after, most) })
}

// SaveCircuit is an effect.
func (p ports) SaveCircuit(ctx context.Context, r gate.Record) error {
	return p.effect("save circuit", r.Endpoint, func() error { return p.Store.SaveCircuit(ctx, r) })
}

// DueCircuits lists due circuits, with the waves of an index that lags.
func (p ports) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	if err := p.read("list due", ""); err != nil {
		return nil, err
	}
	checks, err := p.Store.DueCircuits(ctx, now, limit)
	for i := range checks {
		checks[i].Wave -= p.w.Calls.WaveLag
	}
	return checks, err
}

// Attended lists the circuits with a time of attention.
func (p ports) Attended(ctx context.Context, limit int) ([]gate.Record, error) {
	if err := p.read("list attended", ""); err != nil {
		return nil, err
	}
	return p.Store.Attended(ctx, limit)
}

// Endpoint reads an endpoint.
func (p ports) Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error) {
	if err := p.read("read endpoint", id); err != nil {
		return hook.Endpoint{}, err
	}
	return p.Store.Endpoint(ctx, tenant, id)
}

// DisableEndpoint is an effect.
func (p ports) DisableEndpoint(ctx context.Context, e hook.Endpoint, r hook.AuditRecord) error {
	return p.effect("disable endpoint", e.ID, func() error { return p.Store.DisableEndpoint(ctx, e, r) })
}

// EraseEvent is an effect.
func (p ports) EraseEvent(ctx context.Context, e hook.Event) error {
	return p.effect("erase event", "", func() error { return p.Store.EraseEvent(ctx, e) })
}

// EraseAttempts is an effect.
func (p ports) EraseAttempts(ctx context.Context, deliveries []hook.Delivery) error {
	return p.effect("erase attempts", "", func() error { return p.Store.EraseAttempts(ctx, deliveries) })
}

// Parked lists parked deliveries.
func (p ports) Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error) {
	if err := p.read("list parked", target.Endpoint); err != nil {
		return nil, err
	}
	return p.Store.Parked(ctx, target, since, limit)
}

// Delivery reads a delivery.
func (p ports) Delivery(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error) {
	if err := p.read("read delivery", ref.Endpoint); err != nil {
		return hook.Delivery{}, err
	}
	return p.Store.Delivery(ctx, ref)
}

// DeliveriesByRef reads deliveries.
func (p ports) DeliveriesByRef(ctx context.Context, refs []hook.DeliveryRef) ([]hook.Delivery, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	if err := p.read("read deliveries", refs[0].Endpoint); err != nil {
		return nil, err
	}
	return p.Store.DeliveriesByRef(ctx, refs)
}

// SaveDelivery is an effect.
func (p ports) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	return p.effect("save delivery", d.ID.Endpoint, func() error { return p.Store.SaveDelivery(ctx, d, a) })
}

// RecordOutcome is an effect.
func (p ports) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	return p.effect("record outcome", d.ID.Endpoint, func() error { return p.Store.RecordOutcome(ctx, d) })
}

// CountMore is an effect.
func (p ports) CountMore(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add *stats.Counts, at time.Time) error {
	return p.effect("count", id, func() error { return p.Store.CountMore(ctx, tenant, id, add, at) })
}

// Count is an effect.
func (p ports) Count(
	ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add *stats.Counts, now time.Time,
) (counts circuit.Counts, err error) {
	err = p.effect("count", id, func() (err error) {
		counts, err = p.Store.Count(ctx, tenant, id, add, now)
		return err
	})
	return counts, err
}

// Hours reads the hourly counts.
func (p ports) Hours(ctx context.Context, id hook.EndpointID, since time.Time) ([]stats.Hour, error) {
	if err := p.read("read hours", id); err != nil {
		return nil, err
	}
	return p.Store.Hours(ctx, id, since)
}

// Active lists the endpoints with counts in an hour.
func (p ports) Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error) {
	if err := p.read("list active", ""); err != nil {
		return nil, err
	}
	return p.Store.Active(ctx, at, after, limit)
}

// Select lists a page of deliveries.
func (p ports) Select(ctx context.Context, s replay.Selection) ([]hook.Delivery, string, error) {
	if err := p.read("select", s.Endpoint); err != nil {
		return nil, "", err
	}
	page, next, err := p.Store.Select(ctx, s)
	p.w.Calls.size("select", len(page))
	return page, next, err
}

// SaveJob is an effect.
func (p ports) SaveJob(ctx context.Context, j replay.Job) error {
	p.w.Calls.size("save job", len(j.Pending))
	return p.effect("save job", "", func() error { return p.Store.SaveJob(ctx, j) })
}

// Send is an effect, with the tokens that the queue does not refuse.
func (p ports) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	p.w.Calls.size("send", len(tokens))
	errs := make([]error, len(tokens))
	err := p.effect("send", tokens[0].Delivery.Endpoint, func() error {
		var taken []hook.Token
		for i, token := range tokens {
			if p.underTest() && p.w.Calls.Refuse != nil {
				errs[i] = p.w.Calls.Refuse(i, token)
			}
			if errs[i] == nil {
				taken = append(taken, token)
			}
		}
		if p.underTest() && p.w.Calls.Twice {
			taken = append(taken, taken...)
		}
		return errors.Join(p.w.Queue.Send(ctx, lane, taken, delay)...)
	})
	for i := range errs {
		if err != nil {
			errs[i] = err
		}
	}
	if errors.Join(errs...) == nil {
		return nil
	}
	return errs
}

// Visible reads the depth of a lane.
func (p ports) Visible(ctx context.Context, lane hook.Lane) (int, error) {
	if err := p.read("read lane", ""); err != nil {
		return 0, err
	}
	return p.w.Queue.Visible(ctx, lane)
}

// Overdue lists overdue deliveries.
func (p ports) Overdue(ctx context.Context, state hook.State, before time.Time, limit int) ([]hook.Delivery, error) {
	if err := p.read("list overdue", ""); err != nil {
		return nil, err
	}
	return p.Store.Overdue(ctx, state, before, limit)
}

// Unrecorded looks for begun deliveries.
func (p ports) Unrecorded(ctx context.Context, refs []hook.DeliveryRef) ([]hook.DeliveryRef, error) {
	if err := p.read("look for deliveries", refs[0].Endpoint); err != nil {
		return nil, err
	}
	return p.Store.Unrecorded(ctx, refs)
}

// At is an effect.
func (p ports) At(ctx context.Context, token hook.Token, at time.Time) error {
	return p.effect("schedule", token.Delivery.Endpoint, func() error { return p.w.Schedules.At(ctx, token, at) })
}

// Enqueue is an effect.
func (p ports) Enqueue(ctx context.Context, check hook.CircuitCheck, delay time.Duration) error {
	return p.effect("enqueue check", check.Endpoint, func() error {
		p.w.checked(Check{check, delay})
		return p.w.CircuitQueue.Enqueue(ctx, check, delay)
	})
}

// EnqueueReview is an effect.
func (p ports) EnqueueReview(ctx context.Context, page hook.ReviewPage) error {
	return p.effect("enqueue review", "", func() error { return p.w.CircuitQueue.EnqueueReview(ctx, page) })
}

// Continue is an effect.
func (p ports) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	return p.effect("continue", "", func() error { return p.w.Jobs.Continue(ctx, m, delay) })
}

// Notify is an effect.
func (p ports) Notify(ctx context.Context, n hook.Notification) error {
	return p.effect("notify", n.Endpoint, func() error { return p.w.Notifications.Notify(ctx, n) })
}

// deadLetters is the port of dead letters of the same function.
type deadLetters struct{ p ports }

// Send is an effect.
func (l deadLetters) Send(ctx context.Context, letter hook.DeadLetter) error {
	return l.p.effect("send dead letter", letter.Endpoint, func() error { return l.p.w.DeadLetters.Send(ctx, letter) })
}

// Receive is an effect: the letters are hidden from other receivers.
func (l deadLetters) Receive(ctx context.Context) (letters []breaker.Letter, err error) {
	err = l.p.effect("receive dead letters", "", func() (err error) {
		letters, err = l.p.w.DeadLetters.Receive(ctx)
		return err
	})
	return letters, err
}

// Remove is an effect.
func (l deadLetters) Remove(ctx context.Context, letters []breaker.Letter) error {
	return l.p.effect("remove dead letters", "", func() error { return l.p.w.DeadLetters.Remove(ctx, letters) })
}

// Depth returns the number of dead letters.
func (l deadLetters) Depth(ctx context.Context) (int, error) {
	if err := l.p.read("read depth", ""); err != nil {
		return 0, err
	}
	return l.p.w.DeadLetters.Depth(ctx)
}
