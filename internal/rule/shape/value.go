package shape

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/decimal"
)

// event returns the event as transformations see it. The numbers of the payload are texts, see
// number.
func (v *evaluation) event(e *hook.Event) (map[string]any, error) {
	if f := v.spend(len(e.Payload)/hook.BytesPerStep, nil); f != nil {
		return nil, errors.New(f.problem)
	}
	data, wrong := hook.DecodeValue(e.Payload)
	if wrong != "" {
		return nil, errors.New("the payload is not valid JSON")
	}
	return map[string]any{
		"id":        string(e.ID),
		"type":      e.Type,
		"timestamp": stamp(e.AcceptedAt),
		"tenant":    string(e.Tenant),
		"data":      data,
	}, nil
}

// number parses a number of the payload, each time it is used; other values stay. Whole numbers of
// 64 bits are exact, and all others become doubles: infinite beyond their range.
func (v *evaluation) number(value any, at ast.Expr) (any, *fault) {
	number, ok := value.(json.Number)
	if !ok {
		return value, nil
	}
	text := number.String()
	if f := v.spendText(len(text), at); f != nil {
		return nil, f
	}
	if !strings.ContainsAny(text, ".eE") && len(text) <= maxWhole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n, nil
		}
	}
	digits, negative := strings.CutPrefix(text, "-")
	sign := 1.0
	if negative {
		sign = -1
	}
	size, compared := decimal.Parse(digits)
	switch {
	case compared && size.Compare(beyond) >= 0:
		return sign * math.Inf(1), nil
	case compared && size.Compare(below) <= 0:
		return sign * 0, nil
	case !compared || len(text) > maxQuick || size.Compare(normal) < 0:
		if f := v.spend(exactSteps, at); f != nil {
			return nil, f
		}
	}
	n, _ := strconv.ParseFloat(text, 64) // infinite if out of range; no result may be infinite
	return n, nil
}

// numbers is number for two values.
func (v *evaluation) numbers(a, b any, at ast.Expr) (x, y any, f *fault) {
	if x, f = v.number(a, at); f != nil {
		return nil, nil, f
	}
	y, f = v.number(b, at)
	return x, y, f
}

// Ends of the range of doubles, to see by the exponent what strconv takes 30 us to find out.
//
//nolint:gochecknoglobals // parsed once
var (
	beyond = decimalOf("1.797693134862315807937289714054e308") // infinite as a double
	below  = decimalOf("2.4e-324")                             // 0 as a double
	normal = decimalOf("2.3e-308")                             // below it, doubles have fewer digits
)

const (
	maxWhole = 20 // characters of a whole number of 64 bits
	maxQuick = 24 // characters of a number that needs no exact arithmetic
)

func decimalOf(text string) decimal.Decimal {
	d, _ := decimal.Parse(text)
	return d
}
