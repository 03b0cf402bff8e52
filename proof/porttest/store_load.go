package porttest

import (
	"testing"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

func loadCases() []storeCase {
	return []storeCase{
		{name: "tokens load the records of the tokens and nothing else", run: loadNamed},
		{name: "200 tokens, half of them repeated, load at once", run: loadMany},
		{name: "no tokens load nothing", run: loadNothing},
		{name: "tokens with a claimed slot load the limits of their endpoints", run: loadLimits},
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
	var tokens []hook.Token

	// All four records exist, and records without a token.
	e, endpoint := sampleEvent(t), sampleEndpoint("acme")
	d := sampleDelivery(e.ID, endpoint.ID, 1)
	check(t, s.PutEvent(t.Context(), e))
	check(t, s.CreateEndpoint(t.Context(), endpoint))
	check(t, s.SaveDelivery(t.Context(), d, nil))
	want.Circuits[endpoint.ID] = saveRecord(t, s, sampleRecord(endpoint.ID))
	check(t, s.PutEvent(t.Context(), sampleEvent(t)))
	check(t, s.CreateEndpoint(t.Context(), sampleEndpoint("acme")))
	saveRecord(t, s, sampleRecord(hook.NewEndpointID()))
	check(t, s.ChangeLimits(t.Context(), endpoint.ID, admission.Limits{}, sampleLimits(), 9))
	check(t, s.SaveDelivery(t.Context(), sampleDelivery(e.ID, endpoint.ID, 2), nil))
	endpoint.Version = 1
	want.Events[e.ID], want.Endpoints[endpoint.ID], want.Deliveries[d.Ref()] = &e, &endpoint, new(saved(d))
	tokens = append(tokens, hook.NewToken("acme", d.Ref(), 2), hook.NewToken("acme", d.Ref(), 3))

	// A first token: no record yet.
	queued := placeOf(sampleEvent(t).ID, endpoint.ID, 1)
	tokens = append(tokens, hook.NewToken("acme", queued, 1))

	// An endpoint of another tenant.
	foreign := sampleEndpoint("globex")
	check(t, s.CreateEndpoint(t.Context(), foreign))
	tokens = append(tokens, hook.NewToken("acme", placeOf(e.ID, foreign.ID, 1), 1))

	got, err := s.Load(t.Context(), tokens)
	wantSame(t, "Load(4 tokens)", want, got, err)
}

func loadMany(t *testing.T, s StoreUnderTest) {
	want := emptySnapshot()
	endpoint := sampleEndpoint("acme")
	check(t, s.CreateEndpoint(t.Context(), endpoint))
	endpoint.Version = 1
	want.Endpoints[endpoint.ID] = &endpoint
	var tokens []hook.Token
	for range 100 {
		e := sampleEvent(t)
		check(t, s.PutEvent(t.Context(), e))
		d := sampleDelivery(e.ID, endpoint.ID, 1)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		want.Events[e.ID], want.Deliveries[d.Ref()] = &e, new(saved(d))
		tokens = append(tokens, hook.NewToken("acme", d.Ref(), 1), hook.NewToken("acme", d.Ref(), 1))
	}
	got, err := s.Load(t.Context(), tokens)
	wantSame(t, "Load(200 tokens)", want, got, err)
}

func loadNothing(t *testing.T, s StoreUnderTest) {
	got, err := s.Load(t.Context(), nil)
	wantSame(t, "Load(nil)", emptySnapshot(), got, err)
}

func loadLimits(t *testing.T, s StoreUnderTest) {
	want := emptySnapshot()
	limited, fresh, other := hook.NewEndpointID(), hook.NewEndpointID(), hook.NewEndpointID()
	check(t, s.ChangeLimits(t.Context(), limited, admission.Limits{}, sampleLimits(), 9))
	check(t, s.ChangeLimits(t.Context(), other, admission.Limits{}, sampleLimits(), 9))
	var err error
	want.Limits[limited], err = s.Limits(t.Context(), limited)
	check(t, err)
	want.Limits[fresh] = admission.Limits{}

	event := sampleEvent(t).ID
	token := func(id hook.EndpointID, slot bool) hook.Token {
		token := hook.NewToken("acme", placeOf(event, id, 1), 1)
		token.Slot = slot
		return token
	}
	got, err := s.Load(t.Context(), []hook.Token{token(limited, true), token(fresh, true), token(other, false)})
	wantSame(t, "Load(slots of two endpoints)", want, got, err)
	if len(got.Limits[limited].Leases) == 0 {
		t.Error("Load(slots of two endpoints) has no lease; want the leases of the limits")
	}
}
