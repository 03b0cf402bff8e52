package porttest

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/hook"
)

func uidCases() []storeCase {
	return []storeCase{
		{name: "an endpoint is found by its uid", run: uidFinds},
		{name: "a uid is unique in a tenant", run: uidOnce},
		{name: "of 20 racing creates with a uid exactly one wins", run: uidRace},
		{name: "a deleted endpoint frees its uid", run: uidIsFreed},
	}
}

func named(tenant hook.TenantID, uid string) hook.Endpoint {
	e := smallEndpoint(tenant)
	e.UID = uid
	return e
}

func uidFinds(t *testing.T, s StoreUnderTest) {
	e := create(t, s, named("acme", "billing"))
	create(t, s, named("acme", "billing-2"))
	theirs := create(t, s, named("globex", "billing"))

	got, err := s.EndpointByUID(t.Context(), "acme", "billing")
	wantSame(t, "EndpointByUID(acme, billing)", e, got, err)
	got, err = s.EndpointByUID(t.Context(), "globex", "billing")
	wantSame(t, "EndpointByUID(globex, billing)", theirs, got, err)

	check(t, s.UpdateEndpoint(t.Context(), e))
	e.Version++
	got, err = s.EndpointByUID(t.Context(), "acme", "billing")
	wantSame(t, "EndpointByUID(updated)", e, got, err)

	_, err = s.EndpointByUID(t.Context(), "acme", "bill")
	wantCode(t, "EndpointByUID(unknown)", err, hook.CodeNotFound)
}

func uidOnce(t *testing.T, s StoreUnderTest) {
	e := create(t, s, named("acme", "billing"))
	before, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)
	second := named("acme", "billing")
	err = s.CreateEndpoint(t.Context(), second)
	wantCode(t, "CreateEndpoint(uid taken)", err, hook.CodeConflict)
	wantMessage(t, err, "uid billing is taken")
	got, err := s.EndpointByUID(t.Context(), "acme", "billing")
	wantSame(t, "EndpointByUID(taken)", e, got, err)
	_, err = s.Endpoint(t.Context(), "acme", second.ID)
	wantCode(t, "Endpoint(refused)", err, hook.CodeNotFound)
	version, err := s.TenantVersion(t.Context(), "acme")
	wantSame(t, "TenantVersion(after a refused create)", before, version, err)

	create(t, s, named("acme", "")) // empty uids are not unique
	create(t, s, named("acme", ""))
}

func uidRace(t *testing.T, s StoreUnderTest) {
	racers := make([]hook.Endpoint, 20)
	for i := range racers {
		racers[i] = named("acme", "billing")
	}
	winners := race(t, len(racers), func(ctx context.Context, i int) error { return s.CreateEndpoint(ctx, racers[i]) })
	want := racers[wantOne(t, winners)]
	want.Version = 1
	got, err := s.EndpointByUID(t.Context(), "acme", "billing")
	wantSame(t, "EndpointByUID(raced for)", want, got, err)
	all, err := s.Endpoints(t.Context(), "acme")
	wantSame(t, "Endpoints(raced for)", []hook.Endpoint{want}, all, err)
}

func uidIsFreed(t *testing.T, s StoreUnderTest) {
	e := create(t, s, named("acme", "billing"))
	check(t, s.DeleteEndpoint(t.Context(), e))
	_, err := s.EndpointByUID(t.Context(), "acme", "billing")
	wantCode(t, "EndpointByUID(freed)", err, hook.CodeNotFound)
	heir := create(t, s, named("acme", "billing"))
	got, err := s.EndpointByUID(t.Context(), "acme", "billing")
	wantSame(t, "EndpointByUID(taken again)", heir, got, err)
}
