package dynamo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/merge"
	"surehook.example/surehook/internal/names"
)

// Bounds of pageThrough.
const (
	maxRows  = 1000 // per request
	maxPages = 5    // requests per query, so that stale rows do not hide current rows
)

// indexRow is a row of an index, or of the table, with the keys of its lists.
type indexRow struct {
	key
	EndpointSK string `stored:"endpoint_sk"` // names.ByEndpointRange
	stateRow

	at string // the position in the list
}

func (r indexRow) self() key { return r.key }

// stateRow is a row of the index by_state; zero: none.
type stateRow struct {
	StatePK string `stored:"state_pk"` // names.ByStateHash
	StateSK string `stored:"state_sk"` // names.ByStateRange
}

// rowAt returns the row of a circuit or a sequence in a list by time; none for the zero time.
func rowAt(list string, at time.Time, id string) stateRow {
	if at.IsZero() {
		return stateRow{}
	}
	return stateRow{shard(list, hook.ShardOf(id, endpointShards)), at.UTC().Format(indexTime) + "#" + id}
}

// dueBy returns the bound of a list by time that is above the rows at t, and not above later rows.
func dueBy(t time.Time) string { return t.Add(time.Millisecond).UTC().Format(indexTime) }

// listed returns the first records of a list of the index by_state, at most limit. row is the row of a
// record as it is now. See pageThrough, and Store.query for where and bounds.
func listed[T any](
	ctx context.Context, s *Store, list string, shards, limit int, row func(T) stateRow, where string, bounds ...string,
) ([]T, error) {
	return pageThrough(ctx, s, s.shardQueries(list, shards, where, bounds...), limit, func(record T) string {
		if r := row(record); strings.HasPrefix(r.StatePK, list+"#") {
			return r.StateSK
		}
		return ""
	}, admit.Except{})
}

// current reads the records of the rows, in the order of the rows. current drops
// stale rows: the record is gone or has another position, or no position, in the list.
// current also drops records that this build cannot read.
func current[T any](ctx context.Context, s *Store, rows []indexRow, position func(T) string) ([]T, error) {
	items, err := s.batchGet(ctx, keysFor(rows, indexRow.self)) // twice, when the index lists a moved row at both positions
	if err != nil {
		return nil, err
	}
	found := make(map[string]T, len(items))
	for _, record := range readable[T](ctx, s, items) {
		found[position(record)] = record
	}
	records := make([]T, 0, len(rows))
	for _, row := range rows {
		if record, ok := found[row.at]; ok {
			records = append(records, record)
		}
	}
	return records, nil
}

// pageThrough returns the first records of a list, at most limit. The list is merged
// from the sources; see merged. pageThrough skips stale rows: each source makes at most
// maxPages requests, the first for firstPage rows, the others for max(limit, 100) rows,
// and none for more than maxRows. The caller bounds limit. but leaves out rows of deliveries.
func pageThrough[T any](ctx context.Context, s *Store, sources []source, limit int, position func(T) string, but admit.Except) ([]T, error) {
	limit = max(limit, 1)
	first := limit + but.About
	list := s.merged(sources, "", firstPage(first, len(sources)), max(first, maxPage))
	var all []T
	for rows := first; ; rows = max(limit-len(all), maxPage) {
		page, err := list.Take(ctx, rows)
		if err != nil {
			return nil, err
		}
		last := len(page) < rows
		page = slices.DeleteFunc(page, func(row indexRow) bool {
			ref, err := refOf(row.key)
			return err == nil && but.Has != nil && but.Has(ref.DeliveryID)
		})
		records, err := current(ctx, s, page, position)
		if err != nil {
			return nil, err
		}
		if all = append(all, records...); len(all) >= limit || last {
			return all[:min(len(all), limit)], nil
		}
	}
}

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

// source is a query whose rows are in the order of their positions in a list.
type source struct {
	query  *dynamodb.QueryInput
	prefix string // of the sort key of the index; the position follows
}

// span returns the rows of a partition of the index, or of the table if index is empty, with positions
// between the bounds, both included.
func (s *Store) span(index, partition, prefix, from, to string) source {
	return source{s.query(index, partition, between, prefix+from, prefix+to), prefix}
}

func (f source) position(r indexRow) string {
	sort := r.SK
	switch aws.ToString(f.query.IndexName) {
	case names.IndexByEndpoint:
		sort = r.EndpointSK
	case names.IndexByState:
		sort = r.StateSK
	}
	return strings.TrimPrefix(sort, f.prefix)
}

// merged returns the rows of the sources as one list, in the order of their positions, after the
// position; empty: from its begin. The first query of a source asks for first rows, and all others, at
// most maxPages together, for next rows. The sources must not share values.
func (s *Store) merged(sources []source, after string, first, next int) *merge.List[indexRow] {
	list := &merge.List[indexRow]{
		Compare: func(a, b indexRow) int { return strings.Compare(a.at, b.at) },
		First:   first, Next: next, Left: math.MaxInt, Each: maxPages, AtOnce: maxShardQueries,
	}
	if after != "" {
		list.After = &indexRow{at: after}
	}
	for _, from := range sources {
		list.Add(func(ctx context.Context, _ *indexRow, look int) ([]indexRow, *indexRow, error) {
			return s.rows(ctx, from, look)
		})
	}
	return list
}

// rows makes the next query of the source. more is the last row looked at, if others may follow.
func (s *Store) rows(ctx context.Context, from source, look int) (rows []indexRow, more *indexRow, err error) {
	from.query.Limit = aws.Int32(int32(min(max(look, 1), maxRows)))
	out, err := s.db.Query(ctx, from.query)
	if err != nil {
		return nil, nil, err
	}
	items := out.Items
	if len(out.LastEvaluatedKey) > 0 {
		items = append(slices.Clone(items), out.LastEvaluatedKey)
	}
	from.query.ExclusiveStartKey = out.LastEvaluatedKey
	if rows, err = decodeItems[indexRow](items); err != nil {
		return nil, nil, err
	}
	for i := range rows {
		rows[i].at = from.position(rows[i])
	}
	if n := len(out.Items); n < len(rows) {
		return rows[:n], &rows[n], nil
	}
	return rows, nil, nil
}

// firstPage returns the size of the first page of each source of a list with the
// limit: twice the mean of rows per source, and 16 more, so that one request for
// each source is usually enough.
func firstPage(limit, sources int) int { return min(limit, 2*limit/max(sources, 1)+16) }
