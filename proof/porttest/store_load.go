package porttest

import (
	"testing"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

func loadCases() []storeCase {
	return []storeCase{
		{name: "tasks load the records of the tasks and nothing else", run: loadNamed},
		{name: "200 tasks, half of them repeated, load at once", run: loadMany},
		{name: "no tasks load nothing", run: loadNothing},
		{name: "tasks with a claimed slot load the limits of their endpoints", run: loadLimits},
	}
}

func emptySnapshot() deliver.Snapshot {
	return deliver.Snapshot{
		Events:     map[hook.EventID]*hook.Event{},
		Endpoints:  map[hook.EndpointID]*hook.Endpoint{},
		Circuits:   map[hook.EndpointID]admission.Record{},
		Deliveries: map[hook.DeliveryRef]*hook.Delivery{},
		Limits:     map[hook.EndpointID]admission.Limits{},
	}
}

func loadNamed(t *testing.T, s StoreUnderTest) {
	want := emptySnapshot()
	var tasks []hook.Task

	// All four records exist, and records without a task.
	e, endpoint := sampleEvent(t), sampleEndpoint("acme")
	d := sampleDelivery(e.ID, endpoint.ID, 1)
	check(t, s.PutEvent(t.Context(), e))
	check(t, s.CreateEndpoint(t.Context(), endpoint))
	check(t, s.SaveDelivery(t.Context(), d, nil))
	want.Circuits[endpoint.ID] = saveRecord(t, s, sampleRecord(endpoint.ID))
	check(t, s.PutEvent(t.Context(), sampleEvent(t)))
	check(t, s.CreateEndpoint(t.Context(), sampleEndpoint("acme")))
	saveRecord(t, s, sampleRecord(hook.NewEndpointID()))
	check(t, s.ChangeLimits(t.Context(), endpoint.ID, admission.Limits{}, atMost(9, sampleLimits())))
	check(t, s.SaveDelivery(t.Context(), sampleDelivery(e.ID, endpoint.ID, 2), nil))
	endpoint.Version = 1
	want.Events[e.ID], want.Endpoints[endpoint.ID], want.Deliveries[d.Ref()] = &e, &endpoint, new(saved(d))
	tasks = append(tasks, hook.NewTask("acme", d.Ref(), 2), hook.NewTask("acme", d.Ref(), 3))

	// A first task: no record yet.
	queued := placeOf(sampleEvent(t).ID, endpoint.ID, 1)
	tasks = append(tasks, hook.NewTask("acme", queued, 1))

	// An endpoint of another tenant.
	foreign := sampleEndpoint("globex")
	check(t, s.CreateEndpoint(t.Context(), foreign))
	tasks = append(tasks, hook.NewTask("acme", placeOf(e.ID, foreign.ID, 1), 1))

	got, err := s.Load(t.Context(), tasks)
	wantSame(t, "Load(4 tasks)", want, got, err)
}

func loadMany(t *testing.T, s StoreUnderTest) {
	want := emptySnapshot()
	endpoint := sampleEndpoint("acme")
	check(t, s.CreateEndpoint(t.Context(), endpoint))
	endpoint.Version = 1
	want.Endpoints[endpoint.ID] = &endpoint
	var tasks []hook.Task
	for range 100 {
		e := sampleEvent(t)
		check(t, s.PutEvent(t.Context(), e))
		d := sampleDelivery(e.ID, endpoint.ID, 1)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		want.Events[e.ID], want.Deliveries[d.Ref()] = &e, new(saved(d))
		tasks = append(tasks, hook.NewTask("acme", d.Ref(), 1), hook.NewTask("acme", d.Ref(), 1))
	}
	got, err := s.Load(t.Context(), tasks)
	wantSame(t, "Load(200 tasks)", want, got, err)
}

func loadNothing(t *testing.T, s StoreUnderTest) {
	got, err := s.Load(t.Context(), nil)
	wantSame(t, "Load(nil)", emptySnapshot(), got, err)
}

func loadLimits(t *testing.T, s StoreUnderTest) {
	want := emptySnapshot()
	limited, fresh, other := hook.NewEndpointID(), hook.NewEndpointID(), hook.NewEndpointID()
	check(t, s.ChangeLimits(t.Context(), limited, admission.Limits{}, atMost(9, sampleLimits())))
	check(t, s.ChangeLimits(t.Context(), other, admission.Limits{}, atMost(9, sampleLimits())))
	var err error
	want.Limits[limited], err = s.Limits(t.Context(), limited)
	check(t, err)
	want.Limits[fresh] = admission.Limits{}

	event := sampleEvent(t).ID
	task := func(id hook.EndpointID, slot bool) hook.Task {
		task := hook.NewTask("acme", placeOf(event, id, 1), 1)
		task.Slot = slot
		return task
	}
	got, err := s.Load(t.Context(), []hook.Task{task(limited, true), task(fresh, true), task(other, false)})
	wantSame(t, "Load(slots of two endpoints)", want, got, err)
	if len(got.Limits[limited].Leases) == 0 {
		t.Error("Load(slots of two endpoints) has no lease; want the leases of the limits")
	}
}
