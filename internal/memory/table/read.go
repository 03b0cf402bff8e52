package table

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Options are the options of the SDK. The table ignores them.
type Options = func(*dynamodb.Options)

// GetItem reads one item.
func (t *Table) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...Options) (*dynamodb.GetItemOutput, error) {
	if err := t.request(in.TableName, in, "TableName", "Key", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"); err != nil {
		return nil, err
	}
	k, err := t.exactKey(in.Key)
	if err != nil {
		return nil, err
	}
	e, err := t.reader(in.ProjectionExpression, nil, in.ExpressionAttributeNames, nil)
	if err != nil {
		return nil, err
	}
	return answer(ctx, t, &Call{Operation: "GetItem", Keys: []Key{k}, Input: in}, func() (*dynamodb.GetItemOutput, error) {
		return &dynamodb.GetItemOutput{Item: e.shown(t.answered(k))}, nil
	})
}

// reader parses the expressions of a read; nil for none.
func (t *Table) reader(projection, filter *string, names map[string]string, values Item) (*expressions, error) {
	e := t.expressions(names, values)
	e.inProjection = e.parse(projection, "ProjectionExpression", projectionExpression)
	e.inFilter = e.parse(filter, "FilterExpression", conditionExpression)
	return e, e.complete()
}

// TransactGetItems reads up to 100 items of up to 4 MiB together, as of one moment.
func (t *Table) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, _ ...Options,
) (*dynamodb.TransactGetItemsOutput, error) {
	if err := t.only(in, "TransactItems"); err != nil {
		return nil, err
	}
	c := &Call{Operation: "TransactGetItems", Input: in}
	var err error
	if c.Keys, err = t.batchKeys(len(in.TransactItems), maxTransaction, func(i int) (Key, error) {
		get := in.TransactItems[i].Get
		if get == nil {
			return Key{}, invalid("each part of a transaction of reads must have a Get")
		}
		if err := t.request(get.TableName, get, "TableName", "Key"); err != nil {
			return Key{}, err
		}
		return t.exactKey(get.Key)
	}); err != nil {
		return nil, err
	}
	return answer(ctx, t, c, func() (*dynamodb.TransactGetItemsOutput, error) {
		out := &dynamodb.TransactGetItemsOutput{Responses: make([]types.ItemResponse, len(c.Keys))}
		bytes := 0
		for i, k := range c.Keys {
			item := t.answered(k)
			if bytes += ItemSize(item); bytes > maxTransactBytes {
				return nil, invalid("Transaction request has exceeded the maximum allowed size of %d bytes", maxTransactBytes)
			}
			out.Responses[i].Item = item
		}
		return out, nil
	})
}

// Query reads a page of the rows of one partition, in the table or in an index.
func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...Options) (*dynamodb.QueryOutput, error) {
	e, q, err := t.query(in)
	if err != nil {
		return nil, err
	}
	call := &Call{Operation: "Query", Index: aws.ToString(in.IndexName), Hash: q.hash, Low: q.low, Input: in}
	return answer(ctx, t, call, func() (*dynamodb.QueryOutput, error) {
		p := t.page(e, q)
		return &dynamodb.QueryOutput{Items: p.items, Count: p.matched, ScannedCount: p.scanned, LastEvaluatedKey: p.last}, nil
	})
}

// Scan reads a page of the whole table. Partitions come in the order of their names, although in
// DynamoDB they have no order.
func (t *Table) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...Options) (*dynamodb.ScanOutput, error) {
	if err := t.request(in.TableName, in, "TableName", "ConsistentRead", "FilterExpression", "ProjectionExpression",
		"ExpressionAttributeNames", "ExpressionAttributeValues", "Limit", "ExclusiveStartKey"); err != nil {
		return nil, err
	}
	e, err := t.reader(in.ProjectionExpression, in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	q := &query{index: -1, forward: true, whole: true}
	if q.limit, err = limit(in.Limit); err != nil {
		return nil, err
	}
	if in.ExclusiveStartKey != nil {
		if q.after, err = t.startOf(-1, in.ExclusiveStartKey); err != nil {
			return nil, err
		}
	}
	return answer(ctx, t, &Call{Operation: "Scan", Input: in}, func() (*dynamodb.ScanOutput, error) {
		p := t.page(e, q)
		return &dynamodb.ScanOutput{Items: p.items, Count: p.matched, ScannedCount: p.scanned, LastEvaluatedKey: p.last}, nil
	})
}
