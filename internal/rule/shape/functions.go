package shape

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
)

func conversionOf(name string) (function, bool) {
	do, ok := map[string]func(v *evaluation, c *call, args []any) (any, *fault){
		"size": size, "string": toString, "int": toInt, "uint": toUint, "double": toDouble, "bool": toBool, "timestamp": toTime, "json": toJSON,
	}[name]
	return function{least: 1, most: 1, do: do}, ok
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

// bind evaluates an expression with a name for a value.
func bind(v *evaluation, c *call, names *scope) (any, *fault) {
	value, f := v.eval(c.args[1], names)
	if f != nil {
		return nil, f
	}
	return v.eval(c.args[2], &scope{name: c.args[0].AsIdent(), value: value, around: names})
}

// each calls do with each element of the target, as value of the name of the macro. Of a map
// these are the keys.
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

// pairs calls do with each element of the target and its index, or each entry of a map.
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
		return put(object, key, value, c.target)
	})
	return object, f
}

func size(_ *evaluation, c *call, args []any) (any, *fault) {
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

// valueOf evaluates value and hasValue of an optional.
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

// texts returns the arguments as texts, and pays for their size.
func (v *evaluation) texts(c *call, args []any) ([]string, *fault) {
	all := make([]string, len(args))
	for i, arg := range args {
		text, ok := arg.(string)
		if !ok {
			return nil, wrongAt(c.at, "%s needs strings, and has %s", c.name, typeOf(arg))
		}
		if f := v.spendText(len(text), c.at); f != nil {
			return nil, f
		}
		all[i] = text
	}
	return all, nil
}

func search(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	switch c.name {
	case "startsWith":
		return strings.HasPrefix(all[0], all[1]), nil
	case "endsWith":
		return strings.HasSuffix(all[0], all[1]), nil
	}
	return strings.Contains(all[0], all[1]), nil
}

func join(v *evaluation, c *call, args []any) (any, *fault) {
	list, ok := args[0].([]any)
	separator, isText := "", true
	if len(args) > 1 {
		separator, isText = args[1].(string)
	}
	if !ok || !isText {
		return nil, wrongAt(c.at, "join needs a list of strings, and a string between them")
	}
	return v.joined(list, separator, c.at)
}

func split(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	if f := v.spend(strings.Count(all[0], all[1]), c.at); f != nil {
		return nil, f
	}
	parts := strings.Split(all[0], all[1])
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list, nil
}

func replace(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	if f := v.spendText(strings.Count(all[0], all[1])*(1+len(all[2])), c.at); f != nil {
		return nil, f
	}
	return strings.ReplaceAll(all[0], all[1], all[2]), nil
}

// substring returns the characters from the first to before the second place, or to the
// end. Places beyond the end are at the end.
func substring(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args[:1])
	if f != nil {
		return nil, f
	}
	text := all[0]
	places := [2]int64{0, math.MaxInt64}
	for i, arg := range args[1:] {
		n, ok := arg.(int64)
		if !ok {
			return nil, wrongAt(c.at, "substring needs ints, and has %s", typeOf(arg))
		}
		places[i] = n
	}
	if places[0] < 0 || places[1] < places[0] {
		return nil, wrongAt(c.at, "substring needs places from 0, the smaller one first")
	}
	return text[byteAt(text, places[0]):byteAt(text, places[1])], nil
}

// byteAt returns the byte at which a character begins; the end for one beyond.
func byteAt(text string, character int64) int {
	if character >= int64(len(text)) {
		return len(text)
	}
	at := 0
	for ; character > 0 && at < len(text); character-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

func changed(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	switch c.name {
	case "lowerAscii":
		return strings.Map(func(r rune) rune { return shifted(r, 'A', 'Z', 'a'-'A') }, all[0]), nil
	case "upperAscii":
		return strings.Map(func(r rune) rune { return shifted(r, 'a', 'z', 'A'-'a') }, all[0]), nil
	}
	return strings.TrimSpace(all[0]), nil
}

func shifted(r, first, last, by rune) rune {
	if r >= first && r <= last {
		return r + by
	}
	return r
}

func encodeBase64(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	return base64.StdEncoding.EncodeToString([]byte(all[0])), nil
}

func toJSON(v *evaluation, c *call, args []any) (any, *fault) {
	w := writer{pay: func(bytes int) *fault { return v.spendText(bytes, c.at) }}
	if err := w.write(args[0], 0); err != nil {
		return nil, wrongAt(c.at, "json: %s", err)
	}
	return string(w.text), nil
}

func toString(_ *evaluation, c *call, args []any) (any, *fault) {
	switch of := args[0].(type) {
	case string:
		return of, nil
	case bool:
		return strconv.FormatBool(of), nil
	case int64:
		return strconv.FormatInt(of, 10), nil
	case uint64:
		return strconv.FormatUint(of, 10), nil
	case float64:
		return strconv.FormatFloat(of, 'g', -1, 64), nil
	case time.Time:
		return stamp(of), nil
	}
	return nil, notConverted(c.at, args[0])
}

func notConverted(at ast.Expr, value any) *fault {
	return wrongAt(at, "%s cannot be converted to %s", typeOf(value), at.AsCall().FunctionName())
}

// toInt converts whole numbers, the whole part of doubles, texts, and times to seconds.
func toInt(_ *evaluation, c *call, args []any) (any, *fault) {
	switch of := args[0].(type) {
	case int64:
		return of, nil
	case uint64:
		if of <= math.MaxInt64 {
			return int64(of), nil
		}
	case float64:
		if of > -1<<63 && of < 1<<63 {
			return int64(of), nil
		}
	case string:
		if n, err := strconv.ParseInt(of, 10, 64); err == nil {
			return n, nil
		}
	case time.Time:
		return of.Unix(), nil
	}
	return nil, notConverted(c.at, args[0])
}

func toUint(_ *evaluation, c *call, args []any) (any, *fault) {
	switch of := args[0].(type) {
	case uint64:
		return of, nil
	case int64:
		if of >= 0 {
			return uint64(of), nil
		}
	case float64:
		if of >= 0 && of < 1<<64 {
			return uint64(of), nil
		}
	case string:
		if n, err := strconv.ParseUint(of, 10, 64); err == nil {
			return n, nil
		}
	}
	return nil, notConverted(c.at, args[0])
}

func toDouble(_ *evaluation, c *call, args []any) (any, *fault) {
	if n, ok := double(args[0]); ok {
		return n, nil
	}
	if text, ok := args[0].(string); ok {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n, nil
		}
	}
	return nil, notConverted(c.at, args[0])
}

func toBool(_ *evaluation, c *call, args []any) (any, *fault) {
	switch args[0] {
	case true, "true":
		return true, nil
	case false, "false":
		return false, nil
	}
	return nil, notConverted(c.at, args[0])
}

func toTime(_ *evaluation, c *call, args []any) (any, *fault) {
	text, _ := args[0].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, notConverted(c.at, args[0])
	}
	return at, nil
}
