package dynamo

import (
	"context"

	"surehook.example/surehook/internal/hook"
)

// dataKeyItem holds the data key of a tenant. It does not expire.
type dataKeyItem struct {
	key
	DataKey []byte `dynamodbav:"data_key"`
}

// DataKey reads one item.
func (s *Store) DataKey(ctx context.Context, tenant hook.TenantID) ([]byte, error) {
	var it dataKeyItem
	if err := s.get(ctx, dataKeyKey(tenant), &it, "data key", "of tenant "+string(tenant)); err != nil {
		return nil, err
	}
	return it.DataKey, nil
}

// PutDataKey writes one item, unless the tenant has a data key.
func (s *Store) PutDataKey(ctx context.Context, tenant hook.TenantID, dataKey []byte) error {
	op := "put data key of tenant " + string(tenant)
	put, err := s.put(dataKeyItem{key: dataKeyKey(tenant), DataKey: dataKey}, absent())
	if err != nil {
		return translate(err, op)
	}
	return translate(s.write(ctx, put), op)
}
