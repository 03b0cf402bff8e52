package shape

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
)

// Tables of what an expression can call, by name.
//
//nolint:gochecknoglobals // tables
var (
	globals = map[string]function{
		operators.LogicalAnd:    {least: 2, most: 2, special: logical(false)},
		operators.LogicalOr:     {least: 2, most: 2, special: logical(true)},
		operators.Conditional:   {least: 3, most: 3, special: conditional},
		operators.Has:           {least: 1, most: 1, special: has},
		operators.LogicalNot:    {least: 1, most: 1, do: unary},
		operators.Negate:        {least: 1, most: 1, do: unary},
		operators.Equals:        {least: 2, most: 2, do: equality},
		operators.NotEquals:     {least: 2, most: 2, do: equality},
		operators.Less:          {least: 2, most: 2, do: ordered(func(order int) bool { return order < 0 })},
		operators.LessEquals:    {least: 2, most: 2, do: ordered(func(order int) bool { return order <= 0 })},
		operators.Greater:       {least: 2, most: 2, do: ordered(func(order int) bool { return order > 0 })},
		operators.GreaterEquals: {least: 2, most: 2, do: ordered(func(order int) bool { return order >= 0 })},
		operators.In:            {least: 2, most: 2, do: contained},
		operators.Add:           {least: 2, most: 2, do: added},
		operators.Subtract:      {least: 2, most: 2, do: calculated(traits.Subtractor.Subtract)},
		operators.Multiply:      {least: 2, most: 2, do: calculated(traits.Multiplier.Multiply)},
		operators.Divide:        {least: 2, most: 2, do: calculated(traits.Divider.Divide)},
		operators.Modulo:        {least: 2, most: 2, do: calculated(traits.Modder.Modulo)},
		operators.Index:         {least: 2, most: 2, do: index},
		operators.OptIndex:      {least: 2, most: 2, do: optionalIndex},
		operators.OptSelect:     {least: 2, most: 2, do: optionalIndex},

		"json":      {least: 1, most: 1, do: toJSON},
		"size":      {least: 1, most: 1, do: size},
		"string":    conversion(toString),
		"int":       conversion(converted(types.IntType)),
		"uint":      conversion(converted(types.UintType)),
		"double":    conversion(converted(types.DoubleType)),
		"bool":      conversion(toBool),
		"timestamp": conversion(converted(types.TimestampType)),
	}
	namespaced = map[string]function{
		"cel.bind":      {least: 3, most: 3, names: 1, bind: true, special: bind},
		"base64.encode": {least: 1, most: 1, do: encodeBase64},
		"optional.of":   {least: 1, most: 1, do: func(_ *evaluation, _ *call, args []any) any { return optional{value: args[0], ok: true} }},
		"optional.none": {do: func(*evaluation, *call, []any) any { return optional{} }},
	}
	// methods are also the macros.
	methods = map[string]function{
		"map":           {least: 2, most: 3, names: 1, special: mapped},
		"filter":        {least: 2, most: 2, names: 1, special: filtered},
		"all":           {least: 2, most: 2, names: 1, special: quantified},
		"exists":        {least: 2, most: 2, names: 1, special: quantified},
		"exists_one":    {least: 2, most: 2, names: 1, special: quantified},
		"transformList": {least: 3, most: 3, names: 2, special: mapped},
		"transformMap":  {least: 3, most: 3, names: 2, special: transformedMap},
		"size":          {do: size},
		"orValue":       {least: 1, most: 1, do: orValue},
		"hasValue":      {do: hasValue},
		"value":         {do: valueOf},
		"contains":      {least: 1, most: 1, do: search(strings.Contains)},
		"startsWith":    {least: 1, most: 1, do: search(strings.HasPrefix)},
		"endsWith":      {least: 1, most: 1, do: search(strings.HasSuffix)},
		"join":          {most: 1, do: join},
		"split":         {least: 1, most: 1, do: split},
		"replace":       {least: 2, most: 2, do: replace},
		"substring":     {least: 1, most: 2, do: substring},
		"trim":          {do: changed(strings.TrimSpace)},
		"lowerAscii":    {do: changed(shifted('A', 'a'))},
		"upperAscii":    {do: changed(shifted('a', 'A'))},
	}
)

// conversion returns a function of one value, which pays for the value first.
func conversion(do func(v *evaluation, c *call, value any) any) function {
	return function{least: 1, most: 1, do: func(v *evaluation, c *call, args []any) any {
		v.spendValue(args[0], c.at)
		return do(v, c, v.number(args[0], c.at))
	}}
}

func size(v *evaluation, c *call, args []any) any {
	v.spendValue(args[0], c.at)
	switch of := args[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(of))
	case []any:
		return int64(len(of))
	case map[string]any:
		return int64(len(of))
	}
	panic(wrongAt(c.at, "%s has no size", typeOf(args[0])))
}

func orValue(_ *evaluation, c *call, args []any) any {
	if o := optionalOf(c, args[0]); o.ok {
		return o.value
	}
	return args[1]
}

func hasValue(_ *evaluation, c *call, args []any) any { return optionalOf(c, args[0]).ok }

func valueOf(_ *evaluation, c *call, args []any) any {
	o := optionalOf(c, args[0])
	if !o.ok {
		panic(wrongAt(c.at, "the optional value is absent"))
	}
	return o.value
}

// optionalOf returns the target of a method of optional values.
func optionalOf(c *call, target any) optional {
	o, ok := target.(optional)
	if !ok {
		panic(wrongAt(c.at, "%s needs an optional value, such as event.data.?name", c.name))
	}
	return o
}
