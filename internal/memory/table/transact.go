package table

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// tokenKept is how long a repeated transaction with the same token changes nothing.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const tokenKept = 10 * time.Minute

// TransactWriteItems makes up to 100 writes, or none. Around may repeat it, as a client that lost
// the answer repeats the token of the SDK.
func (t *Table) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...Options,
) (*dynamodb.TransactWriteItemsOutput, error) {
	if err := t.only(in, "TransactItems", "ClientRequestToken"); err != nil {
		return nil, err
	}
	if n := len(in.TransactItems); n == 0 || n > maxTransaction {
		return nil, invalid("a transaction has 1 to %d parts, and not %d", maxTransaction, n)
	}
	call := &Call{Operation: "TransactWriteItems", Write: true, Input: in}
	changes := make([]change, len(in.TransactItems))
	for i, item := range in.TransactItems {
		c, err := t.part(item)
		if err != nil {
			return nil, err
		}
		changes[i], call.Keys = c, append(call.Keys, c.key)
	}
	if duplicated(call.Keys) {
		return nil, invalid("Transaction request cannot include multiple operations on one item")
	}
	made := false // before, by this call
	return answer(ctx, t, call, func() (*dynamodb.TransactWriteItemsOutput, error) {
		if id := aws.ToString(in.ClientRequestToken); !made && !t.repeated(id) {
			if err := t.commit(call, changes); err != nil {
				return nil, err
			}
			t.tokens[id], made = t.now(), true
		}
		return &dynamodb.TransactWriteItemsOutput{}, nil
	})
}

// repeated reports whether a transaction with the token was made. It does not compare the two.
func (t *Table) repeated(id string) bool {
	at, made := t.tokens[id]
	return made && id != "" && t.now().Sub(at) < tokenKept
}

// commit makes all changes, or none when one fails. The reasons have the order of the
// changes.
func (t *Table) commit(call *Call, changes []change) error {
	before, after := make([]Item, len(changes)), make([]Item, len(changes))
	reasons := make([]types.CancellationReason, len(changes))
	failed, bytes := false, 0
	for i, c := range changes {
		before[i] = t.at(c.key)
		made, refused, err := t.prepare(c, before[i])
		reasons[i].Code = aws.String("None")
		if refused || err != nil {
			failed = true
			reasons[i] = reason(c, t.answered(c.key), err)
		}
		after[i] = made
		bytes += max(ItemSize(made), ItemSize(c.item))
	}
	if failed {
		return &types.TransactionCanceledException{
			Message: aws.String("Transaction cancelled, please refer cancellation reasons for specific reasons"), CancellationReasons: reasons,
		}
	}
	if bytes > maxTransactBytes {
		return invalid("Transaction request has exceeded the maximum allowed size of %d bytes", maxTransactBytes)
	}
	if err := t.admit(call, changes, before, after); err != nil {
		return err
	}
	for i, c := range changes {
		t.hide(call, c.key, before[i], after[i])
	}
	return nil
}

// reason returns why a change fails: of an error, or of its condition. The message of an
// error that depends on the item is a reason, too:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
func reason(c change, before Item, err error) types.CancellationReason {
	var invalid *smithy.GenericAPIError
	if errors.As(err, &invalid) {
		return types.CancellationReason{Code: aws.String("ValidationError"), Message: aws.String(invalid.Message)}
	}
	why := types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("The conditional request failed")}
	if c.shows != "" {
		why.Item = before
	}
	return why
}

// part returns a part of a transaction.
func (t *Table) part(w types.TransactWriteItem) (change, error) {
	fields := []string{"TableName", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValuesOnConditionCheckFailure"}
	set := 0
	for _, given := range []bool{w.Put != nil, w.Update != nil, w.Delete != nil} {
		if given {
			set++
		}
	}
	switch p, u, d := w.Put, w.Update, w.Delete; {
	case set != 1 || w.ConditionCheck != nil:
	case p != nil:
		if err := t.request(p.TableName, p, append(fields, "Item")...); err != nil {
			return change{}, err
		}
		return t.change(put, p.Item, terms{nil, p.ConditionExpression, p.ExpressionAttributeNames, p.ExpressionAttributeValues, p.ReturnValuesOnConditionCheckFailure})
	case u != nil && u.UpdateExpression != nil:
		if err := t.request(u.TableName, u, append(fields, "Key", "UpdateExpression")...); err != nil {
			return change{}, err
		}
		return t.change(update, u.Key, terms{u.UpdateExpression, u.ConditionExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues, u.ReturnValuesOnConditionCheckFailure})
	case d != nil:
		if err := t.request(d.TableName, d, append(fields, "Key")...); err != nil {
			return change{}, err
		}
		return t.change(drop, d.Key, terms{nil, d.ConditionExpression, d.ExpressionAttributeNames, d.ExpressionAttributeValues, d.ReturnValuesOnConditionCheckFailure})
	}
	return change{}, invalid("a part of a transaction of this table is one of a put, an update with an expression, and a delete")
}
