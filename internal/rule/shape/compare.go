package shape

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
)

// equal compares two values deeply. Numbers are equal across their types.
func (v *evaluation) equal(a, b any, at ast.Expr) (bool, *fault) {
	if f := v.spend(1, at); f != nil {
		return false, f
	}
	a, b, f := v.numbers(a, b, at)
	if f != nil {
		return false, f
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for i := range a {
			if same, f := v.equal(a[i], b[i], at); !same || f != nil {
				return false, f
			}
		}
		return true, nil
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		keys, f := v.keys(a, at)
		if f != nil {
			return false, f
		}
		for _, key := range keys { // in a fixed order, so that the same comparison always takes the same steps
			other, ok := b[key]
			if !ok {
				return false, nil
			}
			if same, f := v.equal(a[key], other, at); !same || f != nil {
				return false, f
			}
		}
		return true, nil
	case string:
		b, ok := b.(string)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return a == b, v.spendText(len(a), at)
	case optional:
		b, ok := b.(optional)
		if !ok || a.ok != b.ok {
			return false, nil
		}
		return v.equal(a.value, b.value, at)
	}
	if order, ok := compare(a, b); ok {
		return order == 0, nil
	}
	return a == nil && b == nil, nil // all others have different types, or are NaN
}

// concat joins two texts or two lists.
func (v *evaluation) concat(a, b any, at ast.Expr) (any, bool, *fault) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			if f := v.spendText(len(a)+len(b), at); f != nil {
				return nil, true, f
			}
			return a + b, true, nil
		}
	case []any:
		if b, ok := b.([]any); ok {
			if f := v.spend(len(a)+len(b), at); f != nil {
				return nil, true, f
			}
			return slices.Concat(a, b), true, nil
		}
	}
	return nil, false, nil
}

// contains reports whether the list has the value, or the map has the key.
func (v *evaluation) contains(value, in any, at ast.Expr) (any, *fault) {
	if f := v.spendValue(value, at); f != nil {
		return nil, f
	}
	switch in := in.(type) {
	case map[string]any:
		key, ok := value.(string)
		_, has := in[key]
		return ok && has, nil
	case []any:
		for _, element := range in {
			if same, f := v.equal(value, element, at); same || f != nil {
				return same, f
			}
		}
		return false, nil
	}
	return nil, wrongAt(at, "in needs a list or a map, and this is %s", typeOf(in))
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

// joined joins the texts of a list.
func (v *evaluation) joined(list []any, separator string, at ast.Expr) (any, *fault) {
	var b strings.Builder
	for i, part := range list {
		text, ok := part.(string)
		if !ok {
			return nil, wrongAt(at, "join needs strings, and element %d is %s", i, typeOf(part))
		}
		if f := v.spendText(len(text)+len(separator), at); f != nil {
			return nil, f
		}
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
