package table

import (
	"context"
	"crypto/rand"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tokenKept is how long a repeated transaction with the same token changes nothing.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const tokenKept = 10 * time.Minute

// token is the token of a transaction that was made.
type token struct {
	items []types.TransactWriteItem
	at    time.Time
}

// TransactWriteItems makes up to 100 writes, or none.
func (t *Table) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...Options,
) (*dynamodb.TransactWriteItemsOutput, error) {
	call := &Call{Operation: "TransactWriteItems", Write: true, Input: in}
	var changes []change
	bytes := 0
	for _, item := range in.TransactItems {
		c, err := t.changeOf(item)
		if err != nil {
			return nil, err
		}
		changes, call.Keys = append(changes, c), append(call.Keys, c.key)
		bytes += ItemSize(c.item)
	}
	if n := len(changes); n == 0 || n > maxTransaction {
		return nil, invalid("Member must have length less than or equal to %d, and at least 1: %d", maxTransaction, n)
	}
	if duplicated(call.Keys) {
		return nil, invalid("Transaction request cannot include multiple operations on one item")
	}
	if bytes > maxTransactBytes {
		return nil, invalid("Transaction request has exceeded the maximum allowed size of %d bytes", maxTransactBytes)
	}
	id := aws.ToString(in.ClientRequestToken)
	if id == "" { // as the SDK does, once for all tries
		id = rand.Text()
		defer t.forget(id)
	}
	err := t.around(ctx, call, func() error {
		if made, ok := t.tokens[id]; ok && t.now().Sub(made.at) < tokenKept {
			if !reflect.DeepEqual(made.items, in.TransactItems) {
				return &types.IdempotentParameterMismatchException{Message: aws.String("the token is of another transaction")}
			}
			return nil
		}
		if err := t.commit(call, changes); err != nil {
			return err
		}
		t.tokens[id] = token{in.TransactItems, t.now()}
		return nil
	})
	return &dynamodb.TransactWriteItemsOutput{}, err
}

func (t *Table) forget(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()

	delete(t.tokens, token)
}

// commit makes all changes, or none when a condition fails. The reasons have the order of
// the changes.
func (t *Table) commit(call *Call, changes []change) error {
	all := make([]prepared, len(changes))
	reasons := make([]types.CancellationReason, len(changes))
	failed := false
	for i, c := range changes {
		p, refused, err := t.prepare(c)
		if err != nil {
			return err
		}
		all[i] = p
		reasons[i].Code = aws.String("None")
		if refused {
			failed = true
			reasons[i] = types.CancellationReason{
				Code: aws.String("ConditionalCheckFailed"), Message: aws.String("The conditional request failed"),
			}
			if c.showOld {
				reasons[i].Item = p.before
			}
		}
	}
	if failed {
		return &types.TransactionCanceledException{
			Message: aws.String("Transaction cancelled, please refer cancellation reasons for specific reasons"), CancellationReasons: reasons,
		}
	}
	if err := t.admit(call, all...); err != nil {
		return err
	}
	for _, p := range all {
		if !p.check {
			t.hide(call, p.key, p.before)
			t.write(p.key, p.after, call.Lag)
		}
	}
	return nil
}

// changeOf returns a part of a transaction.
func (t *Table) changeOf(w types.TransactWriteItem) (c change, err error) {
	switch {
	case w.Put != nil:
		c = change{
			item: w.Put.Item, where: w.Put.ConditionExpression, names: w.Put.ExpressionAttributeNames,
			values: w.Put.ExpressionAttributeValues, showOld: showsOld(w.Put.ReturnValuesOnConditionCheckFailure),
		}
		c.key, err = t.keyOf(w.Put.Item)
	case w.Update != nil:
		c = change{
			update: w.Update.UpdateExpression, where: w.Update.ConditionExpression, names: w.Update.ExpressionAttributeNames,
			values: w.Update.ExpressionAttributeValues, showOld: showsOld(w.Update.ReturnValuesOnConditionCheckFailure),
		}
		c.key, err = t.exactKey(w.Update.Key)
	case w.Delete != nil:
		c = change{
			delete: true, where: w.Delete.ConditionExpression, names: w.Delete.ExpressionAttributeNames,
			values: w.Delete.ExpressionAttributeValues, showOld: showsOld(w.Delete.ReturnValuesOnConditionCheckFailure),
		}
		c.key, err = t.exactKey(w.Delete.Key)
	case w.ConditionCheck != nil:
		c = change{
			check: true, where: w.ConditionCheck.ConditionExpression, names: w.ConditionCheck.ExpressionAttributeNames,
			values: w.ConditionCheck.ExpressionAttributeValues, showOld: showsOld(w.ConditionCheck.ReturnValuesOnConditionCheckFailure),
		}
		c.key, err = t.exactKey(w.ConditionCheck.Key)
	default:
		err = invalid("a part of a transaction is a put, an update, a delete or a check")
	}
	return c, err
}
