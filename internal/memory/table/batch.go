package table

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// single returns the request of a batch for this table.
func single[T any](t *Table, requests map[string]T) (request T, err error) {
	if len(requests) != 1 {
		return request, invalid("a batch of this table names one table, not %d", len(requests))
	}
	for name, request := range requests {
		return request, t.named(&name)
	}
	return request, nil
}

// throttled is the error of a batch of which nothing was made.
func throttled() error {
	return &types.ProvisionedThroughputExceededException{Message: aws.String("every part of the batch is left")}
}

// BatchGetItem reads up to 100 items, and at most 16 MB.
func (t *Table) BatchGetItem(
	ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...Options,
) (*dynamodb.BatchGetItemOutput, error) {
	if err := t.only(in, "RequestItems"); err != nil {
		return nil, err
	}
	request, err := single(t, in.RequestItems)
	if err != nil {
		return nil, err
	}
	if err := t.only(&request, "Keys", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"); err != nil {
		return nil, err
	}
	e, err := t.reader(request.ProjectionExpression, nil, request.ExpressionAttributeNames, nil)
	if err != nil {
		return nil, err
	}
	c := &Call{Operation: "BatchGetItem", Input: in}
	if c.Keys, err = t.batchKeys(len(request.Keys), maxBatchKeys, func(i int) (Key, error) { return t.exactKey(request.Keys[i]) }); err != nil {
		return nil, err
	}
	return answer(ctx, t, c, func() (*dynamodb.BatchGetItemOutput, error) {
		items, left := t.batch(c, e, request.Keys)
		if len(left) == len(c.Keys) {
			return nil, throttled()
		}
		out := &dynamodb.BatchGetItemOutput{
			Responses: map[string][]Item{t.schema.Name: items}, UnprocessedKeys: make(map[string]types.KeysAndAttributes),
		}
		if left != nil {
			rest := request
			rest.Keys = left
			out.UnprocessedKeys[t.schema.Name] = rest
		}
		return out, nil
	})
}

// batchKeys returns the keys of a batch of n parts.
func (t *Table) batchKeys(n, most int, key func(i int) (Key, error)) ([]Key, error) {
	if n == 0 || n > most {
		return nil, invalid("Too many items requested for the batch, or none: %d; most are %d", n, most)
	}
	keys := make([]Key, n)
	for i := range n {
		var err error
		if keys[i], err = key(i); err != nil {
			return nil, err
		}
	}
	if duplicated(keys) {
		return nil, invalid("Provided list of item keys contains duplicates")
	}
	return keys, nil
}

func (t *Table) batch(c *Call, e *expressions, keys []Item) (items, left []Item) {
	bytes := 0
	for i, k := range c.Keys {
		item := t.committed(k, t.at(k))
		bytes += ItemSize(item)
		if c.Left[k] || bytes > maxBatchBytes {
			left = append(left, keys[i])
		} else if item != nil {
			items = append(items, e.shown(item))
		}
	}
	return items, left
}

// BatchWriteItem deletes up to 25 items. It is no transaction.
func (t *Table) BatchWriteItem(
	ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...Options,
) (*dynamodb.BatchWriteItemOutput, error) {
	if err := t.only(in, "RequestItems"); err != nil {
		return nil, err
	}
	requests, err := single(t, in.RequestItems)
	if err != nil {
		return nil, err
	}
	c := &Call{Operation: "BatchWriteItem", Write: true, Input: in}
	if c.Keys, err = t.batchKeys(len(requests), maxBatchWrites, func(i int) (Key, error) {
		if r := requests[i]; r.DeleteRequest != nil && r.PutRequest == nil {
			return t.exactKey(r.DeleteRequest.Key)
		}
		return Key{}, invalid("a batch of writes of this table deletes")
	}); err != nil {
		return nil, err
	}
	return answer(ctx, t, c, func() (*dynamodb.BatchWriteItemOutput, error) {
		var left []types.WriteRequest
		for i, k := range c.Keys {
			if c.Left[k] {
				left = append(left, requests[i])
			} else {
				t.write(k, nil, c.Lag)
			}
		}
		if len(left) == len(requests) {
			return nil, throttled()
		}
		out := &dynamodb.BatchWriteItemOutput{UnprocessedItems: make(map[string][]types.WriteRequest)}
		if left != nil {
			out.UnprocessedItems[t.schema.Name] = left
		}
		return out, nil
	})
}
