package filter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/decimal"
)

// comparisons are the operators of the condition numeric: whether a number with this order to the
// operand meets it.
//
//nolint:gochecknoglobals // a table
var comparisons = map[string]func(order int) bool{
	"=":  func(order int) bool { return order == 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// comparison is an operator with its number.
type comparison struct {
	operator string
	holds    func(order int) bool
	number   decimal.Decimal
}

// numeric returns the condition of an operand such as [">", 0, "<=", 5]: one comparison, or a lower and
// a higher upper bound. It matches numbers for which all comparisons hold.
func (p *parser) numeric(operand any, at string) condition {
	list, ok := operand.([]any)
	if !ok || len(list) != 2 && len(list) != 4 {
		return p.never(at, `must be an array such as [">", 0, "<=", 5] or ["=", 5]`)
	}
	var all []comparison
	for i := 0; i < len(list); i += 2 {
		operator, _ := list[i].(string)
		holds, ok := comparisons[operator]
		if !ok {
			return p.never(at+hook.Pointer(strconv.Itoa(i)), "must be =, <, <=, > or >=")
		}
		number, ok := p.number(list[i+1], at+hook.Pointer(strconv.Itoa(i+1)), "must be a number")
		if !ok {
			return condition{}
		}
		all = append(all, comparison{operator, holds, number})
	}
	if len(all) == 2 && (all[0].operator[0] != '>' || all[1].operator[0] != '<' || all[0].number.Compare(all[1].number) >= 0) {
		return p.never(at, `must be a lower bound and then a higher upper bound, such as [">", 0, "<=", 5]`)
	}
	return condition{1, func(v *scalar) bool {
		got, ok := v.decimal()
		return ok && !slices.ContainsFunc(all, func(c comparison) bool { return !c.holds(got.Compare(c.number)) })
	}}
}

// tooLong says what package decimal does not parse.
func tooLong() string {
	return fmt.Sprintf("more than %d digits, or an exponent beyond %d", decimal.MaxDigits, decimal.MaxExponent)
}

// number returns an operand that is a number. message is the fault of any other value.
func (p *parser) number(operand any, at, message string) (decimal.Decimal, bool) {
	text, ok := operand.(json.Number)
	if !ok {
		p.refuse(at, "%s", message)
		return decimal.Decimal{}, false
	}
	number, ok := decimal.Parse(text.String())
	if !ok {
		p.refuse(at, "must not have %s", tooLong())
	}
	return number, ok
}
