package table

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// verb is what a change does.
type verb int

const (
	put verb = iota
	update
	drop
)

// terms are the expressions of a change as the request gives them.
type terms struct {
	update, condition *string
	names             map[string]string
	values            Item
	shows             types.ReturnValuesOnConditionCheckFailure
}

// change is one write: of PutItem, UpdateItem, or a part of a transaction. It shares
// nothing with the request.
type change struct {
	verb  verb
	key   Key
	item  Item // of a put
	shows types.ReturnValuesOnConditionCheckFailure
	made  *expressions
}

// change checks all of a write that needs no item of the table. attributes are the key, or
// the item of a put.
func (t *Table) change(v verb, attributes Item, w terms) (c change, err error) {
	c = change{verb: v, shows: w.shows}
	if v == put {
		if err := t.checkItem(attributes); err != nil {
			return c, err
		}
		c.item = cloneItem(attributes)
		c.key, err = t.keyOf(attributes)
	} else {
		c.key, err = t.exactKey(attributes)
	}
	if err != nil {
		return c, err
	}
	if w.shows != "" && w.shows != types.ReturnValuesOnConditionCheckFailureAllOld {
		return c, invalid("a failed condition of this table shows ALL_OLD, and not %s", w.shows)
	}
	made := t.expressions(maps.Clone(w.names), w.values)
	if made.err != nil {
		return c, made.err
	}
	made.values = cloneItem(w.values)
	made.inCondition = made.parse(w.condition, "ConditionExpression", conditionExpression)
	made.inUpdate = made.parse(w.update, "UpdateExpression", updateExpression)
	if err := made.complete(); err != nil {
		return c, err
	}
	c.made = made
	return c, t.keepsKey(made)
}

// keepsKey returns an error for an update of the primary key.
func (t *Table) keepsKey(e *expressions) error {
	if e.inUpdate == nil {
		return nil
	}
	for _, a := range e.inUpdate.updates {
		if name := a.path[0].in(&e.scope); name == t.schema.Hash || name == t.schema.Sort {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	return nil
}

// prepare makes the item after the change; nil: none. refused means that the condition
// fails.
func (t *Table) prepare(c change, before Item) (after Item, refused bool, err error) {
	switch {
	case !c.made.meets(c.made.inCondition, before):
		return nil, true, nil
	case c.verb == put:
		return c.item, false, nil
	case c.verb != update:
		return nil, false, nil
	}
	s := c.made.scope
	s.item = before
	var actions []action
	if c.made.inUpdate != nil {
		actions = c.made.inUpdate.updates
	}
	if after = s.apply(actions); s.err != nil {
		return nil, false, s.err
	}
	after[t.schema.Hash] = &types.AttributeValueMemberS{Value: c.key.Hash}
	after[t.schema.Sort] = &types.AttributeValueMemberS{Value: c.key.Sort}
	return after, false, t.checkItem(after)
}

// one makes a single write, and returns the item after it.
func (t *Table) one(ctx context.Context, operation string, in any, c change) (after Item, err error) {
	call := &Call{Operation: operation, Keys: []Key{c.key}, Write: true, Input: in}
	err = t.around(ctx, call, func() error {
		before := t.at(c.key)
		made, refused, err := t.prepare(c, before)
		switch {
		case err != nil:
			return err
		case refused:
			t.answered(c.key)
			failed := &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}
			if c.shows != "" {
				failed.Item = before
			}
			return failed
		}
		if err := t.admit(call, []change{c}, []Item{before}, []Item{made}); err != nil {
			return err
		}
		after = made
		t.write(c.key, after, call.Lag)
		return nil
	})
	return after, err
}

// PutItem writes a whole item.
func (t *Table) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...Options) (*dynamodb.PutItemOutput, error) {
	if err := t.request(in.TableName, in, "TableName", "Item", "ConditionExpression", "ExpressionAttributeNames",
		"ExpressionAttributeValues", "ReturnValuesOnConditionCheckFailure"); err != nil {
		return nil, err
	}
	c, err := t.change(put, in.Item, terms{
		condition: in.ConditionExpression, names: in.ExpressionAttributeNames,
		values: in.ExpressionAttributeValues, shows: in.ReturnValuesOnConditionCheckFailure,
	})
	if err != nil {
		return nil, err
	}
	if _, err := t.one(ctx, "PutItem", in, c); err != nil {
		return nil, err
	}
	return &dynamodb.PutItemOutput{}, nil
}

// UpdateItem changes attributes of an item, or creates it.
func (t *Table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...Options) (*dynamodb.UpdateItemOutput, error) {
	if err := t.request(in.TableName, in, "TableName", "Key", "UpdateExpression", "ConditionExpression", "ExpressionAttributeNames",
		"ExpressionAttributeValues", "ReturnValues", "ReturnValuesOnConditionCheckFailure"); err != nil {
		return nil, err
	}
	if in.ReturnValues != "" && in.ReturnValues != types.ReturnValueAllNew {
		return nil, invalid("UpdateItem of this table returns ALL_NEW, and not %s", in.ReturnValues)
	}
	c, err := t.change(update, in.Key, terms{
		update: in.UpdateExpression, condition: in.ConditionExpression, names: in.ExpressionAttributeNames,
		values: in.ExpressionAttributeValues, shows: in.ReturnValuesOnConditionCheckFailure,
	})
	if err != nil {
		return nil, err
	}
	after, err := t.one(ctx, "UpdateItem", in, c)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.UpdateItemOutput{}
	if in.ReturnValues == types.ReturnValueAllNew {
		out.Attributes = after
	}
	return out, nil
}
