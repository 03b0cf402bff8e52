package table

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// A repeated transaction with the same token changes nothing for so long.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const (
	tokenKept     = 10 * time.Minute
	maxTokenBytes = 36
)

// token is the token of a transaction that was made.
type token struct {
	parts []change // without what is parsed
	at    time.Time
}

// TransactWriteItems makes up to 100 writes, or none. Without a token it has one of its
// own, as the SDK gives it, so that Around may repeat it.
func (t *Table) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...Options,
) (*dynamodb.TransactWriteItemsOutput, error) {
	id := aws.ToString(in.ClientRequestToken)
	if err := t.only(in, "TransactItems", "ClientRequestToken"); err != nil {
		return nil, err
	}
	if n := len(in.TransactItems); n == 0 || n > maxTransaction || len(id) > maxTokenBytes {
		return nil, invalid("a transaction has 1 to %d parts, and a token of at most %d bytes: %d, %q", maxTransaction, maxTokenBytes, n, id)
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
	made := false // this call, before
	err := t.around(ctx, call, func() error {
		if same, err := t.repeated(id, changes); made || same || err != nil {
			return err
		}
		if err := t.commit(call, changes); err != nil {
			return err
		}
		if made = true; id != "" {
			t.tokens[id] = token{unparsed(changes), t.now()}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

// repeated reports whether the transaction of the token was made.
func (t *Table) repeated(id string, changes []change) (bool, error) {
	if id == "" {
		return false, nil
	}
	now := t.now()
	maps.DeleteFunc(t.tokens, func(_ string, made token) bool { return now.Sub(made.at) >= tokenKept })
	made, ok := t.tokens[id]
	if ok && !reflect.DeepEqual(made.parts, unparsed(changes)) {
		return false, &types.IdempotentParameterMismatchException{Message: aws.String("the token is of another transaction")}
	}
	return ok, nil
}

func unparsed(changes []change) []change {
	all := make([]change, len(changes))
	for i, c := range changes {
		all[i] = c
		all[i].made = nil
	}
	return all
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
	if c.terms.shows != "" {
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
