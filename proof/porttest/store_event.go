package porttest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/stats"
)

func eventCases() []storeCase {
	return []storeCase{
		{name: "an event comes back unchanged", run: eventComesBack},
		{name: "a minimal event comes back unchanged", run: smallEventComesBack},
		{name: "payloads come back byte for byte", run: payloadsComeBack},
		{name: "stored records are copies", run: storeKeepsCopies},
		{name: "an unknown event is not found", run: eventNotFound},
		{name: "an event is put once", run: eventOnce},
		{name: "of 50 racing puts of an event exactly one wins", run: eventRace},
		{name: "a target is added to an event once", run: targetAdded},
		{name: "of 20 racing additions of a target exactly one wins", run: targetRace},
		{name: "an event takes a bounded number of targets", run: targetsBounded},
		{name: "a call with an ended context is unavailable and changes nothing", run: contextDone},
	}
}

// sampleEvent returns an event with all fields set.
func sampleEvent(t *testing.T) hook.Event {
	t.Helper()

	return hook.Event{
		ID:             newEventID(t),
		Tenant:         "acme",
		Type:           "order.paid",
		Payload:        []byte(`{"order": 1}`),
		TraceParent:    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		IdempotencyKey: "order-1/paid",
		Targets:        []hook.Target{wide(hook.NewEndpointID()), {Endpoint: hook.NewEndpointID(), Shards: hook.MaxShards}, {Endpoint: hook.NewEndpointID(), Shards: 1}},
		AcceptedAt:     storeEpoch(),
		ExpiresAt:      storeExpiry(),
		Nonce:          hook.NewNonce(),
	}
}

func eventComesBack(t *testing.T, s StoreUnderTest) {
	e := sampleEvent(t)
	given := e
	berlin := time.FixedZone("", 3600)
	given.AcceptedAt = e.AcceptedAt.Add(999 * time.Microsecond).In(berlin) // kept in UTC milliseconds
	given.ExpiresAt = e.ExpiresAt.Add(999 * time.Millisecond).In(berlin)   // kept in whole seconds
	check(t, s.PutEvent(t.Context(), given))
	got, err := s.Event(t.Context(), e.ID)
	wantSame(t, "Event(put)", e, got, err)
}

func smallEventComesBack(t *testing.T, s StoreUnderTest) {
	e := hook.Event{ID: newEventID(t), Tenant: "acme", Type: "a", Payload: []byte("1"), AcceptedAt: storeEpoch()}
	check(t, s.PutEvent(t.Context(), e))
	got, err := s.Event(t.Context(), e.ID)
	wantSame(t, "Event(put)", e, got, err)
}

func payloadsComeBack(t *testing.T, s StoreUnderTest) {
	incompressible := make([]byte, hook.MaxPayload)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(incompressible)
	payloads := []struct {
		name  string
		bytes []byte
	}{
		{name: "whitespace and order of keys", bytes: []byte("{ \"b\" : 1.0,\r\n\t\"a\": 1e2 }\n ")},
		{name: "unicode", bytes: []byte(`{"name":"Zoë \u00e9 😀 \ud83d\ude00 ` + "\u2028" + `"}`)},
		{name: "invalid UTF-8", bytes: []byte{'"', 0xff, 0xfe, 0, 0x80, '"'}},
		{name: "256 KiB, compressible", bytes: bytes.Repeat([]byte(`{"k":1},`), hook.MaxPayload/8)},
		{name: "256 KiB, incompressible", bytes: incompressible},
	}
	for _, p := range payloads {
		e := sampleEvent(t)
		e.Payload = p.bytes
		for len(e.Targets) < hook.DefaultEndpoints {
			e.Targets = append(e.Targets, hook.Target{Endpoint: hook.NewEndpointID(), Shards: hook.MaxShards})
		}
		check(t, s.PutEvent(t.Context(), e))
		got, err := s.Event(t.Context(), e.ID)
		if err != nil || !bytes.Equal(got.Payload, e.Payload) || len(got.Targets) != len(e.Targets) {
			t.Errorf("Event(%s) = %d bytes for %d targets, %v; want %d bytes for %d",
				p.name, len(got.Payload), len(got.Targets), err, len(e.Payload), len(e.Targets))
		}
	}
}

func storeKeepsCopies(t *testing.T, s StoreUnderTest) {
	e, given := sampleEvent(t), sampleEvent(t)
	given.ID, given.Targets, given.Nonce = e.ID, slices.Clone(e.Targets), e.Nonce
	endpoint, same := sampleEndpoint("acme"), sampleEndpoint("acme")
	same.ID, same.UID, same.URL = endpoint.ID, endpoint.UID, endpoint.URL
	create(t, s, same)
	endpoint.Version = 1
	check(t, s.PutEvent(t.Context(), given))
	given.Payload[0], given.Targets[0].Endpoint = 'x', "ep_x"

	read, err := s.Event(t.Context(), e.ID)
	wantSame(t, "Event(put, then changed by its writer)", e, read, err)
	read.Payload[0], read.Targets[0].Endpoint = 'x', "ep_x"
	read, err = s.Event(t.Context(), e.ID)
	wantSame(t, "Event(changed by a reader)", e, read, err)

	for range 2 {
		got, err := s.Endpoint(t.Context(), "acme", endpoint.ID)
		wantSame(t, "Endpoint(changed by a reader)", endpoint, got, err)
		got.Secrets[0].Sealed[0], got.Metadata["team"], got.SealedHeaders["X-Env"][0], got.EventTypes[0], got.Schemes[0] = 9, "x", 9, "x", 0
		got.Auth.Sealed[0] = 9
	}
}

func eventNotFound(t *testing.T, s StoreUnderTest) {
	_, err := s.Event(t.Context(), newEventID(t))
	wantCode(t, "Event(unknown)", err, hook.CodeNotFound)
}

func eventOnce(t *testing.T, s StoreUnderTest) {
	first := sampleEvent(t)
	second := first
	second.Payload = []byte(`{"order": 2}`)
	check(t, s.PutEvent(t.Context(), first))
	wantCode(t, "PutEvent(again)", s.PutEvent(t.Context(), second), hook.CodeConflict)
	got, err := s.Event(t.Context(), first.ID)
	wantSame(t, "Event(put twice)", first, got, err)

	second.AcceptedAt = first.ExpiresAt.Add(-time.Second)
	wantCode(t, "PutEvent(just before the expiry)", s.PutEvent(t.Context(), second), hook.CodeConflict)
	second.AcceptedAt, second.ExpiresAt = first.ExpiresAt, first.ExpiresAt.Add(time.Hour)
	check(t, s.PutEvent(t.Context(), second))
	got, err = s.Event(t.Context(), first.ID)
	wantSame(t, "Event(put after the expiry)", second, got, err)
}

func eventRace(t *testing.T, s StoreUnderTest) {
	e := sampleEvent(t)
	writer := func(i int) hook.Event {
		w := e
		w.Nonce = fmt.Sprintf("writer-%d", i)
		return w
	}
	winners := race(t, 50, func(ctx context.Context, i int) error { return s.PutEvent(ctx, writer(i)) })
	want := writer(wantOne(t, winners))
	got, err := s.Event(t.Context(), e.ID)
	wantSame(t, "Event(raced for)", want, got, err)
}

func contextDone(t *testing.T, s StoreUnderTest) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := sampleEvent(t)
	endpoint := sampleEndpoint("acme")
	delivery := sampleDelivery(e.ID, endpoint.ID, 1)

	calls := map[string]func() error{
		"PutEvent": func() error { return s.PutEvent(ctx, e) },
		"Event":    func() error { _, err := s.Event(ctx, e.ID); return err },
		"Load": func() error {
			_, err := s.Load(ctx, []hook.Task{hook.NewTask("acme", delivery.Ref(), 1)})
			return err
		},
		"SaveDelivery":    func() error { return s.SaveDelivery(ctx, delivery, nil) },
		"CreateEndpoint":  func() error { return s.CreateEndpoint(ctx, endpoint) },
		"TenantVersion":   func() error { _, err := s.TenantVersion(ctx, "acme"); return err },
		"TenantLimits":    func() error { _, err := s.TenantLimits(ctx, "acme"); return err },
		"SetTenantLimits": func() error { return s.SetTenantLimits(ctx, "acme", hook.TenantLimits{Endpoints: 1}) },
		"Spend": func() error {
			_, err := s.Spend(ctx, "acme", hook.NewSpend(hook.SpentEvents, 1, 1, time.Second, storeEpoch()))
			return err
		},
		"Endpoints":   func() error { _, err := s.Endpoints(ctx, "acme"); return err },
		"Listing":     func() error { _, err := s.Listing(ctx, "acme"); return err },
		"TypeListing": func() error { _, err := s.TypeListing(ctx, []string{"order.paid"}); return err },
		"Keys":        func() error { _, err := s.Keys(ctx); return err },
		"DeliveryRows": func() error {
			_, _, err := s.DeliveryRows(ctx, status.Part{Endpoint: endpoint.ID}, status.Span{}, 1)
			return err
		},
		"UntargetedRows": func() error { _, _, err := s.UntargetedRows(ctx, "acme", 0, status.Span{}, 1); return err },
		"EventHeads":     func() error { _, err := s.EventHeads(ctx, []hook.EventID{e.ID}); return err },
		"RegisterTenant": func() error { return s.RegisterTenant(ctx, "acme") },
		"Tenants":        func() error { _, _, err := s.Tenants(ctx, "", "", 1); return err },
		"Circuit":        func() error { _, err := s.Circuit(ctx, "acme", endpoint.ID); return err },
		"SaveCircuit":    func() error { return s.SaveCircuit(ctx, sampleRecord(endpoint.ID)) },
		"DueCircuits":    func() error { _, err := s.DueCircuits(ctx, storeExpiry(), 1); return err },
		"Parked":         func() error { _, err := s.Parked(ctx, endpoint.Target(), time.Time{}, 1, admit.Except{}); return err },
		"Overdue":        func() error { _, err := s.Overdue(ctx, hook.StateRetrying, time.Time{}, storeExpiry(), 1); return err },
		"Limits":         func() error { _, err := s.Limits(ctx, endpoint.ID); return err },
		"ChangeLimits":   func() error { return s.ChangeLimits(ctx, endpoint.ID, admission.Limits{}, atMost(9, sampleLimits())) },
		"Shares":         func() error { _, err := s.Shares(ctx, "acme"); return err },
		"ChangeShares":   func() error { return s.ChangeShares(ctx, "acme", admission.Limits{}, atMost(9, sampleLimits())) },
		"Count": func() error {
			_, err := s.Count(ctx, "acme", endpoint.ID, &stats.Counts{Failed: 1}, storeEpoch())
			return err
		},
	}
	for name, call := range calls {
		wantCode(t, name+"(context done)", call(), hook.CodeUnavailable)
	}
	_, err := s.Event(t.Context(), e.ID)
	wantCode(t, "Event(put with a context that was done)", err, hook.CodeNotFound)
}

func targetAdded(t *testing.T, s StoreUnderTest) {
	for _, targets := range [][]hook.Target{nil, {wide(hook.NewEndpointID())}} {
		e := sampleEvent(t)
		e.Targets = targets
		check(t, s.PutEvent(t.Context(), e))
		added := []hook.Target{wide(hook.NewEndpointID()), {Endpoint: hook.NewEndpointID(), Shards: 1}}
		for _, target := range added {
			check(t, s.AddTarget(t.Context(), e, target))
			for _, shards := range []int{1, 2, hook.MaxShards} {
				again := hook.Target{Endpoint: target.Endpoint, Shards: shards}
				wantCode(t, fmt.Sprintf("AddTarget(again, %d shards)", shards), s.AddTarget(t.Context(), e, again), hook.CodeConflict)
			}
		}
		other := e
		other.AcceptedAt = other.AcceptedAt.Add(time.Millisecond)
		wantCode(t, "AddTarget(an event of another time)", s.AddTarget(t.Context(), other, wide(hook.NewEndpointID())), hook.CodeConflict)
		other = e
		other.Tenant = "globex"
		wantCode(t, "AddTarget(another tenant's event)", s.AddTarget(t.Context(), other, wide(hook.NewEndpointID())), hook.CodeConflict)
		other.ID = newEventID(t)
		wantCode(t, "AddTarget(no event)", s.AddTarget(t.Context(), other, wide(hook.NewEndpointID())), hook.CodeConflict)
		want := e
		want.Targets = append(slices.Clone(targets), added...)
		got, err := s.Event(t.Context(), e.ID)
		wantSame(t, "Event(with added targets)", want, got, err)
		e.ErasedAt = storeEpoch()
		check(t, s.EraseEvent(t.Context(), e))
		wantCode(t, "AddTarget(an erased event)", s.AddTarget(t.Context(), e, wide(hook.NewEndpointID())), hook.CodeConflict)
	}
}

func targetRace(t *testing.T, s StoreUnderTest) {
	e, target := sampleEvent(t), wide(hook.NewEndpointID())
	check(t, s.PutEvent(t.Context(), e))
	wantOne(t, race(t, 20, func(ctx context.Context, _ int) error { return s.AddTarget(ctx, e, target) }))
	got, err := s.Event(t.Context(), e.ID)
	wantSame(t, "targets", append(e.Targets, target), got.Targets, err)
}

func targetsBounded(t *testing.T, s StoreUnderTest) {
	e := sampleEvent(t)
	for len(e.Targets) < hook.MaxTargets-1 {
		e.Targets = append(e.Targets, wide(hook.NewEndpointID()))
	}
	check(t, s.PutEvent(t.Context(), e))
	check(t, s.AddTarget(t.Context(), e, wide(hook.NewEndpointID())))
	wantCode(t, "AddTarget(one more than MaxTargets)", s.AddTarget(t.Context(), e, wide(hook.NewEndpointID())), hook.CodeConflict)
}
