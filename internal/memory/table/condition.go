package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// condition reports whether the scope's item meets a condition.
type condition func(*scope) bool

// operand is a path, a value, or the size of a path.
type operand struct {
	read  func(*scope) types.AttributeValue // nil: the item lacks it
	path  path                              // of a path
	value string                            // the name of a value
}

// operand reads a path, a value, or the size of a path.
func (p *parser) operand() operand {
	if p.peek().kind == valued {
		v := p.value()
		return operand{value: v, read: func(s *scope) types.AttributeValue { return s.values[v] }}
	}
	if p.call("size") {
		of := p.path()
		p.want(")")
		return operand{read: func(s *scope) types.AttributeValue { return sizeOf(of.in(s)) }}
	}
	of := p.path()
	return operand{path: of, read: of.in}
}

// conditionExpression reads a condition or a filter.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
func conditionExpression(p *parser) { p.made.condition = p.either() }

func (p *parser) either() condition {
	left := p.both()
	for p.operator("OR") {
		a, b := left, p.both()
		left = func(s *scope) bool { return a(s) || b(s) }
	}
	return left
}

func (p *parser) both() condition {
	left := p.not()
	for p.operator("AND") {
		a, b := left, p.not()
		left = func(s *scope) bool { return a(s) && b(s) }
	}
	return left
}

func (p *parser) not() condition {
	if p.operator("NOT") {
		c := p.not()
		return func(s *scope) bool { return !c(s) }
	}
	open := p.at
	if !p.sign("(") {
		return p.test()
	}
	c := p.either()
	if p.group == (span{open + 1, p.at - 1}) && p.err == nil {
		p.err = fmt.Errorf("The expression has redundant parentheses;") //nolint:staticcheck // as AWS writes it
	}
	p.want(")")
	p.group = span{open, p.at - 1}
	return c
}

// test reads a function or a comparison.
func (p *parser) test() condition {
	switch {
	case p.call("attribute_exists"):
		of := p.path()
		p.want(")")
		return func(s *scope) bool { return of.in(s) != nil }
	case p.call("attribute_not_exists"):
		of := p.path()
		p.want(")")
		return func(s *scope) bool { return of.in(s) == nil }
	case p.call("begins_with"):
		return p.pair("begins_with", beginsWith)
	case p.call("contains"):
		return p.pair("contains", contains)
	}
	return p.comparison()
}

// comparison reads two operands. It takes two paths only for an order, and of different lengths: AWS
// refuses a comparison of a path with itself.
func (p *parser) comparison() condition {
	left := p.operand()
	w := p.next()
	if w.kind != sign || !strings.Contains(" = < <= ", " "+w.text+" ") {
		p.fail(w)
	}
	p.operators++
	right := p.operand()
	if left.value == "" && right.value == "" && (w.text == "=" || len(left.path) == len(right.path)) {
		p.fail(w)
	}
	p.scalar(w.text, left, "S", "N")
	p.scalar(w.text, right, "S", "N")
	return func(s *scope) bool {
		order, ok := compare(left.read(s), right.read(s))
		return ok && (order == 0 && w.text != "<" || order < 0 && w.text != "=")
	}
}

// pair reads the arguments of a function of a path and a string.
func (p *parser) pair(name string, f func(v types.AttributeValue, text string) bool) condition {
	of := p.path()
	p.want(",")
	argument := p.value()
	p.want(")")
	p.scalar(name, operand{value: argument}, "S")
	return func(s *scope) bool {
		text, _ := s.values[argument].(*types.AttributeValueMemberS)
		return f(of.in(s), text.Value)
	}
}

// scalar refuses a value of a type that the operator never takes.
func (p *parser) scalar(operator string, o operand, kinds ...string) {
	if o.value == "" {
		return
	}
	p.check(func(s *scope) error {
		kind := kindOfValue(s.values[o.value])
		if slices.Contains(kinds, kind) {
			return nil
		}
		return fmt.Errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", operator, kind) //nolint:staticcheck // as AWS writes it
	})
}
