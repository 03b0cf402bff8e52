package shape

import "github.com/google/cel-go/common/ast"

// logical returns && or ||. If the first operand is end, it is the result; otherwise the second
// operand is.
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

// index returns an element of a list, or a value of a map.
func index(v *evaluation, c *call, args []any) (any, *fault) {
	found, f := v.lookup(c, args)
	if _, is := args[0].(optional); is || f != nil {
		return found, f
	}
	if !found.ok {
		return nil, wrongAt(c.at, "no such key or index")
	}
	return found.value, nil
}

// optionalIndex is index for an element or key that may be missing.
func optionalIndex(v *evaluation, c *call, args []any) (any, *fault) {
	found, f := v.lookup(c, args)
	return found, f
}

// lookup returns the element in the value, or in an optional value.
func (v *evaluation) lookup(c *call, args []any) (optional, *fault) {
	if f := v.spendValue(args[1], c.at); f != nil {
		return optional{}, f
	}
	place, f := v.number(args[1], c.at)
	if f != nil {
		return optional{}, f
	}
	of, is := args[0].(optional)
	if !is {
		of = optional{value: args[0], ok: true}
	}
	return optionalAt(of, place), nil
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
