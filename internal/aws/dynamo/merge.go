package dynamo

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/merge"
	"surehook.example/surehook/internal/names"
)

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
