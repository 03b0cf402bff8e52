package replay

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
)

// untargeted stands, in the walk of a job, for the events without a target. It sorts after the
// ids of all endpoints.
const untargeted hook.EndpointID = "untargeted"

// selectEvents selects the next events for the endpoint of AddTo. It returns the first
// generations of their deliveries to that endpoint, without a record and with shard 0 (added
// finds the right one). An event with several deliveries is selected several times, and left
// out of this page, or later skipped, after the first.
func (w *jobRun) selectEvents(ctx context.Context, j *Job, limit int) (page []hook.Delivery, err error) {
	receivers, err := w.targets(ctx, j.Tenant, j.Filter.AddTo)
	if err != nil {
		return nil, err
	}
	if len(receivers) == 0 { // deleted meanwhile
		j.Selects = false
		return nil, nil
	}
	to := receivers[0].Endpoint
	seen := make(map[EventPlace]bool)
	err = w.walk(ctx, j, func(source hook.Target) (next string, full bool, err error) {
		s := EventSelection{Tenant: j.Tenant, Source: source, From: j.Filter.From, To: j.Filter.To, After: j.Cursor, Limit: limit - len(page)}
		if source.Endpoint == untargeted {
			s.Source = hook.Target{}
		}
		selected, next, err := w.Index.SelectEvents(ctx, s)
		for _, place := range selected {
			e := hook.Event{ID: place.ID, Tenant: j.Tenant, AcceptedAt: time.UnixMilli(place.AcceptedAt).UTC()}
			if !seen[place] && source.Endpoint != to {
				seen[place] = true
				page = append(page, hook.QueuedDelivery(e, hook.Target{Endpoint: to, Shards: 1}))
			}
		}
		return next, len(page) >= limit, err
	})
	return page, err
}

// pendingAdditions adds the endpoint to the events of the pending page, and returns the replays
// of the added records. Repeating it changes nothing.
func (w *jobRun) pendingAdditions(ctx context.Context) ([]*candidate, error) {
	j, now := w.job, w.now()
	if w.records == nil {
		w.from = now
	}
	page := make([]*candidate, len(j.Pending))
	err := forEach(len(page), func(i int) error {
		page[i] = w.candidateAt(i, now)
		return w.added(ctx, page[i], j.Pending[i])
	})
	return page, err
}

// added sets the record of the endpoint's first generation in the candidate, and adds the
// endpoint to the event if necessary. A refusal is final: the filter does not select the event,
// or the endpoint already received it in another way.
func (w *jobRun) added(ctx context.Context, c *candidate, ref hook.DeliveryRef) error {
	e, err := w.findEvent(ctx, w.job.Tenant, ref.Event)
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound && err != nil, err == nil && e.AcceptedAt.UnixMilli() != ref.AcceptedAt:
		c.refuse(hook.NotFound("event"), SkipGone)
		return nil //nolint:nilerr // final: the candidate holds the refusal
	case err != nil:
		return err
	case e.Erased():
		c.refuse(fmt.Errorf("add endpoint to event %s: %w", e.ID, hook.ErrErased()), SkipErased)
		return nil
	case !w.job.Filter.matchesType(e.Type):
		c.refuse(hook.Conflict("its type is "+e.Type), SkipType)
		return nil
	}
	endpoint, err := w.Endpoints.Endpoint(ctx, w.job.Tenant, ref.Endpoint)
	if hook.CodeOf(err) == hook.CodeNotFound && err != nil {
		c.refuse(errDeleted(), SkipGone)
		return nil //nolint:nilerr // final: the candidate holds the refusal
	}
	if err != nil {
		return fmt.Errorf("read endpoint %s: %w", ref.Endpoint, err)
	}
	if _, known := targetOf(e, endpoint.ID); !known && !asksFor(&endpoint, &e) {
		c.refuse(hook.Conflict("neither subscription nor filter of the endpoint asks for the event"), SkipUnasked)
		return nil
	}
	target, err := w.add(ctx, e, endpoint.Target())
	if hook.CodeOf(err) == hook.CodeConflict && err != nil {
		c.refuse(err, skipOf(hook.AddedDelivery(e, endpoint.Target(), w.now()), err, w.now()))
		return nil
	}
	if err != nil {
		return err
	}
	d, err := w.Store.Delivery(ctx, hook.QueuedDelivery(e, target).Ref())
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound && err != nil, err == nil && d.Reason != hook.ReasonAdded:
		c.refuse(hook.Conflict("the endpoint is a target of the event"), SkipTarget)
		return nil //nolint:nilerr // final: the candidate holds the refusal
	case err != nil:
		return fmt.Errorf("read delivery %s: %w", ref.DeliveryID, err)
	}
	c.delivery = d
	return nil
}
