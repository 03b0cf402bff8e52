package table

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item in the types of the SDK.
type Item = map[string]types.AttributeValue

// compares reports whether a and b are in the relation. Values of different types, and
// absent values, are in no relation but "<>".
func compares(operator string, a, b types.AttributeValue) bool {
	switch operator {
	case "=":
		return equal(a, b)
	case "<>":
		return !equal(a, b)
	}
	order, ok := compare(a, b)
	if !ok {
		return false
	}
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
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
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return ok
	case *types.AttributeValueMemberL:
		b, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, b.Value, equal)
	case *types.AttributeValueMemberM:
		b, ok := b.(*types.AttributeValueMemberM)
		return ok && sameItem(a.Value, b.Value)
	}
	one, ok := elements(a)
	other, ok2 := elements(b)
	return ok && ok2 && one.kind == other.kind && len(one.all) == len(other.all) && !slices.ContainsFunc(one.all, func(e string) bool { return !slices.Contains(other.all, e) })
}

func sameItem(a, b Item) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		if !equal(v, b[name]) {
			return false
		}
	}
	return true
}

// setOf is a set: the elements as text, and their type "S", "N" or "B".
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
	case *types.AttributeValueMemberBS:
		all := make([]string, len(v.Value))
		for i, b := range v.Value {
			all[i] = string(b)
		}
		return setOf{"B", all}, true
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
	case s.kind == "N":
		return &types.AttributeValueMemberNS{Value: s.all}
	}
	all := make([][]byte, len(s.all))
	for i, e := range s.all {
		all[i] = []byte(e)
	}
	return &types.AttributeValueMemberBS{Value: all}
}

// beginsWith is the function begins_with of strings and binary values.
func beginsWith(v, prefix types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		prefix, ok := prefix.(*types.AttributeValueMemberS)
		return ok && strings.HasPrefix(v.Value, prefix.Value)
	case *types.AttributeValueMemberB:
		prefix, ok := prefix.(*types.AttributeValueMemberB)
		return ok && bytes.HasPrefix(v.Value, prefix.Value)
	}
	return false
}

// contains is the function contains: a part of a string, or an element of a set or list.
func contains(v, part types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		part, ok := part.(*types.AttributeValueMemberS)
		return ok && strings.Contains(v.Value, part.Value)
	case *types.AttributeValueMemberB:
		part, ok := part.(*types.AttributeValueMemberB)
		return ok && bytes.Contains(v.Value, part.Value)
	case *types.AttributeValueMemberL:
		return slices.ContainsFunc(v.Value, func(e types.AttributeValue) bool { return equal(e, part) })
	}
	set, ok := elements(v)
	if !ok {
		return false
	}
	switch part := part.(type) {
	case *types.AttributeValueMemberS:
		return set.kind == "S" && slices.Contains(set.all, part.Value)
	case *types.AttributeValueMemberN:
		return set.kind == "N" && slices.ContainsFunc(set.all, func(e string) bool { return compareNumbers(e, part.Value) == 0 })
	case *types.AttributeValueMemberB:
		return set.kind == "B" && slices.Contains(set.all, string(part.Value))
	}
	return false
}

// sizeOf is the function size: characters, bytes or elements. Other types have no size.
func sizeOf(v types.AttributeValue) types.AttributeValue {
	n := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		n = utf8.RuneCountInString(v.Value)
	case *types.AttributeValueMemberB:
		n = len(v.Value)
	case *types.AttributeValueMemberL:
		n = len(v.Value)
	case *types.AttributeValueMemberM:
		n = len(v.Value)
	default:
		set, ok := elements(v)
		if !ok {
			return nil
		}
		n = len(set.all)
	}
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

// clone returns a deep copy, with numbers in their normal form.
func clone(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: normal(v.Value)}
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}
	case *types.AttributeValueMemberL:
		all := make([]types.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			all[i] = clone(e)
		}
		return &types.AttributeValueMemberL{Value: all}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: cloneItem(v.Value)}
	case *types.AttributeValueMemberNS:
		all := make([]string, len(v.Value))
		for i, e := range v.Value {
			all[i] = normal(e)
		}
		return &types.AttributeValueMemberNS{Value: all}
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberBS:
		all := make([][]byte, len(v.Value))
		for i, e := range v.Value {
			all[i] = bytes.Clone(e)
		}
		return &types.AttributeValueMemberBS{Value: all}
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

func cloneItem(item Item) Item {
	copied := make(Item, len(item))
	for name, v := range item {
		copied[name] = clone(v)
	}
	return copied
}
