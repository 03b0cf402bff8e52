package dynamo

import (
	"context"
	"reflect"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// next returns the write of the next version of an item that was read in the version. Version 0
// creates the item. Any other version updates all attributes of the records and keeps the others, so
// that an older build drops no attribute of a later one. A map inside an item is written as a whole,
// so a new setting must be an attribute of its own.
func (s *Store) next(k key, version int64, records ...any) write {
	return s.nextIf(k, version, asRead(version), records...)
}

// nextIf is next with the given condition, which must imply that the stored item has the version.
func (s *Store) nextIf(k key, version int64, guard condition, records ...any) write {
	w := s.put(k, guard, records...)
	w.Put.Item["version"] = number(version + 1)
	if version == 0 {
		return w
	}
	var set, remove []string
	fields, values := make(map[string]string), make(attributes)
	for _, record := range records {
		for _, p := range partsOf(reflect.TypeOf(record)) {
			n := strconv.Itoa(len(fields))
			if value, ok := w.Put.Item[p.name]; ok {
				set = append(set, "#f"+n+" = :f"+n)
				values[":f"+n] = value
			} else {
				remove = append(remove, "#f"+n)
			}
			fields["#f"+n] = p.name
		}
	}
	return s.update(k, setting(set, remove), guard.and(condition{names: fields}), values)
}

// setting returns the update expression that sets and removes attributes.
func setting(set, remove []string) string {
	var clauses []string
	if len(set) > 0 {
		clauses = append(clauses, "SET "+strings.Join(set, ", "))
	}
	if len(remove) > 0 {
		clauses = append(clauses, "REMOVE "+strings.Join(remove, ", "))
	}
	return strings.Join(clauses, " ")
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
func (s *Store) saveNext(ctx context.Context, op string, k key, version int64, records ...any) error {
	w := s.next(k, version, records...)
	slot, own := writerPrefix+strconv.FormatInt((version+1)%writers, 10), hook.NewNonce()[:writerLength]
	if w.Put != nil {
		w.Put.Item[slot] = text(own)
	} else {
		set := "SET #fw = :fw, " + strings.TrimPrefix(*w.Update.UpdateExpression, "SET ")
		w.Update.UpdateExpression = &set
		w.Update.ExpressionAttributeNames["#fw"], w.Update.ExpressionAttributeValues[":fw"] = slot, text(own)
	}
	return s.commit(ctx, op, w.asking(func(stored attributes) error {
		if writer, ok := stored[slot].(*types.AttributeValueMemberS); ok && writer.Value == own {
			return nil
		}
		return hook.Conflict(changedMeanwhile)
	}))
}
