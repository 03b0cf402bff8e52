package dynamo

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Bounds of pageThrough.
const (
	maxRows  = 1000 // per request
	maxPages = 5    // requests, so that stale rows do not hide current rows
)

// indexRow is a row of an index. Each row has the range key of one index.
type indexRow struct {
	key
	EndpointSK string `dynamodbav:"endpoint_sk"` // names.ByEndpointRange
	StateSK    string `dynamodbav:"state_sk"`    // names.ByStateRange
}

func (r indexRow) rangeKey() string { return cmp.Or(r.EndpointSK, r.StateSK) }

// current reads the records of the rows, in the order of the rows. current drops
// stale rows: the record is gone or has another range key.
func current[I, T any](
	ctx context.Context, s *Store, rows []indexRow, from func(I) (T, error), rangeKey func(T) string,
) ([]T, error) {
	keys := make([]key, 0, len(rows))
	seen := make(map[key]bool, len(rows))
	for _, row := range rows {
		if !seen[row.key] { // the index may list a moved row at both positions
			seen[row.key] = true
			keys = append(keys, row.key)
		}
	}
	items, err := s.batchGet(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[string]T, len(items))
	for _, item := range items {
		record, err := decode(item, from)
		if err != nil {
			return nil, err
		}
		found[rangeKey(record)] = record
	}
	records := make([]T, 0, len(rows))
	for _, row := range rows {
		if record, ok := found[row.rangeKey()]; ok {
			records = append(records, record)
		}
	}
	return records, nil
}

// pageThrough returns the first records of an index query, in the order of the
// index, at most limit. pageThrough skips stale rows: the first request reads
// limit rows, up to 4 more requests read max(limit, 100) rows each.
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
		records, err := current(ctx, s, rows, from, rangeKey)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
		if len(all) >= limit || len(out.LastEvaluatedKey) == 0 {
			break
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
		query.Limit = aws.Int32(int32(max(limit, maxPage)))
	}
	return all[:min(len(all), limit)], nil
}
