package porttest

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func tenantCases() []storeCase {
	return []storeCase{
		{name: "limits are a tenant's own, and a change replaces all of them", run: tenantLimits},
		{name: "a change of limits changes the version, and keeps the endpoints", run: tenantLimitsVersion},
		{name: "the limit of endpoints refuses the next endpoint", run: tenantEndpoints},
		{name: "a limit below the number of endpoints keeps the endpoints", run: tenantEndpointsLowered},
		{name: "20 racers create as many endpoints as the limit", run: tenantEndpointsRace},
		{name: "spent units are free again with time", run: tenantSpend},
		{name: "events above the limit need an idle second", run: tenantSpendMore},
		{name: "20 racers spend as many units as the limit", run: tenantSpendRace},
	}
}

func tenantLimits(t *testing.T, s StoreUnderTest) {
	want := map[hook.TenantID]hook.TenantLimits{
		"acme":    {EventsPerSecond: 10, DeliveriesPerEvent: 20, Endpoints: 30, ReplaysPerHour: 40, ChangesPerHour: 50, RetainFor: 672*time.Hour + time.Nanosecond},
		"globex":  {Endpoints: 5},
		"initech": {},
	}
	for id, l := range want {
		got, err := s.TenantLimits(t.Context(), id)
		wantSame(t, "TenantLimits(none)", hook.TenantLimits{}, got, err)
		if id != "initech" {
			check(t, s.SetTenantLimits(t.Context(), id, l))
		}
	}
	for id, l := range want {
		got, err := s.TenantLimits(t.Context(), id)
		wantSame(t, "TenantLimits("+string(id)+")", l, got, err)
	}
	for _, l := range []hook.TenantLimits{{DeliveriesPerEvent: 7}, {}} {
		check(t, s.SetTenantLimits(t.Context(), "acme", l))
		got, err := s.TenantLimits(t.Context(), "acme")
		wantSame(t, "TenantLimits(replaced)", l, got, err)
	}
	got, err := s.TenantLimits(t.Context(), "globex")
	wantSame(t, "TenantLimits(another tenant)", want["globex"], got, err)
}

func tenantLimitsVersion(t *testing.T, s StoreUnderTest) {
	e := create(t, s, sampleEndpoint("acme"))
	before, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)
	for _, l := range []hook.TenantLimits{{EventsPerSecond: 1}, {}} {
		check(t, s.SetTenantLimits(t.Context(), "acme", l))
		after, err := s.TenantVersion(t.Context(), "acme")
		check(t, err)
		if after == before {
			t.Errorf("TenantVersion(after a change of limits) = %d, as before; want a different version", after)
		}
		before = after
	}
	all, err := s.Endpoints(t.Context(), "acme")
	wantSame(t, "Endpoints(after a change of limits)", []hook.Endpoint{e}, all, err)
}

func tenantEndpoints(t *testing.T, s StoreUnderTest) {
	check(t, s.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{Endpoints: 2}))
	create(t, s, smallEndpoint("acme"))
	last := create(t, s, smallEndpoint("acme"))
	create(t, s, smallEndpoint("globex"))
	before, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)

	err = s.CreateEndpoint(t.Context(), smallEndpoint("acme"))
	wantCode(t, "CreateEndpoint(third)", err, hook.CodeForbidden)
	wantMessage(t, err, "the tenant is limited to 2 endpoints (endpoints)")
	after, err := s.TenantVersion(t.Context(), "acme")
	wantSame(t, "TenantVersion(after a refusal)", before, after, err)

	check(t, s.UpdateEndpoint(t.Context(), last))
	last.Version++
	check(t, s.DeleteEndpoint(t.Context(), last))
	create(t, s, smallEndpoint("acme"))
	check(t, s.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{EventsPerSecond: 1}))
	create(t, s, smallEndpoint("acme"))
}

func tenantEndpointsLowered(t *testing.T, s StoreUnderTest) {
	one, other := create(t, s, smallEndpoint("acme")), create(t, s, smallEndpoint("acme"))
	check(t, s.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{Endpoints: 1}))
	check(t, s.UpdateEndpoint(t.Context(), one))
	check(t, s.DeleteEndpoint(t.Context(), other))
	wantCode(t, "CreateEndpoint(at the limit)", s.CreateEndpoint(t.Context(), smallEndpoint("acme")), hook.CodeForbidden)
	all, err := s.Endpoints(t.Context(), "acme")
	if err != nil || len(all) != 1 {
		t.Errorf("Endpoints(acme) = %d endpoints, %v; want 1", len(all), err)
	}
}

func tenantEndpointsRace(t *testing.T, s StoreUnderTest) {
	const limit = 3
	check(t, s.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{Endpoints: limit}))
	made := len(raceFor(t, 20, hook.CodeForbidden, func(ctx context.Context, _ int) error {
		return s.CreateEndpoint(ctx, smallEndpoint("acme"))
	}))
	all, err := s.Endpoints(t.Context(), "acme")
	if made != limit || err != nil || len(all) != limit {
		t.Errorf("%d of 20 racers made an endpoint, and Endpoints = %d, %v; want %d", made, len(all), err, limit)
	}
}

// spend spends units of acme at the limit of 10 events per second, at a time after the
// first time of the suite.
func spend(ctx context.Context, s StoreUnderTest, at time.Duration, events int) (time.Duration, error) {
	return s.Spend(ctx, "acme", hook.NewSpend(hook.SpentEvents, events, 10, time.Second, storeEpoch().Add(at)))
}

func tenantSpend(t *testing.T, s StoreUnderTest) {
	const tenth = 100 * time.Millisecond
	for i, step := range []struct {
		at     time.Duration
		events int
		want   time.Duration // the wait
	}{
		{at: 0, events: 4, want: 0},     // the first write
		{at: 0, events: 6, want: 0},     // the rest of the burst
		{at: 0, events: 1, want: tenth}, // no unit left
		{at: 0, events: 3, want: 3 * tenth},
		{at: tenth - 1, events: 1, want: 1},
		{at: tenth, events: 1, want: 0}, // the refusals spent no units
		{at: tenth, events: 1, want: tenth},
		{at: time.Hour, events: 10, want: 0}, // idle, and the burst is no longer than a second
		{at: time.Hour, events: 1, want: tenth},
		{at: time.Hour - time.Second, events: 1, want: time.Second + tenth}, // a slow clock
	} {
		wait, err := spend(t.Context(), s, step.at, step.events)
		if err != nil || wait != step.want {
			t.Errorf("step %d: Spend(%d at %v) = %v, %v; want %v", i, step.events, step.at, wait, err, step.want)
		}
	}
	other, err := s.Spend(t.Context(), "globex", hook.NewSpend(hook.SpentEvents, 10, 10, time.Second, storeEpoch()))
	wantSame(t, "Spend(another tenant)", time.Duration(0), other, err)
	verified, err := s.Spend(t.Context(), "acme", hook.NewSpend(hook.SpentChallenges, 10, 10, time.Second, storeEpoch().Add(time.Hour)))
	wantSame(t, "Spend(something else)", time.Duration(0), verified, err)
}

func tenantSpendMore(t *testing.T, s StoreUnderTest) {
	wait, err := spend(t.Context(), s, 0, 1)
	wantSame(t, "Spend(1 of 10 a second)", time.Duration(0), wait, err)
	wait, err = spend(t.Context(), s, 0, 100)
	wantSame(t, "Spend(100 of 10 a second, not idle)", 100*time.Millisecond, wait, err)
	wait, err = spend(t.Context(), s, 100*time.Millisecond, 100)
	wantSame(t, "Spend(100 of 10 a second, idle)", time.Duration(0), wait, err)
	wait, err = spend(t.Context(), s, time.Second, 1)
	wantSame(t, "Spend(1 after 100)", 8200*time.Millisecond, wait, err)
}

func tenantSpendRace(t *testing.T, s StoreUnderTest) {
	for round, want := range []int{10, 5} { // the burst, and half a second later
		made := len(raceFor(t, 20, hook.CodeThrottled, func(ctx context.Context, _ int) error {
			wait, err := spend(ctx, s, time.Duration(round)*500*time.Millisecond, 1)
			if err == nil && wait > 0 {
				return hook.TenantLimits{EventsPerSecond: 10}.TooManyEvents(wait)
			}
			return err
		}))
		if made != want {
			t.Errorf("round %d: %d of 20 racers spent a unit; want %d", round, made, want)
		}
	}
}
