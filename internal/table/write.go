package table

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// change is one write: of PutItem, UpdateItem, or a part of a transaction.
type change struct {
	key     Key
	item    Item    // of a put
	update  *string // of an update
	delete  bool
	check   bool // no write
	where   *string
	names   map[string]string
	values  Item
	showOld bool // with a failed condition
}

// prepared is a change whose condition is met.
type prepared struct {
	key           Key
	before, after Item
	check         bool
}

// prepare checks the change against the table. refused means that the condition fails, and
// before is the item then.
func (t *Table) prepare(c change) (p prepared, refused bool, err error) {
	p = prepared{key: c.key, before: t.at(c.key), check: c.check}
	e, err := t.expressions(c.names, c.values)
	if err != nil {
		return p, false, err
	}
	e.inCondition = e.parse(c.where, "ConditionExpression", conditionExpression)
	e.inUpdate = e.parse(c.update, "UpdateExpression", updateExpression)
	if err := e.complete(); err != nil {
		return p, false, err
	}
	if !e.meets(e.inCondition, p.before) {
		return p, true, nil
	}
	switch {
	case c.check || c.delete:
	case c.item != nil:
		p.after = cloneItem(c.item)
	default:
		if p.after, err = t.updated(e, c.key, p.before); err != nil {
			return p, false, err
		}
	}
	if p.after != nil {
		err = t.checkItem(p.after)
	}
	return p, false, err
}

// updated returns the item after the update, or a new item.
func (t *Table) updated(e *expressions, k Key, before Item) (Item, error) {
	e.item = before
	var actions []action
	if e.inUpdate != nil {
		actions = e.inUpdate.updates
	}
	for _, a := range actions {
		if name := a.path[0].name.in(&e.scope); name == t.schema.Hash || name == t.schema.Sort {
			return nil, invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	after := e.apply(actions)
	if e.err != nil {
		return nil, e.err
	}
	after = cloneItem(after)
	after[t.schema.Hash] = &types.AttributeValueMemberS{Value: k.Hash}
	after[t.schema.Sort] = &types.AttributeValueMemberS{Value: k.Sort}
	return after, nil
}

// one makes a single write.
func (t *Table) one(ctx context.Context, operation string, in any, c change) (p prepared, err error) {
	call := &Call{Operation: operation, Keys: []Key{c.key}, Write: true, Input: in}
	return p, t.around(ctx, call, func() error {
		made, refused, err := t.prepare(c)
		switch {
		case err != nil:
			return err
		case refused:
			failed := &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}
			if c.showOld {
				failed.Item = made.before
			}
			return failed
		}
		if err := t.admit(call, made); err != nil {
			return err
		}
		p = made
		t.write(p.key, p.after, call.Lag)
		return nil
	})
}

func showsOld(v types.ReturnValuesOnConditionCheckFailure) bool {
	return v == types.ReturnValuesOnConditionCheckFailureAllOld
}

// PutItem writes a whole item.
func (t *Table) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...Options) (*dynamodb.PutItemOutput, error) {
	k, err := t.keyOf(in.Item)
	if err != nil {
		return nil, err
	}
	if in.ReturnValues != "" {
		return nil, invalid("PutItem of this table returns no values")
	}
	_, err = t.one(ctx, "PutItem", in, change{
		key: k, item: in.Item, where: in.ConditionExpression, names: in.ExpressionAttributeNames,
		values: in.ExpressionAttributeValues, showOld: showsOld(in.ReturnValuesOnConditionCheckFailure),
	})
	return &dynamodb.PutItemOutput{}, err
}

// UpdateItem changes attributes of an item, or creates it.
func (t *Table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...Options) (*dynamodb.UpdateItemOutput, error) {
	k, err := t.exactKey(in.Key)
	if err != nil {
		return nil, err
	}
	if in.ReturnValues != "" && in.ReturnValues != types.ReturnValueAllNew {
		return nil, invalid("UpdateItem of this table returns ALL_NEW, and not %s", in.ReturnValues)
	}
	p, err := t.one(ctx, "UpdateItem", in, change{
		key: k, update: in.UpdateExpression, where: in.ConditionExpression, names: in.ExpressionAttributeNames,
		values: in.ExpressionAttributeValues, showOld: showsOld(in.ReturnValuesOnConditionCheckFailure),
	})
	out := &dynamodb.UpdateItemOutput{}
	if in.ReturnValues == types.ReturnValueAllNew {
		out.Attributes = p.after
	}
	return out, err
}

// BatchWriteItem puts and deletes up to 25 items. It is no transaction.
func (t *Table) BatchWriteItem(
	ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...Options,
) (*dynamodb.BatchWriteItemOutput, error) {
	if len(in.RequestItems) != 1 {
		return nil, invalid("a batch of this table names one table, not %d", len(in.RequestItems))
	}
	out := &dynamodb.BatchWriteItemOutput{UnprocessedItems: make(map[string][]types.WriteRequest)}
	for name, requests := range in.RequestItems {
		c := &Call{Operation: "BatchWriteItem", Write: true, Input: in}
		for _, r := range requests {
			k, err := t.keyOfRequest(r)
			if err != nil {
				return nil, err
			}
			c.Keys = append(c.Keys, k)
		}
		if n := len(c.Keys); n == 0 || n > maxBatchWrites {
			return nil, invalid("Too many items requested for the BatchWriteItem call, or none: %d", n)
		}
		if duplicated(c.Keys) {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		return out, t.around(ctx, c, func() error {
			delete(out.UnprocessedItems, name)
			for i, k := range c.Keys {
				if c.Left[k] {
					out.UnprocessedItems[name] = append(out.UnprocessedItems[name], requests[i])
				} else if put := requests[i].PutRequest; put != nil {
					t.write(k, cloneItem(put.Item), c.Lag)
				} else {
					t.write(k, nil, c.Lag)
				}
			}
			return nil
		})
	}
	return out, nil
}

func (t *Table) keyOfRequest(r types.WriteRequest) (Key, error) {
	switch {
	case r.PutRequest != nil && r.DeleteRequest == nil:
		if err := t.checkItem(r.PutRequest.Item); err != nil {
			return Key{}, err
		}
		return t.keyOf(r.PutRequest.Item)
	case r.DeleteRequest != nil && r.PutRequest == nil:
		return t.exactKey(r.DeleteRequest.Key)
	}
	return Key{}, invalid("a write is a put or a delete")
}
