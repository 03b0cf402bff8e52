package porttest

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/stats"
)

// Estate names some records of a tenant from Furnish.
type Estate struct {
	Tenant     hook.TenantID
	Endpoints  []hook.Endpoint
	Deleted    hook.Endpoint // has records still
	Events     []hook.Event  // the last has no target, and the one before has a target and no delivery
	Deliveries []hook.Delivery
	Key        hook.APIKey
	Link       hook.PortalLink // opened
	Job        hook.JobID
}

// Furnish stores records of every kind for the tenant: two endpoints and a deleted
// endpoint, events with deliveries and attempts, an event whose deliveries are
// queued, an event without a target, a key, a new and an opened portal link, a replay, limits and a data key, and the
// record of a change.
func Furnish(t *testing.T, s StoreUnderTest, tenant hook.TenantID) Estate {
	t.Helper()

	estate := Estate{Tenant: tenant}
	for range 3 {
		estate.Endpoints = append(estate.Endpoints, create(t, s, sampleEndpoint(tenant)))
	}
	for i := range 4 {
		event := sampleEvent(t)
		event.Tenant, event.Targets = tenant, nil
		for _, e := range estate.Endpoints {
			event.Targets = append(event.Targets, e.Target())
		}
		if i == 3 {
			event.Targets = nil
		}
		check(t, s.PutEvent(t.Context(), event))
		estate.Events = append(estate.Events, event)
		if i >= 2 {
			continue
		}
		for n := range estate.Endpoints {
			estate.deliver(t, s, event, n)
		}
	}
	q := sampleSequence()
	q.Tenant, q.Endpoint = tenant, estate.Endpoints[0].ID
	place := samplePlace(8)
	place.Tenant = tenant
	check(t, s.SaveSequence(t.Context(), q))
	check(t, s.PutPlace(t.Context(), q.ID, place))
	for _, e := range estate.Endpoints {
		furnishEndpoint(t, s, e)
	}
	estate.Deleted = estate.Endpoints[2]
	estate.Endpoints = estate.Endpoints[:2]
	check(t, s.DeleteEndpoint(t.Context(), estate.Deleted))

	estate.Key = sampleKey("secret of " + string(tenant))
	estate.Key.Tenant = tenant
	check(t, s.PutKey(t.Context(), estate.Key))
	estate.Link = furnishLinks(t, s, tenant)
	job := sampleJob(t, tenant)
	estate.Job = job.ID
	check(t, s.SaveJob(t.Context(), job))
	counted := estate.Deliveries[0]
	counted.Job, counted.JobIndex, counted.State = job.ID, 7, hook.StateDelivered
	check(t, s.RecordOutcome(t.Context(), counted))
	check(t, s.SetTenantLimits(t.Context(), tenant, hook.TenantLimits{EventsPerSecond: 5}))
	_, err := s.Spend(t.Context(), tenant, hook.NewSpend(hook.SpentEvents, 1, 5, time.Second, storeEpoch()))
	check(t, err)
	check(t, s.ChangeShares(t.Context(), tenant, admission.Limits{}, atMost(5, sampleLimits())))
	check(t, s.PutDataKey(t.Context(), tenant, []byte("the key of "+tenant)))
	check(t, s.PutAudit(t.Context(), sampleAudit(tenant, storeEpoch())))
	return estate
}

// deliver records a delivery of the event to endpoint n, with two attempts, of which one has a record
// of its own.
func (e *Estate) deliver(t *testing.T, s StoreUnderTest, event hook.Event, n int) {
	t.Helper()

	d := hook.QueuedDelivery(event, event.Targets[n])
	for number := 1; number <= 2; number++ {
		d.State, d.Attempts, d.Last, d.UpdatedAt = hook.StateRetrying, number, sampleOutcome(), event.AcceptedAt
		d.NextAttemptAt = event.AcceptedAt.Add(time.Hour)
		a := sampleAttempt(d.Ref(), number)
		a.Outcome.Body = noise(number, 1000)
		d = attempted(t, s, d, a)
	}
	d.Recent = nil // the erasure leaves nothing that could be read again
	e.Deliveries = append(e.Deliveries, d)
}

func furnishEndpoint(t *testing.T, s StoreUnderTest, e hook.Endpoint) {
	t.Helper()

	record := sampleRecord(e.ID)
	record.Tenant, record.Version = e.Tenant, 0
	check(t, s.SaveCircuit(t.Context(), record))
	check(t, s.ChangeLimits(t.Context(), e.ID, admission.Limits{}, atMost(5, sampleLimits())))
	_, err := s.Count(t.Context(), e.Tenant, e.ID, &stats.Counts{OK: 1, Delivered: 1}, storeEpoch())
	check(t, err)
	n := sampleNotification(e.ID, "n", storeEpoch())
	n.Tenant = e.Tenant
	check(t, s.PutNotification(t.Context(), n))
}
