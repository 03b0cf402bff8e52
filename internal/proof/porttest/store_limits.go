package porttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

func limitsCases() []storeCase {
	return []storeCase{
		{name: "limits come back as their next version", run: limitsComeBack},
		{name: "limits store a slot with nanoseconds", run: slotIsExact},
		{name: "limits without a record are zero", run: limitsAreZero},
		{name: "stored limits are copies", run: limitsAreCopies},
		{name: "limits of another version conflict and nothing is written", run: limitsConflict},
		{name: "of 50 racing saves of limits exactly one wins", run: limitsRace},
	}
}

func sampleLimits() gate.Limits {
	return gate.Limits{
		RateSlot: storeEpoch().Add(123456789 * time.Nanosecond),
		Leases:   map[string]time.Time{"dlv_1": storeEpoch(), "dlv_2.ü#": storeEpoch().Add(time.Millisecond)},
	}
}

func limitsComeBack(t *testing.T, s StoreUnderTest) {
	endpoint, l := hook.NewEndpointID(), sampleLimits()
	given := l
	given.RateSlot = l.RateSlot.In(time.FixedZone("", 3600))
	given.Leases = map[string]time.Time{}
	for holder, until := range l.Leases { // kept in UTC milliseconds
		given.Leases[holder] = until.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
	}
	check(t, s.SaveLimits(t.Context(), endpoint, given))
	l.Version = 1
	got, err := s.Limits(t.Context(), endpoint)
	wantSame(t, "Limits(saved)", l, got, err)

	// No old field is left.
	for version := int64(2); version < 4; version++ {
		check(t, s.SaveLimits(t.Context(), endpoint, gate.Limits{Version: version - 1}))
		got, err = s.Limits(t.Context(), endpoint)
		wantSame(t, "Limits(saved empty)", gate.Limits{Version: version}, got, err)
	}
}

func slotIsExact(t *testing.T, s StoreUnderTest) {
	endpoint, slot := hook.NewEndpointID(), storeEpoch()
	l := gate.Limits{RateSlot: slot}
	for range 10 {
		l, _ = l.Reserve(1, 1000.0/3, slot)
		check(t, s.SaveLimits(t.Context(), endpoint, l))
		slot = slot.Add(3 * time.Millisecond)
		var err error
		l, err = s.Limits(t.Context(), endpoint)
		if err != nil || l.RateSlot != slot {
			t.Fatalf("Limits() = slot %s, %v; want %s, the same by ==", l.RateSlot, err, slot)
		}
		slot = slot.Add(time.Nanosecond)
		l.RateSlot = slot
	}
}

func limitsAreZero(t *testing.T, s StoreUnderTest) {
	check(t, s.SaveLimits(t.Context(), hook.NewEndpointID(), sampleLimits()))
	got, err := s.Limits(t.Context(), hook.NewEndpointID())
	wantSame(t, "Limits(unknown)", gate.Limits{}, got, err)
}

func limitsAreCopies(t *testing.T, s StoreUnderTest) {
	endpoint, given := hook.NewEndpointID(), sampleLimits()
	want := sampleLimits()
	want.Version = 1
	check(t, s.SaveLimits(t.Context(), endpoint, given))
	delete(given.Leases, "dlv_1")
	for range 2 {
		got, err := s.Limits(t.Context(), endpoint)
		wantSame(t, "Limits(changed by writer or reader)", want, got, err)
		delete(got.Leases, "dlv_1")
	}
}

func limitsConflict(t *testing.T, s StoreUnderTest) {
	endpoint, l := hook.NewEndpointID(), sampleLimits()
	l.Version = 1
	wantCode(t, "SaveLimits(version 1, none stored)", s.SaveLimits(t.Context(), endpoint, l), hook.CodeConflict)
	got, err := s.Limits(t.Context(), endpoint)
	wantSame(t, "Limits(refused)", gate.Limits{}, got, err)

	for l.Version = range int64(2) {
		check(t, s.SaveLimits(t.Context(), endpoint, l))
	}
	l.Version = 2
	for _, version := range []int64{0, 1, 3} {
		stale := gate.Limits{Version: version}
		wantCode(t, fmt.Sprintf("SaveLimits(version %d, 2 stored)", version), s.SaveLimits(t.Context(), endpoint, stale), hook.CodeConflict)
	}
	got, err = s.Limits(t.Context(), endpoint)
	wantSame(t, "Limits(after refused saves)", l, got, err)
}

func limitsRace(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	var want gate.Limits
	for range 3 { // at first without a record
		writer := func(i int) gate.Limits {
			w := want
			w.RateSlot = storeEpoch().Add(time.Duration(i))
			return w
		}
		winners := race(t, 50, func(ctx context.Context, i int) error { return s.SaveLimits(ctx, endpoint, writer(i)) })
		want = writer(wantOne(t, winners))
		want.Version++
		got, err := s.Limits(t.Context(), endpoint)
		wantSame(t, "Limits(raced for)", want, got, err)
	}
}
