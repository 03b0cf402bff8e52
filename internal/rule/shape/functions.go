package shape

import "unicode/utf8"

// conversionOf returns the function of one value with the name. It pays for the value first. A number
// of the payload stays as it is in JSON.
func conversionOf(name string) (function, bool) {
	var do func(v *evaluation, c *call, args []any) (any, *fault)
	switch name {
	case "size":
		do = size
	case "string":
		do = toString
	case "int":
		do = toInt
	case "uint":
		do = toUint
	case "double":
		do = toDouble
	case "bool":
		do = toBool
	case "timestamp":
		do = toTime
	case "json":
		do = toJSON
	default:
		return function{}, false
	}
	return function{least: 1, most: 1, do: func(v *evaluation, c *call, args []any) (any, *fault) {
		if f := v.spendValue(args[0], c.at); f != nil {
			return nil, f
		}
		if name == "json" {
			return do(v, c, args)
		}
		value, f := v.number(args[0], c.at)
		if f != nil {
			return nil, f
		}
		return do(v, c, []any{value})
	}}, true
}

func namespacedOf(name string) (function, bool) {
	switch name {
	case "cel.bind":
		return function{least: 3, most: 3, names: 1, bind: true, special: bind}, true
	case "base64.encode":
		return function{least: 1, most: 1, do: encodeBase64}, true
	case "optional.of":
		return function{least: 1, most: 1, do: func(_ *evaluation, _ *call, args []any) (any, *fault) { return optional{value: args[0], ok: true}, nil }}, true
	case "optional.none":
		return function{do: func(*evaluation, *call, []any) (any, *fault) { return optional{}, nil }}, true
	}
	return function{}, false
}

func methodOf(name string) (function, bool) {
	switch name {
	case "map":
		return function{least: 2, most: 3, names: 1, special: mapped}, true
	case "filter":
		return function{least: 2, most: 2, names: 1, special: filtered}, true
	case "all", "exists", "exists_one":
		return function{least: 2, most: 2, names: 1, special: quantified}, true
	case "transformList":
		return function{least: 3, most: 3, names: 2, special: transformedList}, true
	case "transformMap":
		return function{least: 3, most: 3, names: 2, special: transformedMap}, true
	case "size":
		return function{do: size}, true
	case "orValue":
		return function{least: 1, most: 1, do: orValue}, true
	case "hasValue", "value":
		return function{do: valueOf}, true
	case "contains", "startsWith", "endsWith":
		return function{least: 1, most: 1, do: search}, true
	case "join":
		return function{most: 1, do: join}, true
	case "split":
		return function{least: 1, most: 1, do: split}, true
	case "replace":
		return function{least: 2, most: 2, do: replace}, true
	case "substring":
		return function{least: 1, most: 2, do: substring}, true
	case "trim", "lowerAscii", "upperAscii":
		return function{do: changed}, true
	}
	return function{}, false
}

func size(v *evaluation, c *call, args []any) (any, *fault) {
	if f := v.spendValue(args[0], c.at); f != nil {
		return nil, f
	}
	switch of := args[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(of)), nil
	case []any:
		return int64(len(of)), nil
	case map[string]any:
		return int64(len(of)), nil
	}
	return nil, wrongAt(c.at, "%s has no size", typeOf(args[0]))
}

func orValue(_ *evaluation, c *call, args []any) (any, *fault) {
	o, ok := args[0].(optional)
	switch {
	case !ok:
		return nil, wrongAt(c.at, "orValue needs an optional value, such as event.data.?name")
	case o.ok:
		return o.value, nil
	}
	return args[1], nil
}

// valueOf evaluates the methods value and hasValue of an optional value.
func valueOf(_ *evaluation, c *call, args []any) (any, *fault) {
	o, ok := args[0].(optional)
	name := c.name
	switch {
	case !ok:
		return nil, wrongAt(c.at, "%s needs an optional value, such as event.data.?name", name)
	case name == "hasValue":
		return o.ok, nil
	case !o.ok:
		return nil, wrongAt(c.at, "the optional value is absent")
	}
	return o.value, nil
}
