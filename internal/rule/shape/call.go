package shape

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/traits"
)

// function is an operator, a function, a method or a macro.
type function struct {
	least, most int // number of arguments, without the target of a method
	names       int // arguments at the front that are names, not values
	bind        bool
	do          func(v *evaluation, c *call, args []any) any   // called with the values of the target and of all arguments
	special     func(v *evaluation, c *call, names *scope) any // evaluates the target and the arguments itself
}

// call is a call of a known function.
type call struct {
	function

	at     ast.Expr
	name   string   // of the function, with its namespace
	target ast.Expr // of a method; nil for none
	args   []ast.Expr
}

// named returns the number of arguments that are names. map takes a name, then optionally a
// condition, and the result.
func (c *call) named() int { return min(c.names, len(c.args)) }

// all returns the target and the arguments.
func (c *call) all() []ast.Expr {
	if c.target == nil {
		return c.args
	}
	return slices.Concat([]ast.Expr{c.target}, c.args)
}

// callOf returns the call of the expression; false for an unknown function. A target that is not
// a name in scope may be a namespace.
func callOf(e ast.Expr, names *scope) (*call, bool) {
	of := e.AsCall()
	c := &call{at: e, name: of.FunctionName(), args: of.Args()}
	known := globals
	if of.IsMemberFunction() {
		c.target, known = of.Target(), methods
		if c.target.Kind() == ast.IdentKind {
			if _, is := names.find(c.target.AsIdent()); !is {
				c.name = c.target.AsIdent() + "." + c.name
				c.target, known = nil, namespaced
			}
		}
	}
	var ok bool
	c.function, ok = known[c.name]
	return c, ok
}

// call evaluates a call.
func (v *evaluation) call(e ast.Expr, names *scope) any {
	c := v.calls[e.ID()]
	if c.special != nil {
		return c.special(v, c, names)
	}
	all := c.all()
	values := make([]any, len(all))
	for i, arg := range all {
		values[i] = v.eval(arg, names)
	}
	return c.do(v, c, values)
}

func unary(v *evaluation, c *call, args []any) any {
	operand := v.number(args[0], c.at)
	_, truth := operand.(bool)
	if n, ok := celOf(operand).(traits.Negater); ok && truth == (c.name == operators.LogicalNot) {
		return valueOr(n.Negate(), c.at)
	}
	panic(wrongAt(c.at, "no such operation for %s", typeOf(operand)))
}

func equality(v *evaluation, c *call, args []any) any {
	return v.equal(args[0], args[1], c.at) == (c.name == operators.Equals)
}

func calculated(v *evaluation, c *call, args []any) any {
	a, b := v.number(args[0], c.at), v.number(args[1], c.at)
	if c.name == operators.Add {
		if joined, ok := v.concat(a, b, c.at); ok {
			return joined
		}
	}
	return arithmetic(c.name, a, b, c.at)
}

func ordered(v *evaluation, c *call, args []any) any {
	a, b := v.number(args[0], c.at), v.number(args[1], c.at)
	v.spendValue(a, c.at)
	order, ok := compare(a, b)
	if !ok {
		panic(wrongAt(c.at, "%s and %s have no order", typeOf(a), typeOf(b)))
	}
	switch c.name {
	case operators.Less:
		return order < 0
	case operators.LessEquals:
		return order <= 0
	case operators.Greater:
		return order > 0
	}
	return order >= 0
}
