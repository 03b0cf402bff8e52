package memory

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/names"
)

// Prefixes of the keys of what Forget removes, as the store writes them.
const (
	eventPrefix    = "event#"
	deliveryPrefix = "delivery#"
	attemptPrefix  = "attempt#"
)

// Store is the deployed store over a table in this process.
type Store struct {
	*dynamo.Store

	Table *table.Table
}

// NewStore returns an empty store.
func NewStore() *Store {
	t := table.New(Schema())
	return &Store{Store: dynamo.Over(t, Schema().Name), Table: t}
}

// Schema returns the schema of the table of a deployment.
func Schema() table.Schema {
	return table.Schema{
		Name: "surehook", Hash: names.PartitionKey, Sort: names.SortKey, TTL: names.ExpiresAt,
		Indexes: []table.Index{
			{Name: names.IndexByEndpoint, Hash: names.ByEndpointHash, Sort: names.ByEndpointRange},
			{Name: names.IndexByState, Hash: names.ByStateHash, Sort: names.ByStateRange},
		},
	}
}

// Expire removes the expired records, as the time to live of a table does.
func (s *Store) Expire(now time.Time) { s.Table.Expire(now, nil) }

// Forget removes the oldest events, deliveries and attempts, whatever their state, so that the newest
// deliveries stay: so many, and those that expire in the same second as the oldest of them. It returns
// the number of removed items. Its cost grows with the table.
func (s *Store) Forget(keep int) int {
	var ends []int64 // of the deliveries' records, in Unix seconds
	s.Table.Each(func(k table.Key, item table.Item) bool {
		if strings.HasPrefix(k.Sort, deliveryPrefix) {
			seconds, _ := s.Table.Expiry(item)
			ends = append(ends, seconds)
		}
		return true
	})
	if len(ends) <= keep {
		return 0
	}
	slices.Sort(ends)
	oldest := ends[len(ends)-keep]
	return s.Table.Expire(time.Unix(oldest-1, 0), func(k table.Key) bool {
		return strings.HasPrefix(k.Hash, eventPrefix) || strings.HasPrefix(k.Sort, deliveryPrefix) || strings.HasPrefix(k.Sort, attemptPrefix)
	})
}

// Remains returns the keys of all items that name the tenant, or that are in a partition of
// an endpoint, an event or a job of the tenant; but not of records of changes and jobs of
// erasure, which outlive their tenant.
func (s *Store) Remains(tenant hook.TenantID) (keys []string) {
	owned := func(item table.Item) bool {
		owner, ok := item["tenant"].(*types.AttributeValueMemberS)
		return ok && owner.Value == string(tenant)
	}
	named := map[string]bool{string(tenant): true} // ids of the tenant's partitions
	s.Table.Each(func(k table.Key, item table.Item) bool {
		if id := idOf(k); id != "" && owned(item) && !outlives(k) {
			named[id] = true
		}
		return true
	})
	s.Table.Each(func(k table.Key, item table.Item) bool {
		if (owned(item) || named[idOf(k)]) && !outlives(k) {
			keys = append(keys, k.String())
		}
		return true
	})
	return keys
}

// idOf returns the id of a partition, which follows its kind; empty for a partition that
// several tenants share.
func idOf(k table.Key) string {
	_, rest, _ := strings.Cut(k.Hash, "#")
	id, _, _ := strings.Cut(rest, "#")
	return id
}

func outlives(k table.Key) bool {
	return strings.HasPrefix(k.Sort, "audit#") || strings.HasPrefix(k.Sort, "erasure#")
}
