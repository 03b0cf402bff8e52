package shape

import (
	"cmp"
	"math"
	"math/bits"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// arithmetic returns the result of an operator on two numbers of one type, as in CEL. ok is false
// for all other values.
func arithmetic(op string, a, b any, at ast.Expr) (value any, ok bool, f *fault) {
	switch a := a.(type) {
	case int64:
		if b, same := b.(int64); same {
			value, f = ofInts(op, a, b, at)
			return value, true, f
		}
	case uint64:
		if b, same := b.(uint64); same {
			value, f = ofUints(op, a, b, at)
			return value, true, f
		}
	case float64:
		if b, same := b.(float64); same && op != operators.Modulo {
			return ofDoubles(op, a, b), true, nil
		}
	}
	return nil, false, nil
}

func ofInts(op string, a, b int64, at ast.Expr) (any, *fault) {
	var result int64
	var over bool
	switch op {
	case operators.Add:
		result = a + b
		over = (result > a) != (b > 0) && b != 0
	case operators.Subtract:
		result = a - b
		over = (result < a) != (b > 0) && b != 0
	case operators.Multiply:
		result = a * b
		over = a != 0 && (result/a != b || a == -1 && b == math.MinInt64)
	default:
		if b == 0 {
			return nil, wrongAt(at, "division by zero")
		}
		if over = a == math.MinInt64 && b == -1; over {
			break
		}
		if result = a / b; op == operators.Modulo {
			result = a % b
		}
	}
	if over {
		return nil, wrongAt(at, "the result is beyond 64 bits")
	}
	return result, nil
}

func ofUints(op string, a, b uint64, at ast.Expr) (any, *fault) {
	var result, over uint64
	switch op {
	case operators.Add:
		result, over = bits.Add64(a, b, 0)
	case operators.Subtract:
		result, over = bits.Sub64(a, b, 0)
	case operators.Multiply:
		over, result = bits.Mul64(a, b)
	default:
		if b == 0 {
			return nil, wrongAt(at, "division by zero")
		}
		if result = a / b; op == operators.Modulo {
			result = a % b
		}
	}
	if over != 0 {
		return nil, wrongAt(at, "the result is beyond 64 bits")
	}
	return result, nil
}

func ofDoubles(op string, a, b float64) any {
	switch op {
	case operators.Add:
		return a + b
	case operators.Subtract:
		return a - b
	case operators.Multiply:
		return a * b
	}
	return a / b
}

// compare orders two numbers of any types, two texts, two bools or two times. ok is false for all
// other values, and for NaN.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case string:
		b, same := b.(string)
		return cmp.Compare(a, b), same
	case bool:
		b, same := b.(bool)
		return number(a) - number(b), same
	case time.Time:
		b, same := b.(time.Time)
		return a.Compare(b), same
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), true
		case uint64:
			if a < 0 {
				return -1, true
			}
			return cmp.Compare(uint64(a), b), true
		}
	case uint64:
		switch b := b.(type) {
		case uint64:
			return cmp.Compare(a, b), true
		case int64:
			order, ok := compare(b, a)
			return -order, ok
		}
	}
	x, okX := double(a)
	y, okY := double(b)
	return cmp.Compare(x, y), okX && okY && !math.IsNaN(x) && !math.IsNaN(y)
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// double returns the nearest double of a number.
func double(value any) (float64, bool) {
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
