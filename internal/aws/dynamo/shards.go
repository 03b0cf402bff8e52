package dynamo

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// shardCount is the number of hash keys for each list in the index by_state. One
// hash key takes 1,000 write units a second, and a throttled index throttles the
// table. A move of a row takes 2 units: 16 keys take 8,000 moves a second.
//
// The number is part of the table's layout: rows of another number of shards are
// in other shards, and readers of this number do not find the rows.
const shardCount = 16

// maxShardQueries bounds the concurrent queries of one list. The SDK's client
// keeps 10 idle connections to a host.
const maxShardQueries = 8

// shardOf returns the shard of the endpoint. The two halves of the hash are
// combined, because the low bits of FNV-1a depend on the low bits of the input
// only.
func shardOf(id hook.EndpointID) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	sum := h.Sum32()
	return int((sum>>16 ^ sum) % shardCount)
}

// shard returns the hash key of a shard.
func shard(list string, n int) string { return fmt.Sprintf("%s#%02d", list, n) }

// shardQueries returns a query of the index by_state for each shard of the list.
// rows is the condition on the range key, or empty for all rows; value is the
// value of :value in the condition.
func shardQueries(list, rows, value string) []*dynamodb.QueryInput {
	queries := make([]*dynamodb.QueryInput, shardCount)
	for n := range queries {
		condition := "state_pk = :shard"
		values := map[string]types.AttributeValue{":shard": text(shard(list, n))}
		if rows != "" {
			condition += " AND " + rows
			values[":value"] = text(value)
		}
		queries[n] = &dynamodb.QueryInput{
			IndexName: aws.String(names.IndexByState), KeyConditionExpression: &condition, ExpressionAttributeValues: values,
		}
	}
	return queries
}

// merge reads index queries, whose rows are in the order of the range key, as one
// list in the same order.
type merge struct {
	s       *Store
	queries []*rows
}

// rows are the rows of one query.
type rows struct {
	query *dynamodb.QueryInput
	first []indexRow // read, and not yet in the list
	pages int        // requests so far
	more  bool       // the index may have rows after first
}

// newMerge returns the list of the queries. The queries must not share values.
func (s *Store) newMerge(queries []*dynamodb.QueryInput) *merge {
	m := &merge{s: s}
	for _, query := range queries {
		query.TableName = s.table
		query.ScanIndexForward = aws.Bool(true)
		m.queries = append(m.queries, &rows{query: query, more: true})
	}
	return m
}

// next returns the next rows of the list, at most limit. next makes at most one
// request for each query without rows at hand, for at most pageSize rows. A
// result shorter than limit is not the end: see more. An error of one query is
// an error of next, because the list would miss the query's rows.
func (m *merge) next(ctx context.Context, limit, pageSize int) ([]indexRow, error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxShardQueries)
	for _, r := range m.queries {
		if len(r.first) == 0 && r.more {
			group.Go(func() error { return r.read(groupCtx, m.s, pageSize) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // the caller translates
	}
	var list []indexRow
	for len(list) < limit {
		var least *rows
		for _, r := range m.queries {
			switch {
			case len(r.first) > 0:
				if least == nil || strings.Compare(r.first[0].rangeKey(), least.first[0].rangeKey()) < 0 {
					least = r
				}
			case r.more:
				return list, nil // the next row of the list may be a row not read yet
			}
		}
		if least == nil {
			break
		}
		list = append(list, least.first[0])
		least.first = least.first[1:]
	}
	return list, nil
}

// read reads the next page of the query.
func (r *rows) read(ctx context.Context, s *Store, pageSize int) error {
	r.query.Limit = aws.Int32(int32(min(max(pageSize, 1), maxRows)))
	out, err := s.db.Query(ctx, r.query)
	if err != nil {
		return err //nolint:wrapcheck // the caller translates
	}
	var page []indexRow
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &page); err != nil {
		return err //nolint:wrapcheck // the caller translates
	}
	r.first = page
	r.query.ExclusiveStartKey = out.LastEvaluatedKey
	r.pages++
	r.more = len(out.LastEvaluatedKey) > 0
	return nil
}

// more reports whether the list may go on.
func (m *merge) more() bool {
	return slices.ContainsFunc(m.queries, func(r *rows) bool { return len(r.first) > 0 || r.more })
}

// exhausted reports whether next needs a page of a query with maxPages pages.
func (m *merge) exhausted() bool {
	return slices.ContainsFunc(m.queries, func(r *rows) bool { return len(r.first) == 0 && r.more && r.pages >= maxPages })
}

// firstPage returns the size of the first page of each query of a list with the
// limit: twice the mean of rows per query, and 16 more, so that one request for
// each query is usually enough.
func firstPage(limit, queries int) int { return min(limit, 2*limit/queries+16) }
