package shape

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// function is an operator, a function, a method or a macro.
type function struct {
	least, most int // number of arguments, without the target of a method
	names       int // arguments at the front that are names, not values
	bind        bool
	do          func(v *evaluation, c *call, args []any) (any, *fault)   // with the values of the target and of all arguments
	special     func(v *evaluation, c *call, names *scope) (any, *fault) // evaluates the arguments itself
}

// call is a call of a known function.
type call struct {
	function

	at     ast.Expr
	name   string   // of the function, with its namespace
	target ast.Expr // of a method; nil for none
	args   []ast.Expr
}

// named returns the number of arguments that are names. The macro map has a name, and
// perhaps a condition before its result.
func (c *call) named() int { return min(c.names, len(c.args)) }

// all returns the target and the arguments.
func (c *call) all() []ast.Expr {
	if c.target == nil {
		return c.args
	}
	return slices.Concat([]ast.Expr{c.target}, c.args)
}

// callOf returns the call of the expression; false for an unknown function. A target that
// is no name in scope may be a namespace.
func callOf(e ast.Expr, names *scope) (*call, bool) {
	of := e.AsCall()
	c := &call{at: e, name: of.FunctionName(), args: of.Args()}
	if !of.IsMemberFunction() {
		var ok bool
		c.function, ok = globalOf(of.FunctionName())
		return c, ok
	}
	target := of.Target()
	if target.Kind() == ast.IdentKind {
		if _, is := names.find(target.AsIdent()); !is {
			var ok bool
			c.name = target.AsIdent() + "." + c.name
			c.function, ok = namespacedOf(c.name)
			return c, ok
		}
	}
	c.target = target
	var ok bool
	c.function, ok = methodOf(of.FunctionName())
	return c, ok
}

// call evaluates a call.
func (v *evaluation) call(e ast.Expr, names *scope) (any, *fault) {
	c, _ := callOf(e, names)
	if c.special != nil {
		return c.special(v, c, names)
	}
	all := c.all()
	values := make([]any, len(all))
	for i, arg := range all {
		var f *fault
		if values[i], f = v.eval(arg, names); f != nil {
			return nil, f
		}
	}
	return c.do(v, c, values)
}

func globalOf(name string) (function, bool) {
	switch name {
	case operators.LogicalAnd:
		return function{least: 2, most: 2, special: logical(false)}, true
	case operators.LogicalOr:
		return function{least: 2, most: 2, special: logical(true)}, true
	case operators.Conditional:
		return function{least: 3, most: 3, special: conditional}, true
	case operators.Has:
		return function{least: 1, most: 1, special: has}, true
	case operators.LogicalNot, operators.Negate:
		return function{least: 1, most: 1, do: unary}, true
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
		operators.In, operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
		return function{least: 2, most: 2, do: binary}, true
	case operators.Index:
		return function{least: 2, most: 2, do: index}, true
	case operators.OptIndex, operators.OptSelect:
		return function{least: 2, most: 2, do: optionalIndex}, true
	}
	return conversionOf(name)
}

// logical returns && or ||: the second operand counts unless the first one is the end.
func logical(end bool) func(v *evaluation, c *call, names *scope) (any, *fault) {
	return func(v *evaluation, c *call, names *scope) (any, *fault) {
		for _, arg := range c.args {
			is, f := v.truth(arg, names)
			if f != nil || is == end {
				return is, f
			}
		}
		return !end, nil
	}
}

// truth evaluates a condition.
func (v *evaluation) truth(e ast.Expr, names *scope) (bool, *fault) {
	value, f := v.eval(e, names)
	if f != nil {
		return false, f
	}
	is, ok := value.(bool)
	if !ok {
		return false, wrongAt(e, "must be a bool, and this is %s", typeOf(value))
	}
	return is, nil
}

func conditional(v *evaluation, c *call, names *scope) (any, *fault) {
	is, f := v.truth(c.args[0], names)
	switch {
	case f != nil:
		return nil, f
	case is:
		return v.eval(c.args[1], names)
	}
	return v.eval(c.args[2], names)
}

// has reports whether a map has a field.
func has(v *evaluation, c *call, names *scope) (any, *fault) {
	field := c.args[0]
	if field.Kind() != ast.SelectKind {
		return nil, wrongAt(field, "has needs a field, such as has(event.data.name)")
	}
	operand, f := v.eval(field.AsSelect().Operand(), names)
	if f != nil {
		return nil, f
	}
	fields, ok := operand.(map[string]any)
	if !ok {
		return nil, wrongAt(field, "%s has no field %s", typeOf(operand), field.AsSelect().FieldName())
	}
	_, ok = fields[field.AsSelect().FieldName()]
	return ok, nil
}

func unary(_ *evaluation, c *call, args []any) (any, *fault) {
	negate := c.name == operators.Negate
	switch n := args[0].(type) {
	case bool:
		if !negate {
			return !n, nil
		}
	case int64:
		if negate {
			return ofInts(operators.Subtract, 0, n, c.at)
		}
	case float64:
		if negate {
			return -n, nil
		}
	}
	return nil, wrongAt(c.at, "no such operation for %s", typeOf(args[0]))
}

func binary(v *evaluation, c *call, args []any) (any, *fault) {
	op, a, b := c.name, args[0], args[1]
	switch op {
	case operators.Equals, operators.NotEquals:
		same, f := v.equal(a, b, c.at)
		return same == (op == operators.Equals), f
	case operators.In:
		return v.contains(a, b, c.at)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return v.ordered(op, a, b, c.at)
	case operators.Add:
		if joined, ok, f := v.concat(a, b, c.at); ok {
			return joined, f
		}
	}
	value, ok, f := arithmetic(op, a, b, c.at)
	if !ok {
		return nil, wrongAt(c.at, "no such operation for %s and %s", typeOf(a), typeOf(b))
	}
	return value, f
}

func (v *evaluation) ordered(op string, a, b any, at ast.Expr) (any, *fault) {
	if text, ok := a.(string); ok {
		if f := v.spendText(len(text), at); f != nil {
			return nil, f
		}
	}
	order, ok := compare(a, b)
	if !ok {
		return nil, wrongAt(at, "%s and %s have no order", typeOf(a), typeOf(b))
	}
	switch op {
	case operators.Less:
		return order < 0, nil
	case operators.LessEquals:
		return order <= 0, nil
	case operators.Greater:
		return order > 0, nil
	}
	return order >= 0, nil
}

// index returns an element of a list, or an entry of a map.
func index(_ *evaluation, c *call, args []any) (any, *fault) {
	if o, ok := args[0].(optional); ok {
		return optionalAt(o, args[1]), nil
	}
	found := optionalAt(optional{value: args[0], ok: true}, args[1])
	if !found.ok {
		return nil, wrongAt(c.at, "no such key or index")
	}
	return found.value, nil
}

// optionalIndex is index for what may be absent.
func optionalIndex(_ *evaluation, _ *call, args []any) (any, *fault) {
	if o, ok := args[0].(optional); ok {
		return optionalAt(o, args[1]), nil
	}
	return optionalAt(optional{value: args[0], ok: true}, args[1]), nil
}

func optionalAt(of optional, place any) optional {
	switch in := of.value.(type) {
	case []any:
		n, ok := place.(int64)
		if of.ok && ok && n >= 0 && n < int64(len(in)) {
			return optional{value: in[n], ok: true}
		}
	case map[string]any:
		if name, ok := place.(string); ok && of.ok {
			return optionalField(of, name)
		}
	}
	return optional{}
}
