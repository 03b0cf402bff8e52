package world

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/sign"
)

// Tenant is the tenant of every endpoint and event of a World.
const Tenant hook.TenantID = "acme"

// NewEndpoint returns an active endpoint with a secret, defaults and the preset
// "standard", for all event types of Tenant. No store has the endpoint yet.
func NewEndpoint(ctx context.Context, now time.Time) (hook.Endpoint, error) {
	id := hook.NewEndpointID()
	return EndpointWith(ctx, id, sign.NewSecret(), now)
}

// EndpointWith is NewEndpoint with an id and a secret in text form, for
// simulations whose ids and secrets are the same at every run.
func EndpointWith(ctx context.Context, id hook.EndpointID, secret string, now time.Time) (hook.Endpoint, error) {
	sealed, err := memory.Vault{}.Seal(ctx, secret, Tenant, id)
	if err != nil {
		return hook.Endpoint{}, fmt.Errorf("seal secret: %w", err)
	}
	return hook.Endpoint{
		ID: id, Tenant: Tenant, URL: "https://example.com/hook/" + string(id), EventTypes: []string{"*"},
		Retry: hook.RetryPolicy{Preset: "standard"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge,
		Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1},
		Secrets: []hook.Secret{{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: now}},
		Status:  hook.StatusActive, StatusSince: now, CreatedAt: now, UpdatedAt: now, AutoDisable: true,
	}.Sharded(1), nil
}

// Endpoint creates an active endpoint with the world's delays and without
// jitter, after change.
func (w *World) Endpoint(change func(e *hook.Endpoint)) hook.Endpoint {
	w.T.Helper()

	id := hook.NewEndpointID()
	if w.ids != nil {
		id = w.ids.Endpoint()
	}
	e, err := EndpointWith(w.T.Context(), id, sign.NewSecret(), Start())
	if err != nil {
		w.T.Fatal(err)
	}
	e.Retry = hook.RetryPolicy{Schedule: w.options.Delays, Jitter: hook.JitterNone}
	if change != nil {
		change(&e)
	}
	if err := w.Store.CreateEndpoint(w.T.Context(), e); err != nil {
		w.T.Fatal(err)
	}
	if !w.options.Unproven {
		w.fast(e.Tenant, e.ID)
	}
	e.Version = 1
	return e
}

// fast makes the endpoint fast.
func (w *World) fast(tenant hook.TenantID, id hook.EndpointID) {
	w.T.Helper()

	record := admission.NewRecord(tenant, id)
	record.Speed, record.SeenAt = admission.Fast, w.Clock.Now()
	if err := w.Store.SaveCircuit(w.T.Context(), record); err != nil {
		w.T.Fatal(err)
	}
}

// newEventID returns the id of a new event.
func (w *World) newEventID() hook.EventID {
	if w.ids != nil {
		return w.ids.Event()
	}
	return hook.NewEventID()
}

// Event stores an event for the endpoints, and sends no task.
func (w *World) Event(eventType string, at time.Time, targets ...hook.Endpoint) hook.Event {
	w.T.Helper()

	id := w.newEventID()
	e := hook.Event{
		ID: id, Tenant: Tenant, Type: eventType, Payload: []byte(`{"n": 1}`), Nonce: "n", AcceptedAt: at, ExpiresAt: at.Add(Retention),
	}
	for _, target := range targets {
		e.Targets = append(e.Targets, target.Target())
	}
	if err := w.Store.PutEvent(w.T.Context(), e); err != nil {
		w.T.Fatal(err)
	}
	return e
}

// Post stores an event for the endpoints, and puts its tasks on the live queue.
func (w *World) Post(endpoints ...hook.Endpoint) []hook.DeliveryRef {
	w.T.Helper()

	e := w.Event("order.paid", w.Clock.Now(), endpoints...)
	var ids []hook.DeliveryRef
	for _, endpoint := range endpoints {
		id := hook.QueuedDelivery(e, endpoint.Target()).Ref()
		ids = append(ids, id)
		w.Enqueue(hook.QueueLive, hook.NewTask(Tenant, id, 1))
	}
	return ids
}

// PostMany is Post for n events, a millisecond apart.
func (w *World) PostMany(e hook.Endpoint, n int) []hook.DeliveryRef {
	w.T.Helper()

	var ids []hook.DeliveryRef
	for range n {
		w.Clock.Pass(time.Millisecond)
		ids = append(ids, w.Post(e)...)
	}
	return ids
}

// Enqueue puts the tasks on the queue.
func (w *World) Enqueue(queue hook.Queue, tasks ...hook.Task) {
	w.T.Helper()

	if errs := w.Queue.Send(w.T.Context(), queue, tasks, 0); errs != nil {
		w.T.Fatal(errs)
	}
}

// EnqueueCheck asks for a circuit check after the delay.
func (w *World) EnqueueCheck(c hook.CircuitCheck, delay time.Duration) {
	w.T.Helper()

	if err := w.CircuitQueue.Enqueue(w.T.Context(), c, delay); err != nil {
		w.T.Fatal(err)
	}
}

// Save writes the delivery.
func (w *World) Save(d hook.Delivery) {
	w.T.Helper()

	if err := w.Store.SaveDelivery(w.T.Context(), d, nil); err != nil {
		w.T.Fatal(err)
	}
}
