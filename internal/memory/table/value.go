package table

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item in the types of the SDK.
type Item = map[string]types.AttributeValue

// compare orders two strings or numbers. Values of different types, and absent values, have no order and
// are not equal.
func compare(a, b types.AttributeValue) (order int, ok bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, ok := b.(*types.AttributeValueMemberN); ok {
			return compareNumbers(a.Value, b.Value), true
		}
	}
	return 0, false
}

// setOf is a set: the elements as text, and their type "S" or "N".
type setOf struct {
	kind string
	all  []string
}

// elements returns the elements of a set.
func elements(v types.AttributeValue) (set setOf, ok bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		return setOf{"S", v.Value}, true
	case *types.AttributeValueMemberNS:
		return setOf{"N", v.Value}, true
	}
	return setOf{}, false
}

// value returns the set as a value; nil for an empty set.
func (s setOf) value() types.AttributeValue {
	switch {
	case len(s.all) == 0:
		return nil
	case s.kind == "S":
		return &types.AttributeValueMemberSS{Value: s.all}
	}
	return &types.AttributeValueMemberNS{Value: s.all}
}

// kindOfValue returns the type of a value as requests name it.
func kindOfValue(v types.AttributeValue) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", v), "*types.AttributeValueMember")
}
