package dynamo

import (
	"context"
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
	StateSK    string `stored:"state_sk"`    // names.ByStateRange

	at string // the position in the list
}

func (r indexRow) self() key { return r.key }

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
