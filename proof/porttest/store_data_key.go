package porttest

import (
	"bytes"
	"context"
	"strconv"
	"testing"

	"surehook.example/surehook/internal/hook"
)

func dataKeyCases() []storeCase {
	return []storeCase{
		{name: "a tenant's first data key stays", run: dataKeyStays},
		{name: "a bucket's first data key stays", run: bucketKeyStays},
		{name: "of 20 racers that put a tenant's data key, one wins", run: dataKeyRace},
	}
}

func dataKeyStays(t *testing.T, s StoreUnderTest) {
	_, err := s.DataKey(t.Context(), "acme")
	wantCode(t, "DataKey(none)", err, hook.CodeNotFound)

	first, other := bytes.Repeat([]byte{0, 255}, 150), []byte("the key of globex")
	check(t, s.PutDataKey(t.Context(), "acme", first))
	check(t, s.PutDataKey(t.Context(), "globex", other))
	wantCode(t, "PutDataKey(again)", s.PutDataKey(t.Context(), "acme", other), hook.CodeConflict)
	for tenant, want := range map[hook.TenantID][]byte{"acme": first, "globex": other} {
		got, err := s.DataKey(t.Context(), tenant)
		wantSame(t, "DataKey("+string(tenant)+")", want, got, err)
	}
	version, err := s.TenantVersion(t.Context(), "acme")
	wantSame(t, "TenantVersion after a data key", int64(0), version, err)
}

func dataKeyRace(t *testing.T, s StoreUnderTest) {
	winner := wantOne(t, race(t, 20, func(ctx context.Context, i int) error {
		return s.PutDataKey(ctx, "acme", []byte{byte(i)})
	}))
	got, err := s.DataKey(t.Context(), "acme")
	wantSame(t, "DataKey after the race", []byte{byte(winner)}, got, err)
}

func bucketKeyStays(t *testing.T, s StoreUnderTest) {
	_, err := s.BucketKey(t.Context(), 0)
	wantCode(t, "BucketKey(none)", err, hook.CodeNotFound)

	check(t, s.PutBucketKey(t.Context(), 0, []byte("first")))
	check(t, s.PutBucketKey(t.Context(), 511, []byte("last")))
	wantCode(t, "PutBucketKey(again)", s.PutBucketKey(t.Context(), 0, []byte("second")), hook.CodeConflict)
	for bucket, want := range map[int][]byte{0: []byte("first"), 511: []byte("last")} {
		got, err := s.BucketKey(t.Context(), bucket)
		wantSame(t, "BucketKey("+strconv.Itoa(bucket)+")", want, got, err)
	}
}
