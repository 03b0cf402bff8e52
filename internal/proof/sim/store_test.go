package sim_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/ingest"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// ports are the ports in memory of one process, with every fault. Methods without
// an override here are the store's own.
type ports struct {
	*memory.Store

	p *process
}

func (p *process) ports() ports { return ports{p.store, p} }

func (s ports) PutEvent(ctx context.Context, e hook.Event) error {
	return done(s.p, "put event", string(e.ID), conditional, func() error {
		err := s.Store.PutEvent(ctx, e)
		if err == nil {
			s.p.checkTargets(s.p, e)
		}
		return err
	})
}

func (s ports) EraseEvent(ctx context.Context, e hook.Event) error {
	return done(s.p, "erase event", string(e.ID), write, func() error { return s.Store.EraseEvent(ctx, e) })
}

func (s ports) AddTarget(ctx context.Context, e hook.Event, target hook.Target) error {
	return done(s.p, "add target", string(e.ID), conditional, func() error {
		err := s.Store.AddTarget(ctx, e, target)
		if err == nil {
			i := s.p.byID[e.ID]
			s.p.posted[i].Targets = append(slices.Clone(s.p.posted[i].Targets), target)
		}
		return err
	})
}

func (s ports) Event(ctx context.Context, id hook.EventID) (hook.Event, error) {
	return effect(s.p, "read event", string(id), read, func() (hook.Event, error) { return s.Store.Event(ctx, id) })
}

func (s ports) Deliveries(ctx context.Context, e hook.Event) ([]hook.Delivery, error) {
	return effect(s.p, "read deliveries", string(e.ID), read, func() ([]hook.Delivery, error) { return s.Store.Deliveries(ctx, e) })
}

func (s ports) TenantVersion(ctx context.Context, id hook.TenantID) (int64, error) {
	return effect(s.p, "read version", string(id), read, func() (int64, error) { return s.Store.TenantVersion(ctx, id) })
}

// Listing is torn during the commit of a change, and may then miss the change.
func (s ports) Listing(ctx context.Context, id hook.TenantID) (ingest.Listing, error) {
	return effect(s.p, "list endpoints", string(id), read, func() (ingest.Listing, error) {
		l, err := s.Store.Listing(ctx, id)
		if c := s.p.commits[id]; err == nil && s.p.now.Before(c.until) {
			if l.Torn = true; s.p.chance(0.5) {
				s.p.count("torn listings")
				l.Endpoints = c.before
			}
		}
		return l, err
	})
}

func (s ports) Endpoint(ctx context.Context, t hook.TenantID, id hook.EndpointID) (hook.Endpoint, error) {
	return effect(s.p, "read endpoint", string(id), read, func() (hook.Endpoint, error) { return s.Store.Endpoint(ctx, t, id) })
}

func (s ports) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	return done(s.p, "update endpoint", string(e.ID)+" "+e.Status.String(), conditional, func() error {
		err := s.Store.UpdateEndpoint(ctx, e)
		if err == nil {
			s.p.sawEndpoint(e, false)
		}
		return err
	})
}

func (s ports) DisableEndpoint(ctx context.Context, e hook.Endpoint, r hook.AuditRecord) error {
	return done(s.p, "disable endpoint", string(e.ID)+" "+e.Status.String(), conditional, func() error {
		err := s.Store.DisableEndpoint(ctx, e, r)
		if err == nil {
			s.p.sawEndpoint(e, false)
		}
		return err
	})
}

func (s ports) DeleteEndpoint(ctx context.Context, e hook.Endpoint) error {
	return done(s.p, "delete endpoint", string(e.ID), conditional, func() error {
		before, _ := s.Endpoints(ctx, e.Tenant)
		err := s.Store.DeleteEndpoint(ctx, e)
		if err == nil {
			s.p.sawEndpoint(e, true)
			s.p.sawCommit(e, before)
		}
		return err
	})
}

func (s ports) Load(ctx context.Context, tokens []hook.Token) (deliver.Snapshot, error) {
	return effect(s.p, "load", strconv.Itoa(len(tokens)), read, func() (deliver.Snapshot, error) {
		snapshot, err := s.Store.Load(ctx, tokens)
		snapshot.Faults = make(map[hook.Token]error)
		for _, t := range tokens {
			if err == nil && s.p.chance(s.p.rates.refuse/2) {
				for _, other := range tokens { // the key is the delivery's, and so is the fault
					if other.Delivery == t.Delivery {
						snapshot.Faults[other] = unavailable("an unprocessed key")
					}
				}
				delete(snapshot.Deliveries, t.Delivery)
				s.p.suffer("unprocessed key")
			}
		}
		return snapshot, err
	})
}

func (s ports) Delivery(ctx context.Context, id hook.DeliveryRef) (hook.Delivery, error) {
	return effect(s.p, "read delivery", id.String(), read, func() (hook.Delivery, error) { return s.Store.Delivery(ctx, id) })
}

func (s ports) DeliveriesByRef(ctx context.Context, ids []hook.DeliveryRef) ([]hook.Delivery, error) {
	return effect(s.p, "read deliveries by id", strconv.Itoa(len(ids)), read, func() ([]hook.Delivery, error) {
		return s.Store.DeliveriesByRef(ctx, ids)
	})
}

func (s ports) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	about := d.ID.String() + " " + d.State.String() + " " + string(d.Reason) + " " + strconv.Itoa(d.Attempts)
	return done(s.p, "save delivery", about, conditional, func() error {
		err := s.Store.SaveDelivery(ctx, d, a)
		switch {
		case err == nil:
			s.p.sawDelivery(s.p, d, a)
		case hook.CodeOf(err) == hook.CodeConflict:
			s.p.sawConflict(s.p, d.Ref())
		}
		return err
	})
}

func (s ports) Circuit(ctx context.Context, t hook.TenantID, id hook.EndpointID) (gate.Record, error) {
	return effect(s.p, "read circuit", string(id), read, func() (gate.Record, error) { return s.Store.Circuit(ctx, t, id) })
}

func (s ports) SaveCircuit(ctx context.Context, r gate.Record) error {
	about := string(r.Endpoint) + " " + r.State.String() + " wave " + strconv.Itoa(r.Wave) + " waiting " + strconv.FormatBool(r.Waiting)
	return done(s.p, "save circuit", about, recognized, func() error {
		err := s.Store.SaveCircuit(ctx, r)
		if err == nil {
			s.p.sawCircuit(s.p, r)
		}
		return err
	})
}

// DueCircuits leaves out recent changes, and repeats old entries: the index lags.
func (s ports) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	return effect(s.p, "list due circuits", "", read, func() ([]hook.CircuitCheck, error) {
		checks, err := s.Store.DueCircuits(ctx, now, limit)
		checks = slices.DeleteFunc(checks, func(c hook.CircuitCheck) bool { return s.p.lag(s.p.circuits[c.Endpoint].changed) })
		for _, e := range s.p.endpoints {
			named := slices.ContainsFunc(checks, func(c hook.CircuitCheck) bool { return c.Endpoint == e.id })
			if changed := s.p.circuits[e.id].changed; !named && !changed.IsZero() && s.p.lag(changed) {
				checks = append(checks, hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.id, Wave: 1})
			}
		}
		return checks, err
	})
}

// DueLooks leaves out recent changes: the index lags.
func (s ports) DueLooks(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	return effect(s.p, "list due looks", "", read, func() ([]hook.CircuitCheck, error) {
		checks, err := s.Store.DueLooks(ctx, now, limit)
		s.p.counts["looks"] += len(checks)
		return slices.DeleteFunc(checks, func(c hook.CircuitCheck) bool { return s.p.lag(s.p.circuits[c.Endpoint].changed) }), err
	})
}

func (s ports) Limits(ctx context.Context, id hook.EndpointID) (gate.Limits, error) {
	return effect(s.p, "read limits", string(id), read, func() (gate.Limits, error) { return s.Store.Limits(ctx, id) })
}

// ChangeLimits checks the new leases. A claim may wait for its rate slot first.
func (s ports) ChangeLimits(ctx context.Context, id hook.EndpointID, before, after gate.Limits, most int) error {
	delta := before.To(after)
	if delta.Empty() {
		return s.Store.ChangeLimits(ctx, id, before, after, most)
	}
	if s.p.slots == nil {
		s.p.slots = make(map[string]gate.Lease)
	}
	s.p.checkClaims(s.p, id, before, delta)
	maps.Copy(s.p.slots, delta.Added)
	maps.Copy(s.p.slots, delta.Changed)
	for _, lease := range delta.Added {
		until := lease.Until
		if lease.Run == "" {
			until = until.Add(-gate.MaxRateWait)
		}
		s.p.checkLease(s.p, id, until)
	}
	return done(s.p, "change limits", string(id)+" "+strconv.Itoa(len(after.Leases)), conditional, func() error {
		return s.Store.ChangeLimits(ctx, id, before, after, most)
	})
}

// Places is no call of its own: two endpoints of a batch may read the places of one
// tenant, and the run could not tell their calls apart. The write may fail and conflict.
func (s ports) Places(ctx context.Context, t hook.TenantID) (gate.Limits, error) {
	return s.Store.Places(ctx, t)
}

func (s ports) ChangePlaces(ctx context.Context, t hook.TenantID, before, after gate.Limits, most int) error {
	if before.To(after).Empty() {
		return s.Store.ChangePlaces(ctx, t, before, after, most)
	}
	delta := before.To(after)
	about := fmt.Sprintf("%s +%v -%v", t, s.p.holders(delta.Added), s.p.holders(delta.Removed))
	return done(s.p, "change places", about, conditional, func() error {
		return s.Store.ChangePlaces(ctx, t, before, after, most)
	})
}

func (s ports) CountMore(ctx context.Context, t hook.TenantID, id hook.EndpointID, add *stats.Counts, at time.Time) error {
	return done(s.p, "count more", string(id), write, func() error { return s.Store.CountMore(ctx, t, id, add, at) })
}

func (s ports) Count(
	ctx context.Context, t hook.TenantID, id hook.EndpointID, add *stats.Counts, now time.Time,
) (circuit.Counts, error) {
	return effect(s.p, "count", string(id), write, func() (circuit.Counts, error) { return s.Store.Count(ctx, t, id, add, now) })
}

// Parked leaves out deliveries parked a moment ago: the index lags.
func (s ports) Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error) {
	return effect(s.p, "list parked", string(target.Endpoint), read, func() ([]hook.Delivery, error) {
		parked, err := s.Store.Parked(ctx, target, since, limit)
		return s.fresh(parked), err
	})
}

// Select leaves out recent changes of state: the index lags.
func (s ports) Select(ctx context.Context, sel replay.Selection) ([]hook.Delivery, string, error) {
	var next string
	page, err := effect(s.p, "select", string(sel.Endpoint)+" "+sel.State.String(), read, func() (page []hook.Delivery, err error) {
		page, next, err = s.Store.Select(ctx, sel)
		return s.fresh(page), err
	})
	return page, next, err
}

func (s ports) fresh(all []hook.Delivery) []hook.Delivery {
	return slices.DeleteFunc(all, func(d hook.Delivery) bool { return s.p.lag(s.p.moved[d.Ref()]) })
}

func (s ports) Job(ctx context.Context, t hook.TenantID, id hook.JobID) (replay.Job, error) {
	return effect(s.p, "read job", string(id), read, func() (replay.Job, error) { return s.Store.Job(ctx, t, id) })
}

func (s ports) SaveJob(ctx context.Context, j replay.Job) error {
	return done(s.p, "save job", string(j.ID)+" "+j.State.String()+" "+strconv.Itoa(len(j.Pending)), recognized, func() error {
		err := s.Store.SaveJob(ctx, j)
		if err == nil {
			s.p.sawJob(j)
		}
		return err
	})
}

func (s ports) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	return done(s.p, "tally", d.ID.String()+" "+d.State.String(), write, func() error { return s.Store.RecordOutcome(ctx, d) })
}

// holders returns the deliveries of the process's tokens among the holders of places. The
// names of holders have random nonces, and a run must repeat itself.
func (p *process) holders(places map[string]gate.Lease) (all []string) {
	for _, m := range p.batch {
		due := gate.Due{Delivery: m.Token.Delivery.DeliveryID, Attempt: m.Token.Attempt, Nonce: m.Token.Nonce}
		if _, has := places[due.PlaceKey()]; has {
			all = append(all, m.Token.Delivery.String())
		}
	}
	slices.Sort(all)
	return all
}
