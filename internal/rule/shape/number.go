package shape

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// celOf returns the value as one of cel-go, whose types know the arithmetic, the order and the
// conversions of CEL.
func celOf(value any) ref.Val { return types.DefaultTypeAdapter.NativeToValue(value) }

// valueOr returns the value of a result of cel-go, or its error as a fault.
func valueOr(result ref.Val, at ast.Expr) (any, *fault) {
	if err, failed := result.(*types.Err); failed {
		return nil, wrongAt(at, "%v", err)
	}
	return result.Value(), nil
}

// calculable is a number.
type calculable interface {
	ref.Val
	traits.Adder
	traits.Subtractor
	traits.Multiplier
	traits.Divider
}

// arithmetic returns the result of an operator on two numbers of one type. ok is false for all
// other values.
func arithmetic(op string, a, b any, at ast.Expr) (value any, ok bool, f *fault) {
	y := celOf(b)
	x, ok := celOf(a).(calculable)
	if !ok || x.Type() != y.Type() {
		return nil, false, nil
	}
	var result ref.Val
	switch op {
	case operators.Add:
		result = x.Add(y)
	case operators.Subtract:
		result = x.Subtract(y)
	case operators.Multiply:
		result = x.Multiply(y)
	case operators.Divide:
		result = x.Divide(y)
	default:
		whole, ok := x.(traits.Modder)
		if !ok {
			return nil, false, nil
		}
		result = whole.Modulo(y)
	}
	value, f = valueOr(result, at)
	return value, true, f
}

// compare orders two numbers of any types, two texts, two bools or two times. ok is false for all
// other values, and for NaN.
func compare(a, b any) (order int, ok bool) {
	x, ok := celOf(a).(traits.Comparer)
	if !ok {
		return 0, false
	}
	compared, ok := x.Compare(celOf(b)).(types.Int)
	return int(compared), ok
}
