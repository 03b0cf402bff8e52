package filter

import (
	"encoding/json"
	"slices"
	"strconv"

	"surehook.example/surehook/internal/hook"
)

// comparison is an operator of the condition numeric, with its number.
type comparison struct {
	operator string
	number   float64
}

// numeric returns the condition of an operand such as [">", 0, "<=", 5]: one comparison, or a lower and
// a higher upper bound. It matches numbers for which all comparisons hold.
func (p *parser) numeric(operand any, at string) condition {
	list, ok := operand.([]any)
	if !ok || len(list) != 2 && len(list) != 4 {
		p.refuse(at, `must be an array such as [">", 0, "<=", 5] or ["=", 5]`)
		return never()
	}
	var all []comparison
	for i := 0; i < len(list); i += 2 {
		operator, _ := list[i].(string)
		if !slices.Contains([]string{"=", "<", "<=", ">", ">="}, operator) {
			p.refuse(at+hook.Pointer(strconv.Itoa(i)), "must be =, <, <=, > or >=")
			return never()
		}
		given, ok := list[i+1].(json.Number)
		n := parseNumber(given)
		if !ok || !n.ok {
			p.refuse(at+hook.Pointer(strconv.Itoa(i+1)), "must be a number")
			return never()
		}
		all = append(all, comparison{operator, n.double})
	}
	if len(all) == 2 && (all[0].operator[0] != '>' || all[1].operator[0] != '<' || all[0].number >= all[1].number) {
		p.refuse(at, `must be a lower bound and then a higher upper bound, such as [">", 0, "<=", 5]`)
		return never()
	}
	return condition{1, func(v any) bool {
		got, ok := v.(number)
		return ok && got.ok && !slices.ContainsFunc(all, func(c comparison) bool { return !c.holds(got.double) })
	}}
}

func (c comparison) holds(got float64) bool {
	switch c.operator {
	case "=":
		return got == c.number
	case "<":
		return got < c.number
	case "<=":
		return got <= c.number
	case ">":
		return got > c.number
	}
	return got >= c.number
}
