package shape

import "iter"

// bind evaluates an expression in which a name stands for a value.
func bind(v *evaluation, c *call, names *scope) any {
	value := v.eval(c.args[1], names)
	return v.eval(c.args[2], &scope{name: c.args[0].AsIdent(), value: value, around: names})
}

// each returns the elements of the target, and scopes in which the macro's names stand for them: one
// name for the element, or for the key of a map; two names for the index and the element, or for the
// key and the value.
func (v *evaluation) each(c *call, names *scope) iter.Seq2[*scope, element] {
	return func(yield func(inner *scope, e element) bool) {
		of := v.eval(c.target, names)
		_, isMap := of.(map[string]any)
		for key, value := range v.elements(of, c.target) {
			inner := names
			switch {
			case c.names == 2:
				inner = &scope{name: c.args[0].AsIdent(), value: key, around: names}
			case isMap:
				value = key
			}
			if !yield(&scope{name: c.args[c.names-1].AsIdent(), value: value, around: inner}, element{key, value}) {
				return
			}
		}
	}
}

// element is what macros see of a list or a map.
type element struct{ key, value any }

// mapped evaluates map and transformList.
func mapped(v *evaluation, c *call, names *scope) any {
	list := []any{}
	rest := c.args[c.names:]
	for inner := range v.each(c, names) {
		if len(rest) == 1 || v.truth(rest[0], inner) {
			list = append(list, v.eval(rest[len(rest)-1], inner))
		}
	}
	return list
}

func filtered(v *evaluation, c *call, names *scope) any {
	list := []any{}
	for inner, e := range v.each(c, names) {
		if v.truth(c.args[1], inner) {
			list = append(list, e.value)
		}
	}
	return list
}

// quantified evaluates all, exists and exists_one.
func quantified(v *evaluation, c *call, names *scope) any {
	count := 0
	for inner := range v.each(c, names) {
		switch is := v.truth(c.args[1], inner); {
		case is && c.name == "exists":
			return true
		case is:
			count++
		case c.name == "all":
			return false
		}
	}
	return c.name == "all" || count == 1
}

func transformedMap(v *evaluation, c *call, names *scope) any {
	object := make(map[string]any)
	for inner, e := range v.each(c, names) {
		v.put(object, e.key, v.eval(c.args[2], inner), c.target)
	}
	return object
}
