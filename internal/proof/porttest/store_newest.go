package porttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"surehook/internal/hook"
)

// newestCases test the records of the newest events of keys.
func newestCases() []storeCase {
	return []storeCase{
		{name: "Newest returns what PutNewest stored", run: newestReturnsStored},
		{name: "Newest leaves out what is not stored", run: newestLeavesOut},
		{name: "PutNewest keeps the newer event", run: newestKeepsNewer},
		{name: "PutNewest may be repeated", run: newestRepeats},
		{name: "of racing calls of PutNewest the newest event stays", run: newestRaces},
		{name: "Newest reads more keys than one request of the table", run: newestReadsMany},
	}
}

// someNewest returns the record of a new event for the value, accepted n ms after the epoch.
func someNewest(t *testing.T, value string, n int64) hook.Newest {
	t.Helper()

	return hook.Newest{
		NewestKey: hook.NewestKey{Endpoint: "ep_4n8k2r7w1q5t9x3z", End: storeEpoch().Unix(), Value: value},
		Tenant:    "acme", Event: newEventID(t), AcceptedAt: storeEpoch().UnixMilli() + n, ExpiresAt: storeExpiry(),
	}
}

func putNewest(t *testing.T, s StoreUnderTest, all ...hook.Newest) {
	t.Helper()

	for _, n := range all {
		check(t, s.PutNewest(t.Context(), n))
	}
}

func wantNewest(t *testing.T, s StoreUnderTest, want ...hook.Newest) {
	t.Helper()

	keys := make([]hook.NewestKey, len(want))
	for i, n := range want {
		keys[i] = n.NewestKey
	}
	got, err := s.Newest(t.Context(), keys)
	for _, all := range [][]hook.Newest{got, want} {
		slices.SortFunc(all, func(a, b hook.Newest) int { return cmp.Compare(a.String(), b.String()) })
	}
	wantSame(t, fmt.Sprintf("Newest(%d keys)", len(keys)), want, got, err)
}

func newestReturnsStored(t *testing.T, s StoreUnderTest) {
	one := someNewest(t, "one", 1)
	other, later := one, one // each part of the key counts
	other.Endpoint, later.End = "ep_1q5t9x3z4n8k2r7w", one.End+5
	other.Event, later.Event = newEventID(t), newEventID(t)
	putNewest(t, s, one, other, later, someNewest(t, "unread", 2))
	wantNewest(t, s, one, other, later)
}

func newestLeavesOut(t *testing.T, s StoreUnderTest) {
	got, err := s.Newest(t.Context(), []hook.NewestKey{someNewest(t, "none", 1).NewestKey})
	wantSame(t, "Newest(an unknown key)", []hook.Newest(nil), got, err)
}

func newestKeepsNewer(t *testing.T, s StoreUnderTest) {
	old, first, second, newest := someNewest(t, "one", 1), someNewest(t, "one", 2), someNewest(t, "one", 2), someNewest(t, "one", 3)
	if first.Event > second.Event { // in the same millisecond the id decides
		first, second = second, first
	}
	putNewest(t, s, old)
	wantNewest(t, s, old)
	putNewest(t, s, second, first, old)
	wantNewest(t, s, second)
	putNewest(t, s, newest, second)
	wantNewest(t, s, newest)
}

func newestRepeats(t *testing.T, s StoreUnderTest) {
	one := someNewest(t, "one", 1)
	putNewest(t, s, one, one)
	wantNewest(t, s, one)
}

func newestRaces(t *testing.T, s StoreUnderTest) {
	const racers = 8
	all := make([]hook.Newest, racers)
	for i := range all {
		all[i] = someNewest(t, "one", int64(i/2))
	}
	if n := len(race(t, racers, func(ctx context.Context, i int) error { return s.PutNewest(ctx, all[i]) })); n != racers {
		t.Errorf("%d of %d racing calls of PutNewest succeed; want all: an older event is no error", n, racers)
	}
	wantNewest(t, s, slices.MaxFunc(all, func(a, b hook.Newest) int {
		if a.After(b) {
			return 1
		}
		return -1
	}))
}

func newestReadsMany(t *testing.T, s StoreUnderTest) {
	const keys = 130
	all := make([]hook.Newest, keys)
	for i := range all {
		all[i] = someNewest(t, fmt.Sprintf("value-%03d", i), 1)
	}
	putNewest(t, s, all...)
	wantNewest(t, s, all...)
}
