package table

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// clause is a clause of an update expression.
type clause string

const (
	set        clause = "SET"
	remove     clause = "REMOVE"
	add        clause = "ADD"
	deleteFrom clause = "DELETE"
)

// newValue returns a value of an update; nil with an error in the scope.
type newValue func(*scope) types.AttributeValue

// action is one change of an update.
type action struct {
	clause clause
	path   path
	value  newValue // nil for REMOVE
}

// updateExpression reads the clauses of an update, each at most once.
// ADD and DELETE take attributes of the item, and no nested ones.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
func updateExpression(p *parser) {
	seen := make(map[clause]bool)
	for more := true; more; more = p.peek().kind != end {
		w := p.next()
		c := clause(strings.ToUpper(w.text))
		if w.kind != bare || c != set && c != remove && c != add && c != deleteFrom || seen[c] {
			p.fail(w)
			return
		}
		seen[c] = true
		for more := true; more; more = p.sign(",") {
			p.made.updates = append(p.made.updates, p.action(c))
		}
	}
	all := make([]path, len(p.made.updates))
	for i, a := range p.made.updates {
		all[i] = a.path
	}
	p.check(func(s *scope) error { return disjoint(all, s) })
}

func (p *parser) action(c clause) action {
	at := p.peek()
	a := action{clause: c, path: p.path()}
	switch c {
	case set:
		p.want("=")
		p.operators++
		a.value = p.sum()
	case add, deleteFrom:
		v := p.value()
		a.value = func(s *scope) types.AttributeValue { return s.values[v] }
		if len(a.path) > 1 {
			p.fail(at)
		}
		if kinds := []string{"N", "SS", "NS", "BS"}; c == add {
			p.scalar("ADD", operand{value: v}, kinds...)
		} else {
			p.scalar("DELETE", operand{value: v}, kinds[1:]...)
		}
	case remove:
	}
	return a
}

// sum reads a new value: an operand, or the sum of two.
func (p *parser) sum() newValue {
	left := p.part()
	if !p.sign("+") {
		return left
	}
	p.operators++
	right := p.part()
	return func(s *scope) types.AttributeValue { return s.plus(left(s), right(s)) }
}

// part reads an operand of a new value. It must exist.
func (p *parser) part() newValue {
	switch {
	case p.call("if_not_exists"):
		of := p.path()
		p.want(",")
		or := p.part()
		p.want(")")
		return func(s *scope) types.AttributeValue {
			if v := of.in(s); v != nil {
				return v
			}
			return or(s)
		}
	case p.call("list_append"):
		first := p.part()
		p.want(",")
		second := p.part()
		p.want(")")
		return func(s *scope) types.AttributeValue { return s.concat(first(s), second(s)) }
	}
	if w := p.peek(); w.is("size") {
		p.fail(w) // as a function it belongs to conditions, and as a name it is reserved
	}
	of := p.operand()
	return func(s *scope) types.AttributeValue {
		v := of.read(s)
		if v == nil {
			s.fail("The provided expression refers to an attribute that does not exist in the item")
		}
		return v
	}
}

func (s *scope) fail(message string) {
	if s.err == nil {
		s.err = invalid("%s", message)
	}
}
