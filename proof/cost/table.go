package cost

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

// countedRowBytes is the size of a row that is counted, and not answered: a delivery in the index by_endpoint.
const countedRowBytes = 200

// change is one write of a request.
type change struct {
	key   Item // the key, or an item that contains it
	after Item // the item after the write; nil: it is deleted
}

// recordTable counts one request to DynamoDB. A request that fails costs nothing, unless a condition
// failed or the transaction was cancelled.
func (l *Ledger) recordTable(ctx context.Context, op string, in, out any, err error) {
	_, refused := errors.AsType[*types.ConditionalCheckFailedException](err)
	_, cancelled := errors.AsType[*types.TransactionCanceledException](err)
	if err != nil && !refused && !cancelled {
		return
	}
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		o, _ := out.(*dynamodb.GetItemOutput)
		l.read(op, l.kind(in.Key), ReadUnits(table.ItemSize(o.Item), aws.ToBool(in.ConsistentRead)))
	case *dynamodb.BatchGetItemInput:
		o, _ := out.(*dynamodb.BatchGetItemOutput)
		l.readBatch(op, in, o)
	case *dynamodb.TransactGetItemsInput:
		o, _ := out.(*dynamodb.TransactGetItemsOutput)
		l.readTransaction(op, in, o)
	case *dynamodb.QueryInput:
		o, _ := out.(*dynamodb.QueryOutput)
		size := 0
		if in.Select == types.SelectCount {
			size = int(o.ScannedCount) * countedRowBytes
		}
		for _, item := range o.Items {
			size += table.ItemSize(item)
		}
		l.read(op, "", ReadUnits(size, aws.ToBool(in.ConsistentRead)))
	case *dynamodb.PutItemInput:
		l.write(op, refused, change{in.Item, in.Item})
	case *dynamodb.UpdateItemInput:
		after, peekErr := l.updated(ctx, in, out)
		if peekErr != nil {
			l.fault(peekErr)
		}
		l.write(op, refused, change{in.Key, after})
	case *dynamodb.TransactWriteItemsInput:
		l.transact(ctx, op, cancelled, in)
	default:
		l.fault(fmt.Errorf("%s of DynamoDB", op))
	}
}

// updated returns the item after an update, from the response or else from the table.
func (l *Ledger) updated(ctx context.Context, in *dynamodb.UpdateItemInput, out any) (Item, error) {
	if o, ok := out.(*dynamodb.UpdateItemOutput); ok && o != nil && in.ReturnValues == types.ReturnValueAllNew {
		return o.Attributes, nil
	}
	return l.peek(ctx, in.Key)
}

// readBatch counts each item, and each key without an item, as a separate read. Unprocessed keys cost
// nothing.
func (l *Ledger) readBatch(op string, in *dynamodb.BatchGetItemInput, out *dynamodb.BatchGetItemOutput) {
	units := 0.0
	for name, ask := range in.RequestItems {
		missing := len(ask.Keys) - len(out.Responses[name]) - len(out.UnprocessedKeys[name].Keys)
		units += float64(missing) * ReadUnits(0, aws.ToBool(ask.ConsistentRead))
		for _, item := range out.Responses[name] {
			units += ReadUnits(table.ItemSize(item), aws.ToBool(ask.ConsistentRead))
		}
	}
	l.read(op, "", units)
}

// readTransaction counts each key as a consistent read, times the factor of a transaction.
func (l *Ledger) readTransaction(op string, in *dynamodb.TransactGetItemsInput, out *dynamodb.TransactGetItemsOutput) {
	units := 0.0
	for i := range in.TransactItems {
		size := 0
		if out != nil && i < len(out.Responses) {
			size = table.ItemSize(out.Responses[i].Item)
		}
		units += transactional * ReadUnits(size, true)
	}
	l.read(op, "", units)
}

func (l *Ledger) read(op, kind string, units float64) {
	l.mu.Lock()
	defer l.mu.Unlock()

	name := strings.TrimSpace(op + " " + kind)
	l.requests[name]++
	l.units["read "+name] += units
	l.usage[ReadUnit] += units
}

func (l *Ledger) write(op string, refused bool, c change) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.requests[op+" "+l.kind(c.key)]++
	l.apply(c, refused, 1)
}

// transact counts a transaction as one request, of the kind of its first item.
func (l *Ledger) transact(ctx context.Context, op string, cancelled bool, in *dynamodb.TransactWriteItemsInput) {
	changes := make([]change, 0, len(in.TransactItems))
	for _, item := range in.TransactItems {
		switch {
		case item.Put != nil:
			changes = append(changes, change{item.Put.Item, item.Put.Item})
		case item.Update != nil:
			after, err := l.peek(ctx, item.Update.Key)
			if err != nil {
				l.fault(err)
			}
			changes = append(changes, change{item.Update.Key, after})
		case item.Delete != nil:
			changes = append(changes, change{item.Delete.Key, nil})
		default:
			l.fault(fmt.Errorf("%s with a condition check", op))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()

	l.requests[op+" "+l.kind(changes[0].key)]++
	for _, c := range changes {
		l.apply(c, cancelled, transactional)
	}
}

// apply counts a write, and remembers the footprint of the item unless the write was refused. times is the
// factor of a transaction, or 1.
func (l *Ledger) apply(c change, refused bool, times float64) {
	id, kind := l.identity(c.key), l.kind(c.key)
	before, after := l.items[id], FootprintOf(l.schema, c.after)
	units := RefusedUnits(before) * times
	if !refused {
		units = WriteUnits(before, after) * times
		l.items[id] = after
		all, outside := after.Stored()
		allBefore, outsideBefore := before.Stored()
		l.usage[StoredByte] += float64(all - allBefore)
		l.usage[BackedByte] += float64(outside - outsideBefore)
		l.sizes[kind] = max(l.sizes[kind], after.bytes)
	}
	l.units["write "+kind] += units
	l.usage[WriteUnit] += units
}

func (l *Ledger) identity(key Item) string {
	return word(key[l.schema.Hash]) + "\x00" + word(key[l.schema.Sort])
}

// kind returns the start of the item's sort key, such as "event" or "delivery".
func (l *Ledger) kind(key Item) string {
	kind, _, _ := strings.Cut(word(key[l.schema.Sort]), "#")
	return kind
}

func word(value types.AttributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}
