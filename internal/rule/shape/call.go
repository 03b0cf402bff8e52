package shape

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// function is an operator, a function, a method or a macro.
type function struct {
	least, most int // number of arguments, without the target of a method
	names       int // arguments at the front that are names, not values: at most least
	bind        bool
	do          operation
	special     func(v *evaluation, c *call, names *scope) any // evaluates the target and the arguments itself
}

// operation works on the values of the target and of all arguments.
type operation func(v *evaluation, c *call, args []any) any

// call is a call of a known function.
type call struct {
	function

	at     ast.Expr
	name   string   // of the function, with its namespace
	target ast.Expr // of a method; nil for none
	args   []ast.Expr
}

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

func added(v *evaluation, c *call, args []any) any {
	a, b := v.number(args[0], c.at), v.number(args[1], c.at)
	if joined, ok := v.concat(a, b, c.at); ok {
		return joined
	}
	return arithmetic(traits.Adder.Add, a, b, c.at)
}

// calculated returns an operator on two numbers.
func calculated[T any](do func(a T, b ref.Val) ref.Val) operation {
	return func(v *evaluation, c *call, args []any) any {
		return arithmetic(do, v.number(args[0], c.at), v.number(args[1], c.at), c.at)
	}
}

// ordered returns an operator that holds for some orders of two values.
func ordered(holds func(order int) bool) operation {
	return func(v *evaluation, c *call, args []any) any {
		a, b := v.number(args[0], c.at), v.number(args[1], c.at)
		v.spendValue(a, c.at)
		order, ok := compare(a, b)
		if !ok {
			panic(wrongAt(c.at, "%s and %s have no order", typeOf(a), typeOf(b)))
		}
		return holds(order)
	}
}
