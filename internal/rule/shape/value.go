package shape

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/decimal"
)

// event returns the event as transformations see it. The numbers of the payload are texts, see
// number.
func (v *evaluation) event(e *hook.Event) map[string]any {
	v.spend(len(e.Payload)/hook.BytesPerStep, nil)
	data, wrong := hook.DecodeValue(e.Payload)
	if wrong != "" {
		panic(wrongAt(nil, "the payload is not valid JSON"))
	}
	return map[string]any{
		"id":        string(e.ID),
		"type":      e.Type,
		"timestamp": stamp(e.AcceptedAt),
		"tenant":    string(e.Tenant),
		"data":      data,
	}
}

// number parses a number of the payload, each time it is used; other values stay. Whole numbers of
// 64 bits are exact, and all others become doubles: infinite beyond their range.
func (v *evaluation) number(value any, at ast.Expr) any {
	number, ok := value.(json.Number)
	if !ok {
		return value
	}
	text := number.String()
	v.spendText(len(text), at)
	if !strings.ContainsAny(text, ".eE") && len(text) <= maxWhole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n
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
		return sign * math.Inf(1)
	case compared && size.Compare(below) <= 0:
		return sign * 0
	case !compared || len(text) > maxQuick || size.Compare(normal) < 0:
		v.spend(exactSteps, at)
	}
	n, _ := strconv.ParseFloat(text, 64) // infinite if out of range; no result may be infinite
	return n
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
