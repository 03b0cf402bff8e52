package dynamo

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

// sequenceItem is in the index by_state only while the sequence has a LookAt.
type sequenceItem struct {
	order.Sequence

	StatePK string `stored:"state_pk"` // names.ByStateHash
	StateSK string `stored:"state_sk"` // names.ByStateRange
}

// Sequence reads one item.
func (s *Store) Sequence(ctx context.Context, tenant hook.TenantID, id order.ID) (order.Sequence, error) {
	return readOr(ctx, s, sequenceKey(id), "sequence", id.Key, order.New(id, tenant))
}

// SaveSequence makes one conditional write.
func (s *Store) SaveSequence(ctx context.Context, q order.Sequence) error {
	k, it := sequenceKey(q.ID), sequenceItem{Sequence: q}
	if !q.LookAt.IsZero() {
		it.StatePK, it.StateSK = shard(turnList, hook.ShardOf(k.PK, endpointShards)), turnRange(q)
	}
	return s.saveNext(ctx, "save sequence "+q.Key, k, q.Version, it)
}

// DueSequences queries the 16 shards, and makes a batch read per 100 sequences. limit is cut to 1 to 1000.
func (s *Store) DueSequences(ctx context.Context, now time.Time, limit int) ([]order.Sequence, error) {
	sources := s.shardQueries(turnList, endpointShards, below, timeBound(now.Add(time.Millisecond)))
	due, err := pageThrough(ctx, s, sources, min(limit, maxRows), turnRange)
	return due, translate(err, "list due sequences")
}

// PutPlace makes one conditional write.
func (s *Store) PutPlace(ctx context.Context, id order.ID, p order.Place) error {
	return s.commit(ctx, fmt.Sprintf("put place %d of sequence %s", p.Number, id.Key), s.put(placeKey(id, p.Number), absent(), p).orElse(nil))
}

// NextPlace makes one query.
func (s *Store) NextPlace(ctx context.Context, id order.ID, from, to int64) (*order.Place, error) {
	items, _, err := s.page(ctx, s.consistent(sequenceKey(id).PK, between, placeKey(id, from).SK, placeKey(id, to).SK), 1)
	if err != nil || len(items) == 0 {
		return nil, translate(err, "find the next place of sequence "+id.Key)
	}
	var p order.Place
	err = decodeItem(items[0], &p)
	return &p, translate(err, "read the next place of sequence "+id.Key)
}
