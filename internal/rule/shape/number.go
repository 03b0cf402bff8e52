package shape

import (
	"github.com/google/cel-go/common/ast"
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

// arithmetic returns the result of an operator of cel-go on two numbers of one type.
func arithmetic[T any](do func(a T, b ref.Val) ref.Val, a, b any, at ast.Expr) any {
	x, y := celOf(a), celOf(b)
	_, isNumber := x.(traits.Multiplier)
	operand, ok := x.(T)
	if !ok || !isNumber || x.Type() != y.Type() {
		panic(wrongAt(at, "no such operation for %s and %s", typeOf(a), typeOf(b)))
	}
	return valueOr(do(operand, y), at)
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
