package filter

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"surehook.example/surehook/internal/hook"
)

// How many bytes of a text one step covers.
const (
	bytesOfText = 64 // compared as they are
	bytesOfFold = 8  // compared without regard to case
)

// stepsOf returns the steps for a text that is compared.
func stepsOf(text string, bytes int) int { return 1 + len(text)/bytes }

// never refuses an operator, and returns the condition in its place, which nobody tests.
func (p *parser) never(at, format string, args ...any) condition {
	p.refuse(at, format, args...)
	return condition{}
}

// exact compares text, numbers included: 300, 300.0 and 3e2 differ, as in EventBridge.
func (p *parser) exact(want any, at string) condition {
	if _, list := want.([]any); list {
		return p.never(at, "must be a string, a number, true, false, null or an operator")
	}
	text, _ := want.(string)
	if number, ok := want.(json.Number); ok {
		text = number.String()
	}
	return condition{stepsOf(text, bytesOfText), func(v *scalar) bool { return v.value == want }}
}

const operators = "exists, prefix, suffix, equals-ignore-case, anything-but or numeric"

func (p *parser) operator(o map[string]any, at string) condition {
	name, operand, single := only(o)
	if !single {
		return p.never(at, "must have one operator: %s", operators)
	}
	at += hook.Pointer(name)
	switch name {
	case "exists":
		if operand != true {
			p.refuse(at, "must be true or false")
		}
		return condition{1, func(*scalar) bool { return true }}
	case "anything-but":
		return p.anythingBut(operand, at)
	case "numeric":
		return p.numeric(operand, at)
	case "wildcard", "cidr":
		return p.never(at, "is an operator of EventBridge that filters do not have; the operators are %s", operators)
	}
	if op, ok := textOperators[name]; ok {
		return p.text(op, operand, at)
	}
	return p.never(at, "is not an operator; the operators are %s", operators)
}

// only returns the single entry of an object; false for any other value.
func only(v any) (name string, value any, ok bool) {
	object, _ := v.(map[string]any)
	for name, value = range object {
		ok = len(object) == 1
	}
	return name, value, ok
}

// textOperator is an operator on strings.
type textOperator struct {
	test   func(value, operand string) bool
	bytes  int                              // of a text that one step covers
	folded func(value, operand string) bool // the test without regard to case; nil: test is it
}

//nolint:gochecknoglobals // a table
var textOperators = map[string]textOperator{
	"prefix":             {test: strings.HasPrefix, bytes: bytesOfText, folded: hasPrefixFold},
	"suffix":             {test: strings.HasSuffix, bytes: bytesOfText, folded: hasSuffixFold},
	"equals-ignore-case": {test: strings.EqualFold, bytes: bytesOfFold},
}

// of returns the condition for a value that is text.
func (op textOperator) of(operand string) condition {
	return condition{stepsOf(operand, op.bytes), func(v *scalar) bool {
		s, ok := v.value.(string)
		return ok && op.test(s, operand)
	}}
}

// text parses an operator on strings.
func (p *parser) text(op textOperator, operand any, at string) condition {
	if name, inner, single := only(operand); single && name == "equals-ignore-case" && op.folded != nil {
		operand, at, op = inner, at+hook.Pointer(name), textOperator{test: op.folded, bytes: bytesOfFold}
	}
	want, ok := operand.(string)
	if !ok {
		return p.never(at, "must be a string")
	}
	return op.of(want)
}

// hasPrefixFold compares as many characters as the prefix has: a letter can have another number
// of bytes in upper case.
func hasPrefixFold(s, prefix string) bool {
	end := 0
	for range prefix {
		if end == len(s) {
			return false
		}
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return strings.EqualFold(s[:end], prefix)
}

// hasSuffixFold is hasPrefixFold for suffixes.
func hasSuffixFold(s, suffix string) bool {
	start := len(s)
	for range suffix {
		if start == 0 {
			return false
		}
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	return strings.EqualFold(s[start:], suffix)
}

// anythingBut matches every scalar value except the operand, one of a list of strings or
// of numbers, or the values of an operator on strings.
func (p *parser) anythingBut(operand any, at string) condition {
	parse := p.excluded
	_, operates := operand.(map[string]any)
	if operates {
		name, inner, single := only(operand)
		op, known := textOperators[name]
		if !single || !known {
			return p.never(at, "must be a value, an array of values, or one of prefix, suffix and equals-ignore-case")
		}
		operand, at = inner, at+hook.Pointer(name)
		parse = func(v any, at string) condition { return p.excludedText(op, v, at) }
	}
	var not []condition
	list, ok := operand.([]any)
	if ok && len(list) == 0 && !operates {
		p.refuse(at, "must have a value")
	}
	if len(list) == 0 {
		not = append(not, parse(operand, at))
	}
	for i, v := range list {
		if !p.count(at) {
			return condition{}
		}
		here := at + hook.Pointer(strconv.Itoa(i))
		_, texts := list[0].(string)
		switch _, text := v.(string); { // EventBridge refuses a list of both
		case operates:
		case texts && !text:
			p.refuse(here, "must be a string, as the values before")
		case text && !texts:
			p.refuse(here, "must be a number, as the values before")
		}
		not = append(not, parse(v, here))
	}
	steps := 0
	for _, c := range not {
		steps += c.steps
	}
	return condition{steps, func(v *scalar) bool {
		return !slices.ContainsFunc(not, func(c condition) bool { return c.holds(v) })
	}}
}

// excludedText parses a text of an operator inside anything-but. EventBridge allows no empty prefix and no
// empty suffix here.
func (p *parser) excludedText(op textOperator, v any, at string) condition {
	s, ok := v.(string)
	if !ok || s == "" && op.folded != nil {
		p.refuse(at, "must be a string that is not empty")
	}
	return op.of(s)
}

// excluded parses a value of anything-but.
func (p *parser) excluded(v any, at string) condition {
	if text, ok := v.(string); ok {
		return p.exact(text, at)
	}
	number, ok := p.number(v, at, "must be a string or a number")
	if !ok {
		return condition{}
	}
	return condition{1, func(v *scalar) bool {
		got, ok := v.decimal()
		return v.beyond || ok && got.Compare(number) == 0
	}}
}
