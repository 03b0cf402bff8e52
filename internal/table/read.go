package table

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Options are the SDK's. The table ignores them.
type Options = func(*dynamodb.Options)

// GetItem reads one item.
func (t *Table) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...Options) (*dynamodb.GetItemOutput, error) {
	k, err := t.exactKey(in.Key)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.GetItemOutput{}
	return out, t.around(ctx, &Call{Operation: "GetItem", Keys: []Key{k}, Input: in}, func() error {
		e, err := t.reader(in.ProjectionExpression, nil, in.ExpressionAttributeNames, nil)
		if err != nil {
			return err
		}
		out.Item = e.shown(t.at(k))
		return nil
	})
}

// reader returns the expressions of a read.
func (t *Table) reader(projection, filter *string, names map[string]string, values Item) (*expressions, error) {
	e, err := t.expressions(names, values)
	if err != nil {
		return nil, err
	}
	e.inProjection = e.parse(projection, "ProjectionExpression", projectionExpression)
	e.inFilter = e.parse(filter, "FilterExpression", conditionExpression)
	return e, e.complete()
}

// BatchGetItem reads up to 100 items, and at most 16 MB.
func (t *Table) BatchGetItem(
	ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...Options,
) (*dynamodb.BatchGetItemOutput, error) {
	if len(in.RequestItems) != 1 {
		return nil, invalid("a batch of this table names one table, not %d", len(in.RequestItems))
	}
	out := &dynamodb.BatchGetItemOutput{Responses: make(map[string][]Item), UnprocessedKeys: make(map[string]types.KeysAndAttributes)}
	for name, request := range in.RequestItems {
		c := &Call{Operation: "BatchGetItem", Input: in}
		for _, attributes := range request.Keys {
			k, err := t.exactKey(attributes)
			if err != nil {
				return nil, err
			}
			c.Keys = append(c.Keys, k)
		}
		if n := len(c.Keys); n == 0 || n > maxBatchKeys {
			return nil, invalid("Too many items requested for the BatchGetItem call, or none: %d", n)
		}
		if duplicated(c.Keys) {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		return out, t.around(ctx, c, func() error {
			items, left, err := t.batch(c, request)
			out.Responses[name] = items
			if left != nil {
				request.Keys = left
				out.UnprocessedKeys[name] = request
			}
			return err
		})
	}
	return out, nil
}

func (t *Table) batch(c *Call, request types.KeysAndAttributes) (items, left []Item, err error) {
	e, err := t.reader(request.ProjectionExpression, nil, request.ExpressionAttributeNames, nil)
	if err != nil {
		return nil, nil, err
	}
	bytes := 0
	for i, k := range c.Keys {
		item := t.committed(k, t.at(k))
		bytes += ItemSize(item)
		if c.Left[k] || bytes > maxBatchBytes {
			left = append(left, request.Keys[i])
		} else if item != nil {
			items = append(items, e.shown(item))
		}
	}
	return items, left, nil
}

// TransactGetItems reads up to 100 items as of one moment, and at most 4 MB.
func (t *Table) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, _ ...Options,
) (*dynamodb.TransactGetItemsOutput, error) {
	c := &Call{Operation: "TransactGetItems", Input: in}
	for _, get := range in.TransactItems {
		k, err := t.exactKey(get.Get.Key)
		if err != nil {
			return nil, err
		}
		c.Keys = append(c.Keys, k)
	}
	if n := len(c.Keys); n == 0 || n > maxTransaction {
		return nil, invalid("Member must have length less than or equal to %d, and at least 1: %d", maxTransaction, n)
	}
	if duplicated(c.Keys) {
		return nil, invalid("Transaction request cannot include multiple operations on one item")
	}
	out := &dynamodb.TransactGetItemsOutput{}
	return out, t.around(ctx, c, func() error {
		out.Responses = make([]types.ItemResponse, len(c.Keys))
		bytes := 0
		for i, k := range c.Keys {
			get := in.TransactItems[i].Get
			e, err := t.reader(get.ProjectionExpression, nil, get.ExpressionAttributeNames, nil)
			if err != nil {
				return err
			}
			item := t.at(k)
			if bytes += ItemSize(item); bytes > maxTransactBytes {
				return invalid("Transaction request has exceeded the maximum allowed size of %d bytes", maxTransactBytes)
			}
			out.Responses[i].Item = e.shown(item)
		}
		return nil
	})
}

// Query reads a page of rows of one partition, of the table or of an index.
func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...Options) (*dynamodb.QueryOutput, error) {
	c := &Call{Operation: "Query", Index: aws.ToString(in.IndexName), Input: in}
	e, q, err := t.query(in)
	if err != nil {
		return nil, err
	}
	c.Hash = q.hash
	out := &dynamodb.QueryOutput{}
	return out, t.around(ctx, c, func() error {
		p, err := t.page(e, q)
		if err != nil {
			return err
		}
		out.Items, out.Count, out.ScannedCount, out.LastEvaluatedKey = p.items, int32(p.matched), int32(p.scanned), p.last
		return nil
	})
}

// Scan reads a page of the whole table.
func (t *Table) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...Options) (*dynamodb.ScanOutput, error) {
	if in.IndexName != nil || in.Segment != nil {
		return nil, invalid("this table scans neither an index nor a segment")
	}
	t.mu.Lock()
	e, err := t.reader(in.ProjectionExpression, in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	q := &query{index: -1, forward: true, whole: true, limit: int(aws.ToInt32(in.Limit))}
	if in.ExclusiveStartKey != nil {
		if q.after, err = t.startOf(-1, in.ExclusiveStartKey); err != nil {
			return nil, err
		}
	}
	out := &dynamodb.ScanOutput{}
	return out, t.around(ctx, &Call{Operation: "Scan", Input: in}, func() error {
		p, err := t.page(e, q)
		if err != nil {
			return err
		}
		out.Items, out.Count, out.ScannedCount, out.LastEvaluatedKey = p.items, int32(p.matched), int32(p.scanned), p.last
		return nil
	})
}
