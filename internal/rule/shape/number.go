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

// valueOr returns the value of a result of cel-go, whose errors are faults.
func valueOr(result ref.Val, at ast.Expr) any {
	if err, failed := result.(*types.Err); failed {
		panic(wrongAt(at, "%v", err))
	}
	return result.Value()
}

// calculable is a number.
type calculable interface {
	ref.Val
	traits.Adder
	traits.Subtractor
	traits.Multiplier
	traits.Divider
}

// arithmetic returns the result of an operator on two numbers of one type.
func arithmetic(op string, a, b any, at ast.Expr) any {
	y := celOf(b)
	x, ok := celOf(a).(calculable)
	whole, isWhole := x.(traits.Modder)
	switch {
	case !ok || x.Type() != y.Type():
	case op == operators.Add:
		return valueOr(x.Add(y), at)
	case op == operators.Subtract:
		return valueOr(x.Subtract(y), at)
	case op == operators.Multiply:
		return valueOr(x.Multiply(y), at)
	case op == operators.Divide:
		return valueOr(x.Divide(y), at)
	case isWhole: // only the modulo is left
		return valueOr(whole.Modulo(y), at)
	}
	panic(wrongAt(at, "no such operation for %s and %s", typeOf(a), typeOf(b)))
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
