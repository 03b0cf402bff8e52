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

func (p *parser) comparison() condition {
	left := p.operand()
	w := p.next()
	if w.kind != sign || !strings.Contains(" = < <= ", " "+w.text+" ") {
		p.fail(w)
	}
	p.operators++
	right := p.operand()
	p.distinct(w.text, left, right)
	if w.text != "=" {
		p.scalar(w.text, left, "S", "N", "B")
		p.scalar(w.text, right, "S", "N", "B")
	}
	return func(s *scope) bool { return compares(w.text, left.read(s), right.read(s)) }
}

// pair reads the arguments of a function of a path and an operand.
func (p *parser) pair(name string, f func(a, b types.AttributeValue) bool) condition {
	of := p.path()
	p.want(",")
	argument := p.operand()
	p.want(")")
	p.distinct(name, operand{path: of}, argument)
	if name == "begins_with" {
		p.scalar(name, argument, "S", "B")
	}
	return func(s *scope) bool { return f(of.in(s), argument.read(s)) }
}

// distinct refuses a comparison of a path with itself.
func (p *parser) distinct(operator string, first, other operand) {
	if first.path == nil || other.path == nil {
		return
	}
	p.check(func(s *scope) error {
		if len(first.path) != len(other.path) || !first.path.overlaps(other.path, s) {
			return nil
		}
		return fmt.Errorf("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", operator, first.path[0].in(s)) //nolint:staticcheck // as AWS writes it
	})
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
