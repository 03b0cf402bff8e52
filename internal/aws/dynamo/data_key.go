package dynamo

import (
	"context"
	"strconv"

	"surehook.example/surehook/internal/hook"
)

// dataKeyItem holds the key pair of a tenant or of a bucket. It does not expire.
type dataKeyItem struct {
	DataKey []byte `stored:"data_key"`
}

// DataKey reads one item.
func (s *Store) DataKey(ctx context.Context, tenant hook.TenantID) ([]byte, error) {
	return s.readPair(ctx, dataKeyKey(tenant), "of tenant "+string(tenant))
}

// PutDataKey writes one item, unless the tenant has a key pair.
func (s *Store) PutDataKey(ctx context.Context, tenant hook.TenantID, pair []byte) error {
	return s.putPair(ctx, dataKeyKey(tenant), pair, "of tenant "+string(tenant))
}

// BucketKey reads one item.
func (s *Store) BucketKey(ctx context.Context, bucket int) ([]byte, error) {
	return s.readPair(ctx, bucketKey(bucket), "of bucket "+strconv.Itoa(bucket))
}

// PutBucketKey writes one item, unless the bucket has a key pair.
func (s *Store) PutBucketKey(ctx context.Context, bucket int, pair []byte) error {
	return s.putPair(ctx, bucketKey(bucket), pair, "of bucket "+strconv.Itoa(bucket))
}

func (s *Store) readPair(ctx context.Context, k key, whose string) ([]byte, error) {
	it, err := read[dataKeyItem](ctx, s, k, "data key", whose)
	return it.DataKey, err
}

func (s *Store) putPair(ctx context.Context, k key, pair []byte, whose string) error {
	return s.commit(ctx, "put data key "+whose, s.put(k, absent(), dataKeyItem{pair}))
}
