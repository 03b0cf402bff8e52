package dynamo

import (
	"fmt"

	"surehook.example/surehook/internal/names"
)

// Numbers of hash keys for the lists in the index by_state. One hash key takes 1,000 write units
// a second, and a throttled index throttles the table. Moving a row takes 2 units, so 16 keys
// take 8,000 moves a second. Failed attempts write and move rows of the list of retrying deliveries:
// 64 keys take 32,000 moves a second.
//
// The numbers are part of the table's layout: with other numbers, readers would not find the
// stored rows.
const (
	endpointShards = 16 // of lists of endpoints
	dueShards      = 64 // of the list of retrying deliveries
	queuedShards   = 16 // of the list of recorded queued deliveries: few, unless a queue is late
)

// maxShardQueries bounds the concurrent queries of one list. The SDK's client
// keeps 10 idle connections to a host.
const maxShardQueries = 8

// shard returns the hash key of a shard.
func shard(list string, n int) string { return fmt.Sprintf("%s#%02d", list, n) }

// shardQueries returns a query of the index by_state for each shard of the list; see Store.query.
func (s *Store) shardQueries(list string, shards int, where string, bounds ...string) []source {
	sources := make([]source, shards)
	for n := range sources {
		sources[n] = source{query: s.query(names.IndexByState, shard(list, n), where, bounds...)}
	}
	return sources
}
