package table

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item in the types of the SDK.
type Item = map[string]types.AttributeValue

// compares reports whether a and b are in the relation. Values of different types, and
// absent values, are in no relation.
func compares(operator string, a, b types.AttributeValue) bool {
	if operator == "=" {
		return equal(a, b)
	}
	order, ok := compare(a, b)
	return ok && (order < 0 || order == 0 && operator == "<=")
}

// compare orders two strings, numbers or binary values.
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
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
}

// equal reports whether the values have the same type and content. Sets have no order.
func equal(a, b types.AttributeValue) bool {
	if order, ok := compare(a, b); ok {
		return order == 0
	}
	switch a := a.(type) {
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberL:
		b, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, b.Value, equal)
	case *types.AttributeValueMemberM:
		b, ok := b.(*types.AttributeValueMemberM)
		return ok && maps.EqualFunc(a.Value, b.Value, equal)
	}
	one, ok := elements(a)
	other, ok2 := elements(b)
	return ok && ok2 && one.kind == other.kind && len(one.all) == len(other.all) && !slices.ContainsFunc(one.all, func(e string) bool { return !slices.Contains(other.all, e) })
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
