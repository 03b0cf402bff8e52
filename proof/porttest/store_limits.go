package porttest

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// limitsOf is the part of a store with one kind of limits.
type limitsOf struct {
	read   func(ctx context.Context, id string) (admission.Limits, error)
	change func(ctx context.Context, id string, before, after admission.Limits, most int) error
}

func limitsCases() []storeCase {
	cases := []struct {
		name string
		run  func(t *testing.T, l limitsOf)
	}{
		{name: "come back", run: limitsComeBack},
		{name: "change by what differs", run: limitsChange},
		{name: "store a slot with nanoseconds", run: slotIsExact},
		{name: "without a record are zero", run: limitsAreZero},
		{name: "are copies", run: limitsAreCopies},
		{name: "that are no longer as before conflict and nothing is written", run: limitsConflict},
		{name: "never hold more leases than slots", run: leasesBound},
		{name: "give 5 slots to 5 of 50 racers, and again to the next", run: leasesRace},
		{name: "give a rate slot to one of 50 racers", run: rateSlotRace},
	}
	var all []storeCase
	for _, c := range cases {
		all = append(all, storeCase{name: "limits " + c.name, run: func(t *testing.T, s StoreUnderTest) {
			c.run(t, limitsOf{
				read: func(ctx context.Context, id string) (admission.Limits, error) {
					return s.Limits(ctx, hook.EndpointID(id))
				},
				change: func(ctx context.Context, id string, before, after admission.Limits, most int) error {
					return s.ChangeLimits(ctx, hook.EndpointID(id), before, atMost(most, after))
				},
			})
		}})
	}
	return append(all, storeCase{name: "shares of a tenant are limits of their own", run: sharesAreApart})
}

func sampleLimits() admission.Limits {
	return admission.Limits{
		RateSlot: storeEpoch().Add(123456789 * time.Nanosecond), Rate: 0.25,
		Leases: map[string]admission.Lease{
			"dlv_1":    {Nonce: "n1", Until: storeEpoch()},
			"dlv_2.ü#": {Nonce: "n2", Until: storeEpoch().Add(time.Millisecond), Run: "run"},
		},
		Score: -19, ScoreAt: storeEpoch(), Late: 3, LateAt: storeEpoch().Truncate(time.Minute),
	}
}

// atMost returns the limits for a write after which there are at most so many leases.
func atMost(most int, l admission.Limits) admission.Limits {
	l.Most = most
	return l
}

// lease returns the limits with the lease.
func lease(l admission.Limits, key, nonce string) admission.Limits {
	return l.Begin(admission.Held{Key: key, Lease: admission.Lease{Nonce: nonce, Until: storeEpoch().Add(time.Hour)}})
}

// saved writes the change, and returns the stored limits.
func (l limitsOf) saved(t *testing.T, id string, before, after admission.Limits) admission.Limits {
	t.Helper()

	check(t, l.change(t.Context(), id, before, after, 100))
	got, err := l.read(t.Context(), id)
	wantSame(t, "limits after the change", after, got, err)
	return got
}

func limitsComeBack(t *testing.T, l limitsOf) {
	id := string(hook.NewEndpointID())
	got := l.saved(t, id, admission.Limits{}, sampleLimits())
	got = l.saved(t, id, got, got) // nothing differs
	got = l.saved(t, id, got, admission.Limits{RateSlot: storeEpoch(), Rate: 1000.0 / 3, LateAt: got.LateAt})
	l.saved(t, id, got, sampleLimits())
}

func limitsChange(t *testing.T, l limitsOf) {
	id := string(hook.NewEndpointID())
	before := l.saved(t, id, admission.Limits{}, sampleLimits())
	other := lease(before, "dlv_3", "n3")
	l.saved(t, id, before, other)

	// Another writer has added dlv_3, so the change is written beside it.
	after := before.End(admission.Held{Key: "dlv_1", Lease: admission.Lease{Nonce: "n1"}})
	after = lease(after, "dlv_2.ü#", "n4")
	after = lease(after, "dlv_4", "n5")
	after.Score, after.Late = 5, 7
	check(t, l.change(t.Context(), id, before, after, 3))
	want := lease(after, "dlv_3", "n3")
	got, err := l.read(t.Context(), id)
	wantSame(t, "limits changed by two writers", want, got, err)
}

func slotIsExact(t *testing.T, l limitsOf) {
	id, slot := string(hook.NewEndpointID()), storeEpoch()
	var limits admission.Limits
	for range 10 {
		next, _ := limits.Reserve(1000.0/3, slot)
		limits = l.saved(t, id, limits, next)
		if slot = slot.Add(3 * time.Millisecond); limits.RateSlot != slot || limits.Rate != 1000.0/3 {
			t.Fatalf("limits = slot %s at %v; want %s, the same by ==", limits.RateSlot, limits.Rate, slot)
		}
	}
}

func limitsAreZero(t *testing.T, l limitsOf) {
	l.saved(t, string(hook.NewEndpointID()), admission.Limits{}, sampleLimits())
	got, err := l.read(t.Context(), string(hook.NewEndpointID()))
	wantSame(t, "limits of an unknown endpoint", admission.Limits{}, got, err)
}

func limitsAreCopies(t *testing.T, l limitsOf) {
	id, given := string(hook.NewEndpointID()), sampleLimits()
	check(t, l.change(t.Context(), id, admission.Limits{}, given, 100))
	delete(given.Leases, "dlv_1")
	for range 2 {
		got, err := l.read(t.Context(), id)
		wantSame(t, "limits changed by writer or reader", sampleLimits(), got, err)
		delete(got.Leases, "dlv_1")
	}
}

func limitsConflict(t *testing.T, l limitsOf) {
	id := string(hook.NewEndpointID())
	stored := l.saved(t, id, admission.Limits{}, sampleLimits())
	with := func(change func(*admission.Limits)) admission.Limits {
		other := sampleLimits()
		other.Leases = maps.Clone(other.Leases)
		change(&other)
		return other
	}
	none := with(func(o *admission.Limits) { delete(o.Leases, "dlv_1") })
	for name, c := range map[string]struct{ before, after admission.Limits }{
		"a lease as in no record":    {admission.Limits{}, lease(admission.Limits{}, "dlv_3", "n3")},
		"a lease that another began": {none, lease(none, "dlv_1", "n9")},
		"the end of a lease of another nonce": {
			with(func(o *admission.Limits) { o.Leases["dlv_1"] = admission.Lease{Nonce: "n9", Until: storeEpoch()} }), none,
		},
		"the end of a lease that another began again": {
			with(func(o *admission.Limits) {
				o.Leases["dlv_1"] = admission.Lease{Nonce: "n1", Until: storeEpoch().Add(-time.Hour)}
			}), none,
		},
		"the start of a lease that another ended": {lease(stored, "dlv_3", "n3"), lease(stored, "dlv_3", "n4")},
		"a rate slot that another reserved": {
			with(func(o *admission.Limits) { o.RateSlot = storeEpoch() }), with(func(o *admission.Limits) { o.RateSlot = storeEpoch().Add(time.Hour) }),
		},
		"the first rate slot": {
			with(func(o *admission.Limits) { o.RateSlot = time.Time{} }), with(func(o *admission.Limits) { o.RateSlot = storeEpoch().Add(time.Hour) }),
		},
	} {
		wantCode(t, name, l.change(t.Context(), id, c.before, c.after, 100), hook.CodeConflict)
		got, err := l.read(t.Context(), id)
		wantSame(t, "limits after "+name, stored, got, err)
	}
}

func leasesBound(t *testing.T, l limitsOf) {
	id := string(hook.NewEndpointID())
	stored := admission.Limits{}
	wantCode(t, "a lease with no slot", l.change(t.Context(), id, stored, lease(stored, "dlv_1", "n"), 0), hook.CodeConflict)
	for i := range 3 {
		stored = l.saved(t, id, stored, lease(stored, fmt.Sprintf("dlv_%d", i), "n"))
	}
	wantCode(t, "a fourth lease in 3 slots", l.change(t.Context(), id, stored, lease(stored, "dlv_4", "n"), 3), hook.CodeConflict)
	handed := lease(stored.End(admission.Held{Key: "dlv_0", Lease: admission.Lease{Nonce: "n"}}), "dlv_4", "n")
	check(t, l.change(t.Context(), id, stored, handed, 3))
	ended := handed.End(admission.Held{Key: "dlv_1", Lease: admission.Lease{Nonce: "n"}})
	check(t, l.change(t.Context(), id, handed, ended, 0)) // leases may end in fewer slots
	got, err := l.read(t.Context(), id)
	wantSame(t, "limits after an end", ended, got, err)
}

// leasesRace writes with the limits as each racer reads them.
func leasesRace(t *testing.T, l limitsOf) {
	const slots = 5
	id := string(hook.NewEndpointID())
	for round := range 3 {
		winners := race(t, 50, func(ctx context.Context, i int) error {
			for {
				before, err := l.read(ctx, id)
				if err != nil || len(before.Leases) >= slots {
					return cmpConflict(err)
				}
				err = l.change(ctx, id, before, lease(before, fmt.Sprintf("dlv_%d_%d", round, i), "n"), slots)
				if hook.CodeOf(err) != hook.CodeConflict {
					return err
				}
			}
		})
		got, err := l.read(t.Context(), id)
		check(t, err)
		if len(winners) != slots || len(got.Leases) != slots {
			t.Fatalf("racers with a slot: %v, limits %+v; want %d", winners, got, slots)
		}
		check(t, l.change(t.Context(), id, got, admission.Limits{}, 0))
	}
}

// cmpConflict returns err, or CodeConflict for a racer without a slot.
func cmpConflict(err error) error {
	if err != nil {
		return err
	}
	return hook.Conflict("all slots are taken")
}

func rateSlotRace(t *testing.T, l limitsOf) {
	id := string(hook.NewEndpointID())
	var stored admission.Limits
	for range 3 { // at first without a record
		winners := race(t, 50, func(ctx context.Context, _ int) error {
			next, _ := stored.Reserve(1000, storeEpoch())
			return l.change(ctx, id, stored, next, 0)
		})
		wantOne(t, winners)
		next, _ := stored.Reserve(1000, storeEpoch())
		got, err := l.read(t.Context(), id)
		wantSame(t, "limits raced for", next, got, err)
		stored = got
	}
}

func sharesAreApart(t *testing.T, s StoreUnderTest) {
	tenant, id := hook.TenantID("shares-"+hook.NewNonce()), hook.NewEndpointID()
	check(t, s.ChangeShares(t.Context(), tenant, admission.Limits{}, atMost(2, sampleLimits())))
	check(t, s.ChangeLimits(t.Context(), id, admission.Limits{}, atMost(1, lease(admission.Limits{}, "dlv_9", "n"))))
	got, err := s.Shares(t.Context(), tenant)
	wantSame(t, "Shares()", sampleLimits(), got, err)
	wantCode(t, "ChangeShares(a third share of 2)", s.ChangeShares(t.Context(), tenant, got, atMost(2, lease(got, "dlv_3", "n"))), hook.CodeConflict)
	got, err = s.Shares(t.Context(), tenant+"x")
	wantSame(t, "Shares(another tenant)", admission.Limits{}, got, err)
}
