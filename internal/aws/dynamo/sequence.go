package dynamo

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

// sequenceRow is the row of a sequence with a LookAt.
func sequenceRow(q order.Sequence) stateRow {
	return rowAt(turnList, q.LookAt, sequenceKey(q.ID).PK)
}

// Sequence reads one item.
func (s *Store) Sequence(ctx context.Context, tenant hook.TenantID, id order.ID) (order.Sequence, error) {
	return readOr(ctx, s, sequenceKey(id), "sequence", id.Key, order.New(id, tenant))
}

// SaveSequence makes one conditional write.
func (s *Store) SaveSequence(ctx context.Context, q order.Sequence) error {
	return s.saveNext(ctx, "save sequence "+q.Key, sequenceKey(q.ID), q.Version, q, sequenceRow(q))
}

// DueSequences queries the 16 shards, and makes a batch read per 100 sequences. limit is cut to 1 to 1000.
func (s *Store) DueSequences(ctx context.Context, now time.Time, limit int) ([]order.Sequence, error) {
	due, err := listed(ctx, s, turnList, endpointShards, min(limit, maxRows), sequenceRow, below, dueBy(now))
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
