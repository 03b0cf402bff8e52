package shape

// bind evaluates an expression in which a name stands for a value.
func bind(v *evaluation, c *call, names *scope) (any, *fault) {
	value, f := v.eval(c.args[1], names)
	if f != nil {
		return nil, f
	}
	return v.eval(c.args[2], &scope{name: c.args[0].AsIdent(), value: value, around: names})
}

// each calls do with each element of the target, as the value of the macro's name. The elements
// of a map are its keys.
func (v *evaluation) each(c *call, names *scope, do func(inner *scope, value any) (bool, *fault)) *fault {
	of, f := v.eval(c.target, names)
	if f != nil {
		return f
	}
	_, isMap := of.(map[string]any)
	return v.fold(of, c.target, func(key, value any) (bool, *fault) {
		if isMap {
			value = key
		}
		return do(&scope{name: c.args[0].AsIdent(), value: value, around: names}, value)
	})
}

func mapped(v *evaluation, c *call, names *scope) (any, *fault) {
	list := []any{}
	f := v.each(c, names, func(inner *scope, _ any) (bool, *fault) {
		if len(c.args) == 3 {
			if is, f := v.truth(c.args[1], inner); !is || f != nil {
				return false, f
			}
		}
		value, f := v.eval(c.args[len(c.args)-1], inner)
		list = append(list, value)
		return false, f
	})
	return list, f
}

func filtered(v *evaluation, c *call, names *scope) (any, *fault) {
	list := []any{}
	f := v.each(c, names, func(inner *scope, value any) (bool, *fault) {
		is, f := v.truth(c.args[1], inner)
		if is {
			list = append(list, value)
		}
		return false, f
	})
	return list, f
}

// quantified evaluates all, exists and exists_one.
func quantified(v *evaluation, c *call, names *scope) (any, *fault) {
	name, count, missed := c.name, 0, false
	f := v.each(c, names, func(inner *scope, _ any) (bool, *fault) {
		is, f := v.truth(c.args[1], inner)
		if is {
			count++
		} else {
			missed = true
		}
		return name == "all" && missed || name == "exists" && count > 0, f
	})
	switch name {
	case "all":
		return !missed, f
	case "exists":
		return count > 0, f
	}
	return count == 1, f
}

// pairs calls do with each element of the target and its index, or with each entry of a map.
func (v *evaluation) pairs(c *call, names *scope, do func(inner *scope, key any) *fault) *fault {
	of, f := v.eval(c.target, names)
	if f != nil {
		return f
	}
	return v.fold(of, c.target, func(key, value any) (bool, *fault) {
		inner := &scope{name: c.args[0].AsIdent(), value: key, around: names}
		return false, do(&scope{name: c.args[1].AsIdent(), value: value, around: inner}, key)
	})
}

func transformedList(v *evaluation, c *call, names *scope) (any, *fault) {
	list := []any{}
	f := v.pairs(c, names, func(inner *scope, _ any) *fault {
		value, f := v.eval(c.args[2], inner)
		list = append(list, value)
		return f
	})
	return list, f
}

func transformedMap(v *evaluation, c *call, names *scope) (any, *fault) {
	object := make(map[string]any)
	f := v.pairs(c, names, func(inner *scope, key any) *fault {
		value, f := v.eval(c.args[2], inner)
		if f != nil {
			return f
		}
		return v.put(object, key, value, c.target)
	})
	return object, f
}
