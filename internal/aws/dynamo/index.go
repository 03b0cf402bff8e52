package dynamo

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Bounds of reading an index from its beginning.
const (
	maxRows  = 1000 // asked for at once
	maxPages = 5    // read to find records that are still what the index says
)

// indexRow is what an index holds of a record; it has the range key of that index.
type indexRow struct {
	key
	EndpointSK string `dynamodbav:"endpoint_sk"` // names.ByEndpointRange
	StateSK    string `dynamodbav:"state_sk"`    // names.ByStateRange
}

func (r indexRow) rangeKey() string { return cmp.Or(r.EndpointSK, r.StateSK) }

// current reads the records that the rows stand for, in their order, without
// those whose range key is another by now.
func current[I, T any](
	ctx context.Context, s *Store, rows []indexRow, from func(I) (T, error), rangeKey func(T) string,
) ([]T, error) {
	keys := make([]key, 0, len(rows))
	asked := make(map[key]bool, len(rows))
	for _, row := range rows {
		if !asked[row.key] { // a row that moved may be seen at both places
			asked[row.key] = true
			keys = append(keys, row.key)
		}
	}
	items, err := s.batchGet(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[string]T, len(items))
	for _, item := range items {
		thing, err := decode(item, from)
		if err != nil {
			return nil, err
		}
		found[rangeKey(thing)] = thing
	}
	things := make([]T, 0, len(rows))
	for _, row := range rows {
		if thing, ok := found[row.rangeKey()]; ok {
			things = append(things, thing)
		}
	}
	return things, nil
}

// pageThrough returns the first records, at most limit, of what the query finds
// in an index, in the index's order. Rows that the index has not forgotten yet
// are passed over, so that a crowd of them does not hide what comes after; how
// many is bounded.
func pageThrough[I, T any](
	ctx context.Context, s *Store, query *dynamodb.QueryInput, limit int, from func(I) (T, error), rangeKey func(T) string,
) ([]T, error) {
	limit = min(max(limit, 1), maxRows)
	query.TableName = s.table
	query.ScanIndexForward = aws.Bool(true)
	query.Limit = aws.Int32(int32(limit))
	var all []T
	for range maxPages {
		out, err := s.db.Query(ctx, query)
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller translates
		}
		var rows []indexRow
		if err := attributevalue.UnmarshalListOfMaps(out.Items, &rows); err != nil {
			return nil, err //nolint:wrapcheck // the caller translates
		}
		things, err := current(ctx, s, rows, from, rangeKey)
		if err != nil {
			return nil, err
		}
		all = append(all, things...)
		if len(all) >= limit || len(out.LastEvaluatedKey) == 0 {
			break
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
		query.Limit = aws.Int32(int32(max(limit, maxPage)))
	}
	return all[:min(len(all), limit)], nil
}
