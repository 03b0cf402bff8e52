package replay

import (
	"context"

	"surehook.example/surehook/internal/hook"
)

// untargeted stands, in the walk of a job, for the events without a target. It sorts after the
// ids of all endpoints.
const untargeted hook.EndpointID = "untargeted"

// endpointsOf returns the endpoints whose deliveries the job walks through: of a job that adds an endpoint,
// none after that was deleted.
func (w *jobRun) endpointsOf(ctx context.Context, j *Job) ([]hook.Target, error) {
	sources, err := w.targets(ctx, j.Tenant, j.Filter.Endpoint)
	if err != nil || j.Filter.AddTo == "" {
		return sources, err
	}
	if receiver, err := w.targets(ctx, j.Tenant, j.Filter.AddTo); err != nil || len(receiver) == 0 {
		return nil, err
	}
	if j.Filter.Endpoint == "" {
		sources = append(sources, hook.Target{Endpoint: untargeted})
	}
	return sources, nil
}

// eventsOf returns, for the events of the source at the position of the job, the first generations of
// their deliveries to the endpoint of AddTo, without a record and with shard 0 (added finds the right
// one). An event with several deliveries is selected several times, and left
// out of this page, or later skipped, after the first.
func (w *jobRun) eventsOf(ctx context.Context, j *Job, source hook.Target, limit int) (selected []hook.Delivery, next string, err error) {
	s := Selection{Target: source, From: j.Filter.From, To: j.Filter.To, After: j.Cursor, Limit: limit}
	if source.Endpoint == untargeted {
		s.Target = hook.Target{}
	}
	events, next, err := w.Store.SelectEvents(ctx, j.Tenant, s)
	if source.Endpoint == j.Filter.AddTo {
		return nil, next, err
	}
	for _, e := range events {
		selected = append(selected, hook.QueuedDelivery(e, hook.Target{Endpoint: j.Filter.AddTo, Shards: 1}))
	}
	return selected, next, err
}

// added returns the record of the endpoint's first generation, and adds the endpoint to the event if
// necessary. skip is final: the filter does not select the event, or the endpoint already received
// it in another way.
func (w *jobRun) added(ctx context.Context, ref hook.DeliveryRef) (d hook.Delivery, skip Skip, err error) {
	e, err := w.findEvent(ctx, w.job.Tenant, ref.Event)
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound, err == nil && e.AcceptedAt.UnixMilli() != ref.AcceptedAt:
		return d, SkipGone, nil
	case err != nil:
		return d, "", err
	case e.Erased():
		return d, SkipErased, nil
	case !w.job.Filter.matchesType(e.Type):
		return d, SkipType, nil
	}
	endpoint, err := w.Store.Endpoint(ctx, w.job.Tenant, ref.Endpoint)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return d, SkipGone, nil
	}
	if err != nil {
		return d, "", err
	}
	if _, known := targetOf(e, endpoint.ID); !known && !asksFor(&endpoint, &e) {
		return d, SkipUnasked, nil
	}
	target, err := w.add(ctx, e, endpoint.Target())
	if hook.CodeOf(err) == hook.CodeConflict {
		return d, skipOf(hook.AddedDelivery(e, endpoint.Target(), w.now()), err, w.now()), nil
	}
	if err != nil {
		return d, "", err
	}
	d, err = w.Store.Delivery(ctx, hook.QueuedDelivery(e, target).Ref())
	if hook.CodeOf(err) == hook.CodeNotFound || err == nil && d.Reason != hook.ReasonAdded {
		return d, SkipTarget, nil
	}
	return d, "", err
}
