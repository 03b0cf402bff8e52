package dynamo

import (
	"context"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
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
	})
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
// and none for more than maxRows. The caller bounds limit.
func pageThrough[T any](ctx context.Context, s *Store, sources []source, limit int, position func(T) string) ([]T, error) {
	limit = max(limit, 1)
	list := s.merged(sources, "", firstPage(limit, len(sources)), max(limit, maxPage))
	var all []T
	for rows := limit; ; rows = max(limit-len(all), maxPage) {
		page, err := list.Take(ctx, rows)
		if err != nil {
			return nil, err
		}
		records, err := current(ctx, s, page, position)
		if err != nil {
			return nil, err
		}
		if all = append(all, records...); len(all) >= limit || len(page) < rows {
			return all[:min(len(all), limit)], nil
		}
	}
}
