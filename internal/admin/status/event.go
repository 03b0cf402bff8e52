package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// Event returns the tenant's event with the payload; CodeNotFound if none exists.
func (r *Reader) Event(ctx context.Context, tenant hook.TenantID, id hook.EventID) (hook.Event, error) {
	e, err := r.Store.Event(ctx, id)
	if err != nil {
		return hook.Event{}, fmt.Errorf("read event %s: %w", id, err)
	}
	if e.Tenant != tenant {
		return hook.Event{}, hook.NotFound("event")
	}
	return e, nil
}

// EventDeliveries returns a page of the event's deliveries in the order of
// endpoint and generation. The page includes queued deliveries without a record:
// first generations and replays.
func (r *Reader) EventDeliveries(ctx context.Context, tenant hook.TenantID, id hook.EventID, p page.Request) (page.List[hook.Delivery], error) {
	all, err := r.eventDeliveries(ctx, tenant, id)
	if err != nil {
		return page.List[hook.Delivery]{}, err
	}
	all = slices.DeleteFunc(all, hook.Delivery.Unreadable)
	return page.Of(all, page.Scope("deliveries", string(tenant), string(id)), p, func(d hook.Delivery) string { return deliveryOrder(d.ID) })
}

// EventAttempts returns a page of the event's attempts in the order of
// endpoint, generation and number.
func (r *Reader) EventAttempts(ctx context.Context, tenant hook.TenantID, id hook.EventID, p page.Request) (page.List[hook.Attempt], error) {
	deliveries, err := r.eventDeliveries(ctx, tenant, id)
	if err != nil {
		return page.List[hook.Attempt]{}, err
	}
	all, err := r.attempts(ctx, deliveries)
	if err != nil {
		return page.List[hook.Attempt]{}, err
	}
	return page.Of(all, page.Scope("attempts", string(tenant), string(id)), p, func(a hook.Attempt) string {
		return fmt.Sprintf("%s#%03d", deliveryOrder(a.Delivery.DeliveryID), a.Number)
	})
}

// DeliveryDetail is a delivery with the past attempts and the planned attempts.
type DeliveryDetail struct {
	Delivery hook.Delivery
	Attempts []hook.Attempt
	// Planned holds the times of the next attempts, if each attempt fails at once
	// and without Retry-After. Only a retrying delivery has planned attempts.
	Planned []time.Time
	Outlook
	Standing
}

// Outlook is what a waiting delivery has before it. It is zero for a settled delivery, and for one of a
// deleted endpoint.
type Outlook struct {
	GivesUpAt   time.Time `json:"gives_up_at,omitzero"`   // the latest time of an attempt
	NextProbeAt time.Time `json:"next_probe_at,omitzero"` // of a parked delivery: the earliest time of the next probe; zero without one
}

// Delivery returns the tenant's delivery; CodeNotFound if none exists.
func (r *Reader) Delivery(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID) (DeliveryDetail, error) {
	all, err := r.eventDeliveries(ctx, tenant, id.Event)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return DeliveryDetail{}, err
	}
	i := slices.IndexFunc(all, func(d hook.Delivery) bool { return d.ID == id })
	if i < 0 {
		return DeliveryDetail{}, hook.NotFound("delivery")
	}
	if all[i].Unreadable() {
		return DeliveryDetail{}, hook.ErrUnreadable(id)
	}
	attempts, err := r.attempts(ctx, all[i:i+1])
	if err != nil {
		return DeliveryDetail{}, err
	}
	detail := DeliveryDetail{Delivery: all[i], Attempts: attempts}
	waiting, err := r.waitedFor(ctx, tenant, all[i:i+1])
	if err != nil {
		return DeliveryDetail{}, err
	}
	if e, ok := waiting[id.Endpoint]; ok {
		detail.Planned = planned(&e, all[i])
	}
	ahead, err := r.ahead(ctx, waiting, all[i:i+1])
	if err != nil {
		return DeliveryDetail{}, err
	}
	detail.Outlook = ahead[id]
	detail.Standing, err = r.standing(ctx, all[i])
	return detail, err
}

// eventDeliveries returns all generations of the event's deliveries, unreadable ones
// included, in no particular order; CodeNotFound if the tenant has no such event.
func (r *Reader) eventDeliveries(ctx context.Context, tenant hook.TenantID, id hook.EventID) ([]hook.Delivery, error) {
	e, err := r.Event(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	all, err := r.Store.Deliveries(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("read deliveries of event %s: %w", id, err)
	}
	recorded := make(map[hook.DeliveryID]bool, len(all))
	for _, d := range all {
		recorded[d.ID] = true
	}
	var queued []hook.Delivery
	for _, target := range e.Targets {
		queued = append(queued, hook.QueuedDelivery(e, target))
	}
	for _, d := range all {
		if d.Replayed.Generation != 0 {
			queued = append(queued, hook.QueuedReplay(e, d))
		}
	}
	return append(all, slices.DeleteFunc(queued, func(d hook.Delivery) bool { return recorded[d.ID] })...), nil
}

// attempts returns the attempts of the deliveries, all of one event.
func (r *Reader) attempts(ctx context.Context, deliveries []hook.Delivery) ([]hook.Attempt, error) {
	all, err := r.recorded(ctx, deliveries)
	if err != nil {
		return nil, err
	}
	return all, r.addMembers(ctx, all)
}

// recorded is attempts without the members of batches. A delivery with a successful first attempt has
// no attempt record, so recorded builds the attempt from the delivery.
func (r *Reader) recorded(ctx context.Context, deliveries []hook.Delivery) ([]hook.Attempt, error) {
	recorded, err := r.Store.Attempts(ctx, deliveries)
	if err != nil {
		return nil, fmt.Errorf("read attempts of %d deliveries: %w", len(deliveries), err)
	}
	byDelivery := make(map[hook.DeliveryRef][]hook.Attempt, len(deliveries))
	for _, a := range recorded {
		byDelivery[a.Delivery] = append(byDelivery[a.Delivery], a)
	}
	var all []hook.Attempt
	for _, d := range deliveries {
		own := byDelivery[d.Ref()]
		if len(own) == 0 && d.State == hook.StateDelivered && d.Attempts == 1 {
			own = []hook.Attempt{firstAttempt(d)}
		}
		all = append(all, own...)
	}
	return all, nil
}

func firstAttempt(d hook.Delivery) hook.Attempt {
	return hook.Attempt{
		Delivery:  d.Ref(),
		Number:    1,
		Trigger:   hook.TriggerOf(d.ID, 1),
		StartedAt: d.UpdatedAt.Add(-d.Last.Duration),
		ExpiresAt: d.ExpiresAt,
		Outcome:   d.Last,
	}
}

// planned returns the times of a retrying delivery's next attempts, up to the endpoint's max_age.
func planned(e *hook.Endpoint, d hook.Delivery) []time.Time {
	if d.State != hook.StateRetrying {
		return nil
	}
	times := append([]time.Time{d.NextAttemptAt}, retry.Planned(e.Retry, d.ID, d.Counted()+1, d.NextAttemptAt)...)
	for i, t := range times {
		_, t = e.QueueAt(hook.QueueRetry, t)
		times[i] = t
		if retry.Expired(d, t, e.MaxAge) {
			return times[:i]
		}
	}
	return times
}

// Outlooks returns what the waiting deliveries of the tenant have before them, with one batch read of
// their endpoints per 100, and one of the circuits of those with parked deliveries. Settled deliveries
// and those of deleted endpoints are left out.
func (r *Reader) Outlooks(ctx context.Context, tenant hook.TenantID, deliveries []hook.Delivery) (map[hook.DeliveryID]Outlook, error) {
	waiting, err := r.waitedFor(ctx, tenant, deliveries)
	if err != nil {
		return nil, err
	}
	return r.ahead(ctx, waiting, deliveries)
}

// ahead returns the outlooks of the deliveries of the endpoints.
func (r *Reader) ahead(ctx context.Context, endpoints map[hook.EndpointID]hook.Endpoint, deliveries []hook.Delivery) (map[hook.DeliveryID]Outlook, error) {
	var parked []hook.EndpointID
	for _, d := range deliveries {
		id := d.ID.Endpoint
		if d.State == hook.StateParked && endpoints[id].Status == hook.StatusActive && !slices.Contains(parked, id) {
			parked = append(parked, id)
		}
	}
	records, err := r.Store.CircuitsOf(ctx, parked)
	if err != nil {
		return nil, fmt.Errorf("read circuits of parked deliveries: %w", err)
	}
	found := make(map[hook.DeliveryID]Outlook)
	for _, d := range deliveries {
		e, ok := endpoints[d.ID.Endpoint]
		if !ok || d.State.Settled() {
			continue
		}
		o := Outlook{GivesUpAt: retry.Deadline(d, e.MaxAge)}
		if d.State == hook.StateQueued && d.Turn() > 0 {
			o.GivesUpAt = time.Time{} // its age counts from its turn
		}
		if record, known := records[e.ID]; known && d.State == hook.StateParked {
			o.NextProbeAt = record.NextProbe()
		}
		found[d.ID] = o
	}
	return found, nil
}

// waitedFor returns the existing endpoints of the waiting deliveries.
func (r *Reader) waitedFor(ctx context.Context, tenant hook.TenantID, deliveries []hook.Delivery) (map[hook.EndpointID]hook.Endpoint, error) {
	var ids []hook.EndpointID
	for _, d := range deliveries {
		if !d.State.Settled() {
			ids = append(ids, d.ID.Endpoint)
		}
	}
	endpoints, err := r.Store.EndpointsOf(ctx, tenant, ids)
	if err != nil {
		return nil, fmt.Errorf("find endpoints of waiting deliveries: %w", err)
	}
	found := make(map[hook.EndpointID]hook.Endpoint, len(endpoints))
	for _, e := range endpoints {
		found[e.ID] = e
	}
	return found, nil
}

func deliveryOrder(d hook.DeliveryID) string {
	return fmt.Sprintf("%s#%04d", d.Endpoint, d.Generation)
}

// addMembers completes the batches of the attempts with their members, which are in the record of
// the batch's leader. If the leader has no record, because the process died before the write, the
// batch stays without members.
func (r *Reader) addMembers(ctx context.Context, attempts []hook.Attempt) error {
	known := make(map[hook.BatchID][]hook.DeliveryID)
	for i := range attempts {
		b := attempts[i].Outcome.Batch
		if b == nil || b.Members != nil {
			continue
		}
		members, ok := known[b.ID]
		if !ok {
			var err error
			if members, err = r.members(ctx, b); err != nil {
				return err
			}
			known[b.ID] = members
		}
		whole := *b
		whole.Members = members
		attempts[i].Outcome.Batch = &whole
	}
	return nil
}

// members reads the members of a batch: the leader's event, delivery and attempts.
func (r *Reader) members(ctx context.Context, b *hook.Batch) ([]hook.DeliveryID, error) {
	event, err := r.Store.Event(ctx, b.Leader.Event)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return nil, nil
	}
	var deliveries []hook.Delivery
	if err == nil {
		deliveries, err = r.Store.Deliveries(ctx, event)
	}
	if err != nil {
		return nil, fmt.Errorf("read leader of batch %s: %w", b.ID, err)
	}
	attempts, err := r.recorded(ctx, slices.DeleteFunc(deliveries, func(d hook.Delivery) bool { return d.ID != b.Leader }))
	for _, a := range attempts {
		if of := a.Outcome.Batch; of != nil && of.ID == b.ID && of.Members != nil {
			return of.Members, nil
		}
	}
	return nil, err
}
