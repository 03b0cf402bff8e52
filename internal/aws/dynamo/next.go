package dynamo

import (
	"context"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// next returns the write of an item that was read in the version, given as the struct of the next
// version. Version 0 creates the item. Any other version updates all attributes of the struct and
// keeps the others, so that an older build drops no attribute of a later one. A map inside an
// item is written as a whole, so a new setting must be an attribute of its own.
func (s *Store) next(item any, version int64) write {
	return s.nextIf(item, version, asRead(version))
}

// nextIf is next with the given condition, which must imply that the stored item has the version.
func (s *Store) nextIf(item any, version int64, guard condition) write {
	w := s.put(item, guard)
	if version == 0 {
		return w
	}
	put := w.Put
	update := &types.Update{
		TableName: s.table, Key: make(map[string]types.AttributeValue), ConditionExpression: put.ConditionExpression,
		ExpressionAttributeNames: make(map[string]string), ExpressionAttributeValues: make(map[string]types.AttributeValue),
	}
	maps.Copy(update.ExpressionAttributeNames, put.ExpressionAttributeNames)
	maps.Copy(update.ExpressionAttributeValues, put.ExpressionAttributeValues)
	var set, remove []string
	for i, p := range partsOf(reflect.TypeOf(item)) {
		attribute := p.name
		value, ok := put.Item[attribute]
		n := strconv.Itoa(i)
		switch {
		case attribute == names.PartitionKey || attribute == names.SortKey:
			update.Key[attribute] = value
			continue
		case ok:
			set = append(set, "#f"+n+" = :f"+n)
			update.ExpressionAttributeValues[":f"+n] = value
		default:
			remove = append(remove, "#f"+n)
		}
		update.ExpressionAttributeNames["#f"+n] = attribute
	}
	expression := "SET " + strings.Join(set, ", ")
	if len(remove) > 0 {
		expression += " REMOVE " + strings.Join(remove, ", ")
	}
	update.UpdateExpression = &expression
	return write{TransactWriteItem: types.TransactWriteItem{Update: update}}
}

const (
	writerPrefix = "w"
	// writers is how many different attributes hold the writers of an item's versions: w0 to w7,
	// in turn. While the response to a write is lost, for 2 s, others may write.
	writers = 8
	// writerLength is 40 random bits, which need only distinguish the writers of one version.
	writerLength = 8
)

// saveNext makes a single write of next. If there is no response, the SDK repeats the request,
// and its condition fails because of its own write. So each version names its writer, and a
// repetition that finds its own name has succeeded.
func (s *Store) saveNext(ctx context.Context, op string, item any, version int64) error {
	w := s.next(item, version)
	slot, own := writerPrefix+strconv.FormatInt((version+1)%writers, 10), hook.NewNonce()[:writerLength]
	if w.Put != nil {
		w.Put.Item[slot] = text(own)
	} else {
		set := "SET #fw = :fw, " + strings.TrimPrefix(*w.Update.UpdateExpression, "SET ")
		w.Update.UpdateExpression = &set
		w.Update.ExpressionAttributeNames["#fw"], w.Update.ExpressionAttributeValues[":fw"] = slot, text(own)
	}
	return s.commit(ctx, op, w.asking(func(stored map[string]types.AttributeValue) error {
		if writer, ok := stored[slot].(*types.AttributeValueMemberS); ok && writer.Value == own {
			return nil
		}
		return hook.Conflict(changedMeanwhile)
	}))
}
