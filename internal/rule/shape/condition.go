package shape

import "github.com/google/cel-go/common/ast"

// logical returns && or ||. If the first operand is end, it is the result; otherwise the second
// operand is.
func logical(end bool) func(v *evaluation, c *call, names *scope) any {
	return func(v *evaluation, c *call, names *scope) any {
		for _, arg := range c.args {
			if v.truth(arg, names) == end {
				return end
			}
		}
		return !end
	}
}

// truth evaluates a condition.
func (v *evaluation) truth(e ast.Expr, names *scope) bool {
	value := v.eval(e, names)
	is, ok := value.(bool)
	if !ok {
		panic(wrongAt(e, "must be a bool, and this is %s", typeOf(value)))
	}
	return is
}

func conditional(v *evaluation, c *call, names *scope) any {
	if v.truth(c.args[0], names) {
		return v.eval(c.args[1], names)
	}
	return v.eval(c.args[2], names)
}

// has reports whether a map has a field.
func has(v *evaluation, c *call, names *scope) any {
	field := c.args[0]
	if field.Kind() != ast.SelectKind {
		panic(wrongAt(field, "has needs a field, such as has(event.data.name)"))
	}
	name := field.AsSelect().FieldName()
	operand := v.eval(field.AsSelect().Operand(), names)
	fields, ok := operand.(map[string]any)
	if !ok {
		panic(wrongAt(field, "%s has no field %s", typeOf(operand), name))
	}
	_, ok = fields[name]
	return ok
}

// index returns an element of a list, or a value of a map.
func index(v *evaluation, c *call, args []any) any {
	found := v.lookup(c, args)
	if _, is := args[0].(optional); is {
		return found
	}
	if !found.ok {
		panic(wrongAt(c.at, "no such key or index"))
	}
	return found.value
}

// optionalIndex is index for an element or key that may be missing.
func optionalIndex(v *evaluation, c *call, args []any) any { return v.lookup(c, args) }

// lookup returns the element in the value, or in an optional value.
func (v *evaluation) lookup(c *call, args []any) optional {
	v.spendValue(args[1], c.at)
	place := v.number(args[1], c.at)
	of, is := args[0].(optional)
	if !is {
		of = optional{value: args[0], ok: true}
	}
	switch in := of.value.(type) {
	case []any:
		n, ok := place.(int64)
		if of.ok && ok && n >= 0 && n < int64(len(in)) {
			return optional{value: in[n], ok: true}
		}
	case map[string]any:
		if name, ok := place.(string); ok {
			return optionalField(of, name)
		}
	}
	return optional{}
}
