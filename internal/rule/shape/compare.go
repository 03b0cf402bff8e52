package shape

import (
	"encoding/json"
	"slices"

	"github.com/google/cel-go/common/ast"
)

// equal compares two values deeply. Numbers are equal across their types.
func (v *evaluation) equal(a, b any, at ast.Expr) bool {
	v.spend(1, at)
	a, b = v.number(a, at), v.number(b, at)
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, func(x, y any) bool { return v.equal(x, y, at) })
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for _, key := range v.keys(a, at) { // in a fixed order, so that the same comparison always takes the same steps
			if other, ok := b[key]; !ok || !v.equal(a[key], other, at) {
				return false
			}
		}
		return true
	case string:
		b, ok := b.(string)
		if !ok || len(a) != len(b) {
			return false
		}
		v.spendText(len(a), at)
		return a == b
	case optional:
		b, ok := b.(optional)
		return ok && a.ok == b.ok && v.equal(a.value, b.value, at)
	}
	if order, ok := compare(a, b); ok {
		return order == 0
	}
	return a == nil && b == nil // all others have different types, or are NaN
}

// concat joins two texts or two lists; false for other values.
func (v *evaluation) concat(a, b any, at ast.Expr) (any, bool) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			v.spendText(len(a)+len(b), at)
			return a + b, true
		}
	case []any:
		if b, ok := b.([]any); ok {
			v.spend(len(a)+len(b), at)
			return slices.Concat(a, b), true
		}
	}
	return nil, false
}

// contained reports whether a list has the value, or a map has the key.
func contained(v *evaluation, c *call, args []any) any {
	value := args[0]
	v.spendValue(value, c.at)
	switch in := args[1].(type) {
	case map[string]any:
		key, ok := value.(string)
		_, has := in[key]
		return ok && has
	case []any:
		return slices.ContainsFunc(in, func(element any) bool { return v.equal(value, element, c.at) })
	}
	panic(wrongAt(c.at, "in needs a list or a map, and this is %s", typeOf(args[1])))
}

// typeOf names the type of a value, for people.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case json.Number:
		return "a number"
	case bool:
		return "a bool"
	case int64:
		return "an int"
	case uint64:
		return "a uint"
	case float64:
		return "a double"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	case optional:
		return "an optional value"
	}
	return "a time"
}
