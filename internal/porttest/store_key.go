package porttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook/internal/hook"
)

func keyCases() []storeCase {
	return []storeCase{
		{"a key is found by its hash and listed", keyComesBack},
		{"keys are listed in the order of their ids", keysInOrder},
		{"a key's id and hash are taken once", keyOnce},
		{"a deleted key is gone", keyDeletes},
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
	check(t, s.DeleteKey(t.Context(), k.ID))
	_, err := s.KeyByHash(t.Context(), k.Hash)
	wantCode(t, "KeyByHash(deleted)", err, hook.CodeNotFound)
	all, err := s.Keys(t.Context())
	wantSame(t, "Keys(after a delete)", []hook.APIKey{other}, all, err)
	wantCode(t, "DeleteKey(deleted)", s.DeleteKey(t.Context(), k.ID), hook.CodeNotFound)
	wantCode(t, "DeleteKey(unknown)", s.DeleteKey(t.Context(), hook.NewKeyID()), hook.CodeNotFound)
}
