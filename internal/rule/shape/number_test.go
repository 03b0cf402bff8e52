package shape_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

// TestArithmetic compares whole numbers at the limits of 64 bits with math/big.
func TestArithmetic(t *testing.T) {
	t.Parallel()

	ints := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 32, -3, -1, 0, 1, 2, 3, 1 << 31, 1 << 53, math.MaxInt64 - 1, math.MaxInt64}
	uints := []uint64{0, 1, 2, 3, 1 << 32, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	var s shape.Shaper
	try := func(a, b *big.Int, op, suffix string, least, most *big.Int) {
		var want big.Int
		defined := true
		switch op {
		case "+":
			want.Add(a, b)
		case "-":
			want.Sub(a, b)
		case "*":
			want.Mul(a, b)
		default:
			if defined = b.Sign() != 0; !defined {
				break
			}
			if op == "/" {
				want.Quo(a, b)
			} else {
				want.Rem(a, b)
			}
		}
		fits := defined && want.Cmp(least) >= 0 && want.Cmp(most) <= 0
		expression := fmt.Sprintf(`{"body": event.data.a %s event.data.b}`, op)
		if suffix != "" {
			expression = fmt.Sprintf(`{"body": uint(event.data.a) %s uint(event.data.b)}`, op)
		}
		got, err := s.Shape(nil, &hook.Endpoint{Transformation: expression}, event(fmt.Sprintf(`{"a": %s, "b": %s}`, a, b)))
		// The least number modulo -1 is 0, although its quotient overflows.
		if a.Cmp(least) == 0 && b.IsInt64() && b.Int64() == -1 && op == "%" {
			fits = false
		}
		if fits != (err == nil) || fits && string(got.Body) != want.String() {
			t.Errorf("%s %s %s = %s, %v; want %s, %t", a, op, b, got.Body, err, &want, fits)
		}
	}
	for _, op := range strings.Fields("+ - * / %") {
		for _, a := range ints {
			for _, b := range ints {
				try(big.NewInt(a), big.NewInt(b), op, "", big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64))
			}
		}
		for _, a := range uints {
			for _, b := range uints {
				try(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b), op, "u", new(big.Int), new(big.Int).SetUint64(math.MaxUint64))
			}
		}
	}
}
