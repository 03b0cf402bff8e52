package sim_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
)

// written is a write of an item.
type written struct {
	key  table.Key
	gone bool
}

// wrote is called for each write of an item, while the table is locked. The store reads
// attempts by BatchGetItem, which may not see them yet: they have a table without faults.
func (w *simulation) wrote(k table.Key, before, after table.Item) {
	w.checkKept(k, before, after)
	w.items = append(w.items, written{k, after == nil})
	w.sawChange(k, after)
	if after == nil || !strings.HasPrefix(k.Sort, "attempt#") {
		return
	}
	if _, err := w.recordings.Table.PutItem(w.ctx, &dynamodb.PutItemInput{TableName: aws.String(memory.Schema().Name), Item: after}); err != nil {
		w.fail(checkSetup, "keep %s: %v", k, err)
	}
}

// write makes the request, and shows the checker what it wrote: the records as the store
// reads them back. made is the time of the request.
func (p *process) write(r *table.Call, made time.Time, do func() error) error {
	if !r.Write {
		return do()
	}
	var limits admission.Limits
	id, limited := limitsOf(r)
	if limited {
		limits, _ = p.store.Limits(p.ctx, id)
	}
	p.items, p.taken = p.items[:0], p.taken[:0]
	err := do()
	if failsCondition(err) {
		p.refused++
	}
	for _, k := range r.Keys {
		if ref, ok := deliveryOf(k); ok && failsCondition(err) && !p.lapses(ref.Endpoint) {
			p.sawConflict(p, ref)
		}
	}
	for _, item := range p.items {
		if limited && !p.lapses(id) {
			p.sawLimits(p, id, limits, made)
		} else {
			p.saw(item, r)
		}
	}
	return err
}

// saw shows the record of the item to its check.
func (p *process) saw(item written, r *table.Call) {
	kind, rest, _ := strings.Cut(item.key.Sort, "#")
	_, id, _ := strings.Cut(item.key.Hash, "#")
	if kind != "endpoint" && (item.gone || p.lapsesAt(item.key) && kind != "erasure") {
		return // by an erasure
	}
	var endpoint hook.Endpoint
	for _, e := range p.endpoints {
		if id == string(e.id) {
			endpoint = e.Endpoint
		}
	}
	before := p.statuses[endpoint.ID].Status
	var err error
	switch kind {
	case "event":
		var e hook.Event
		if e, err = p.store.Event(p.ctx, hook.EventID(id)); err == nil {
			p.checkMark(p, e)
			p.sawEvent(p, e)
		}
	case "erasure":
		var e erasure.Erasure
		if e, err = p.store.Erasure(p.ctx, hook.TenantID(id), hook.ErasureID(rest)); err == nil {
			p.sawErasure(e)
		}
	case "endpoint":
		switch {
		case rest != "": // a row of the tenant's list
		case item.gone:
			p.sawEndpoint(p.statuses[endpoint.ID].Endpoint, true)
		default:
			if endpoint, err = p.store.Endpoint(p.ctx, endpoint.Tenant, endpoint.ID); err == nil {
				p.sawEndpoint(endpoint, false)
			}
			if endpoint.Status == hook.StatusDisabled && before != hook.StatusDisabled {
				p.owe(hook.NotificationDisabled, endpoint.ID)
			}
		}
	case "circuit":
		var c admission.Record
		if c, err = p.store.Circuit(p.ctx, endpoint.Tenant, hook.EndpointID(id)); err == nil {
			p.sawCircuit(p, c)
		}
	case "replay":
		if j, failed := p.store.Job(p.ctx, hook.TenantID(id), hook.JobID(rest)); failed != nil {
			err = failed
		} else {
			p.sawJob(j)
		}
	case "sequence":
		err = p.sawSequence(p, orderIDOf(item.key.Hash))
	case "delivery":
		err = p.sawDeliveryAt(item.key, r)
	}
	if err != nil {
		p.fail(checkSetup, "read %s: %v", item.key, err)
	}
}

// sawDeliveryAt reads the delivery, and the attempt that the request wrote with it.
func (p *process) sawDeliveryAt(k table.Key, r *table.Call) error {
	ref, _ := deliveryOf(k)
	d, err := p.store.Delivery(p.ctx, ref)
	if err != nil {
		return err
	}
	of := d
	of.State = hook.StateRetrying // a delivered first attempt is not looked for
	all, err := p.recordings.Attempts(p.ctx, []hook.Delivery{of})
	if err != nil {
		return err
	}
	var made *hook.Attempt
	if n := len(d.Recent); n > 0 && d.Recent[n-1].Number == d.Attempts {
		made = &d.Recent[n-1]
	}
	for i, a := range all {
		if a.Number != i+1 {
			p.fail(checkRecord, "%s: %s has %d attempts, and number %d has no record", p.name, d.ID, d.Attempts, i+1)
			break
		}
		if a.Number == d.Attempts && len(r.Keys) > 1 {
			made = &a
		}
	}
	if len(all) < d.Attempts-1 {
		p.fail(checkRecord, "%s: %s has %d attempts, and %d records of them", p.name, d.ID, d.Attempts, len(all))
	}
	p.sawDelivery(p, d, made)
	p.listed[ref] = later(p.listed[ref], p.now.Add(r.Lag))
	return nil
}

// deliveryOf returns the delivery of the key.
func deliveryOf(k table.Key) (hook.DeliveryRef, bool) {
	partition, position := strings.Split(k.Hash, "#"), strings.Split(k.Sort, "#")
	if len(partition) != 3 || len(position) != 4 || position[0] != "delivery" {
		return hook.DeliveryRef{}, false
	}
	at, _ := time.Parse(time.RFC3339, position[1])
	shard, _ := strconv.Atoi(partition[2])
	generation, _ := strconv.Atoi(position[3])
	return hook.DeliveryRef{
		DeliveryID: hook.DeliveryID{Event: hook.EventID(position[2]), Endpoint: hook.EndpointID(partition[1]), Generation: generation},
		AcceptedAt: at.UnixMilli(), Shard: shard,
	}, true
}

// sawEvent checks a new event, and notes the endpoints of a known one.
func (w *simulation) sawEvent(p *process, e hook.Event) {
	if i, known := w.byID[e.ID]; known && w.posted[i].AcceptedAt.Equal(e.AcceptedAt) {
		w.widened[e.ID] += max(0, len(e.Targets)-len(w.posted[i].Targets))
		w.posted[i].Targets = e.Targets
		return
	}
	w.checkTargets(p, e)
}

// sawLimits checks the new leases. A claim may wait for its rate slot first.
func (w *simulation) sawLimits(p *process, id hook.EndpointID, before admission.Limits, made time.Time) {
	after, err := w.store.Limits(w.ctx, id)
	if err != nil {
		w.fail(checkSetup, "read limits of %s: %v", id, err)
	}
	delta := before.To(after)
	if p.slots == nil {
		p.slots = make(map[string]admission.Lease)
	}
	w.checkClaims(p, id, before, delta, made)
	for key, lease := range delta.Changed {
		p.slots[key] = lease
		if lease.Run != "" {
			p.taken = append(p.taken, key)
		}
	}
	for key, lease := range delta.Added {
		p.slots[key] = lease
		if lease.Run != "" {
			p.taken = append(p.taken, key)
		}
		until := lease.Until
		if lease.Run == "" {
			until = until.Add(-admission.MaxRateWait)
		}
		w.checkLease(p, id, until, made)
	}
}
