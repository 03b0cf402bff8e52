package shape

import "iter"

// bind evaluates an expression in which a name stands for a value.
func bind(v *evaluation, c *call, names *scope) any {
	value := v.eval(c.args[1], names)
	return v.eval(c.args[2], &scope{name: c.args[0].AsIdent(), value: value, around: names})
}

// each returns the elements of the target, and scopes in which the macro's name stands for them. The
// elements of a map are its keys.
func (v *evaluation) each(c *call, names *scope) iter.Seq2[*scope, any] {
	return func(yield func(inner *scope, value any) bool) {
		of := v.eval(c.target, names)
		_, isMap := of.(map[string]any)
		for key, value := range v.elements(of, c.target) {
			if isMap {
				value = key
			}
			if !yield(&scope{name: c.args[0].AsIdent(), value: value, around: names}, value) {
				return
			}
		}
	}
}

func mapped(v *evaluation, c *call, names *scope) any {
	list := []any{}
	for inner := range v.each(c, names) {
		if len(c.args) == 2 || v.truth(c.args[1], inner) {
			list = append(list, v.eval(c.args[len(c.args)-1], inner))
		}
	}
	return list
}

func filtered(v *evaluation, c *call, names *scope) any {
	list := []any{}
	for inner, value := range v.each(c, names) {
		if v.truth(c.args[1], inner) {
			list = append(list, value)
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

// pairs returns the elements of the target with their indexes, or the entries of a map: the scopes in
// which the macro's names stand for them, and the index or key.
func (v *evaluation) pairs(c *call, names *scope) iter.Seq2[*scope, any] {
	return func(yield func(inner *scope, key any) bool) {
		for key, value := range v.elements(v.eval(c.target, names), c.target) {
			inner := &scope{name: c.args[0].AsIdent(), value: key, around: names}
			if !yield(&scope{name: c.args[1].AsIdent(), value: value, around: inner}, key) {
				return
			}
		}
	}
}

func transformedList(v *evaluation, c *call, names *scope) any {
	list := []any{}
	for inner := range v.pairs(c, names) {
		list = append(list, v.eval(c.args[2], inner))
	}
	return list
}

func transformedMap(v *evaluation, c *call, names *scope) any {
	object := make(map[string]any)
	for inner, key := range v.pairs(c, names) {
		v.put(object, key, v.eval(c.args[2], inner), c.target)
	}
	return object
}
