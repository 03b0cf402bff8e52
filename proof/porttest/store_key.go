package porttest

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func keyCases() []storeCase {
	return []storeCase{
		{name: "a key is found by its hash and listed", run: keyComesBack},
		{name: "keys are listed in the order of their ids", run: keysInOrder},
		{name: "a key's id and hash are unique", run: keyOnce},
		{name: "a deleted key is gone", run: keyDeletes},
		{name: "the day of a key's last use never moves back", run: keyDayMovesOn},
		{name: "recording a use of a deleted key creates nothing", run: goneKeyStaysGone},
		{name: "of 20 racers that record a key's use on one day, one wins", run: keyDayRace},
		{name: "of 20 racers that record 20 days, the last day is kept", run: keyDaysRace},
		{name: "20 racers do not restore a key deleted by one of them", run: keyDeleteRace},
	}
}

func sampleKey(secret string) hook.APIKey {
	return hook.APIKey{
		ID:        hook.NewKeyID(),
		Name:      "Zoë's laptop",
		Tenant:    "acme",
		Scopes:    []hook.Scope{hook.ScopeRead, hook.ScopeEventsWrite},
		Hash:      hook.HashKey(secret),
		CreatedAt: storeEpoch(),
		Restriction: hook.Restriction{
			ExpiresAt: storeExpiry().Add(time.Millisecond),
			Networks:  []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
		},
	}
}

func keyComesBack(t *testing.T, s StoreUnderTest) {
	none, err := s.Keys(t.Context())
	wantSame(t, "Keys(none)", []hook.APIKey(nil), none, err)

	k := sampleKey("shk_1")
	given := k
	given.CreatedAt = k.CreatedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
	check(t, s.PutKey(t.Context(), given))
	got, err := s.KeyByHash(t.Context(), k.Hash)
	wantSame(t, "KeyByHash(put)", k, got, err)
	all, err := s.Keys(t.Context())
	wantSame(t, "Keys()", []hook.APIKey{k}, all, err)
	_, err = s.KeyByHash(t.Context(), hook.HashKey("shk_2"))
	wantCode(t, "KeyByHash(unknown)", err, hook.CodeNotFound)
}

func keysInOrder(t *testing.T, s StoreUnderTest) {
	var want []hook.APIKey
	for i := range 10 {
		k := sampleKey(fmt.Sprint("shk_", i))
		check(t, s.PutKey(t.Context(), k))
		want = append(want, k)
	}
	slices.SortFunc(want, func(a, b hook.APIKey) int { return strings.Compare(string(a.ID), string(b.ID)) })
	got, err := s.Keys(t.Context())
	wantSame(t, "Keys()", want, got, err)
}

func keyOnce(t *testing.T, s StoreUnderTest) {
	k := sampleKey("shk_1")
	check(t, s.PutKey(t.Context(), k))
	sameHash, sameID := sampleKey("shk_1"), sampleKey("shk_2")
	sameID.ID = k.ID
	wantCode(t, "PutKey(same hash)", s.PutKey(t.Context(), sameHash), hook.CodeConflict)
	wantCode(t, "PutKey(same id)", s.PutKey(t.Context(), sameID), hook.CodeConflict)
	all, err := s.Keys(t.Context())
	wantSame(t, "Keys(after refused puts)", []hook.APIKey{k}, all, err)
	_, err = s.KeyByHash(t.Context(), sameID.Hash)
	wantCode(t, "KeyByHash(refused)", err, hook.CodeNotFound)
}

func keyDeletes(t *testing.T, s StoreUnderTest) {
	k, other := sampleKey("shk_1"), sampleKey("shk_2")
	check(t, s.PutKey(t.Context(), k))
	check(t, s.PutKey(t.Context(), other))
	deleted, err := s.DeleteKey(t.Context(), k.ID)
	wantSame(t, "DeleteKey()", k, deleted, err)
	_, err = s.KeyByHash(t.Context(), k.Hash)
	wantCode(t, "KeyByHash(deleted)", err, hook.CodeNotFound)
	all, err := s.Keys(t.Context())
	wantSame(t, "Keys(after a delete)", []hook.APIKey{other}, all, err)
	_, err = s.DeleteKey(t.Context(), k.ID)
	wantCode(t, "DeleteKey(deleted)", err, hook.CodeNotFound)
	_, err = s.DeleteKey(t.Context(), hook.NewKeyID())
	wantCode(t, "DeleteKey(unknown)", err, hook.CodeNotFound)
}

// wantKey compares the key by hash and in the list. The zero key means no key.
func wantKey(t *testing.T, s StoreUnderTest, hash string, want hook.APIKey) {
	t.Helper()

	var list []hook.APIKey
	got, err := s.KeyByHash(t.Context(), hash)
	if want.ID == "" {
		wantCode(t, "KeyByHash(gone)", err, hook.CodeNotFound)
	} else {
		list = append(list, want)
		wantSame(t, "KeyByHash()", want, got, err)
	}
	all, err := s.Keys(t.Context())
	wantSame(t, "Keys()", list, all, err)
}

func keyDayMovesOn(t *testing.T, s StoreUnderTest) {
	k := sampleKey("shk_1")
	check(t, s.PutKey(t.Context(), k))
	for _, tt := range []struct {
		day  string
		want bool
	}{
		{day: "2026-11-21", want: true}, {day: "2026-11-21", want: false}, {day: "2026-11-20", want: false}, {day: "2025-12-31", want: false}, {day: "2026-11-22", want: true}, {day: "2027-01-01", want: true},
	} {
		err := s.TouchKey(t.Context(), k, tt.day)
		if tt.want {
			check(t, err)
			k.LastUsedOn = tt.day
		} else {
			wantCode(t, "TouchKey("+tt.day+") after "+k.LastUsedOn, err, hook.CodeConflict)
		}
		wantKey(t, s, k.Hash, k)
	}
}

func goneKeyStaysGone(t *testing.T, s StoreUnderTest) {
	k := sampleKey("shk_1")
	wantCode(t, "TouchKey(unknown)", s.TouchKey(t.Context(), k, "2026-11-21"), hook.CodeConflict)
	wantKey(t, s, k.Hash, hook.APIKey{})
	check(t, s.PutKey(t.Context(), k))
	_, err := s.DeleteKey(t.Context(), k.ID)
	check(t, err)
	wantCode(t, "TouchKey(deleted)", s.TouchKey(t.Context(), k, "2026-11-21"), hook.CodeConflict)
	wantKey(t, s, k.Hash, hook.APIKey{})
}

func keyDayRace(t *testing.T, s StoreUnderTest) {
	k := sampleKey("shk_1")
	check(t, s.PutKey(t.Context(), k))
	for _, day := range []string{"2026-11-21", "2026-11-22"} { // at first without a recorded day
		wantOne(t, race(t, 20, func(ctx context.Context, _ int) error { return s.TouchKey(ctx, k, day) }))
		k.LastUsedOn = day
		wantKey(t, s, k.Hash, k)
	}
}

func november(day int) string { return fmt.Sprintf("2026-11-%02d", day) }

func keyDaysRace(t *testing.T, s StoreUnderTest) {
	k := sampleKey("shk_1")
	check(t, s.PutKey(t.Context(), k))
	race(t, 20, func(ctx context.Context, i int) error { return s.TouchKey(ctx, k, november(i+1)) })
	k.LastUsedOn = november(20)
	wantKey(t, s, k.Hash, k)
}

func keyDeleteRace(t *testing.T, s StoreUnderTest) {
	k := sampleKey("shk_1")
	check(t, s.PutKey(t.Context(), k))
	winners := race(t, 20, func(ctx context.Context, i int) error {
		if i == 10 {
			_, err := s.DeleteKey(ctx, k.ID)
			return err
		}
		return s.TouchKey(ctx, k, november(i+1))
	})
	if !slices.Contains(winners, 10) {
		t.Errorf("successful racing calls: %v; want call 10, the deletion, among them", winners)
	}
	wantKey(t, s, k.Hash, hook.APIKey{})
}
