package schema

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	errWork   = errors.New("the check takes too long")
	errCircle = errors.New("has a reference that leads back to itself for the same value")
)

// meter makes every subschema of root count the work of each value before the check of
// the value. The hook is the keyword format, which checks nothing in this package, comes
// before all keywords with subschemas, and after type, const and enum. So a value
// refused by those three is counted by the subschema above.
func (s *Schema) meter(root *jsonschema.Schema) error {
	open := make(map[*jsonschema.Schema]bool)
	seen := map[*jsonschema.Schema]bool{root: true}
	for next := []*jsonschema.Schema{root}; len(next) > 0; {
		sub := next[len(next)-1]
		next = next[:len(next)-1]
		if sub.Location != place && !strings.HasPrefix(sub.Location, place+"#") {
			return errRemote
		}
		if circular(sub, open) {
			return errCircle
		}
		sub.Format = &jsonschema.Format{Name: "work", Validate: s.charge(sub)}
		all := append(inPlace(sub), each(sub)...)
		for _, property := range sub.Properties {
			all = append(all, property)
		}
		for _, child := range append(all, sub.PrefixItems...) {
			if child != nil && !seen[child] {
				seen[child] = true
				next = append(next, child)
			}
		}
	}
	return nil
}

// circular reports whether a value of the subschema leads back to the subschema without
// an end. open has the subschemas on the way as true, and those without a circle as false.
func circular(s *jsonschema.Schema, open map[*jsonschema.Schema]bool) bool {
	if on, known := open[s]; known {
		return on
	}
	open[s] = true
	for _, sub := range inPlace(s) {
		if sub != nil && circular(sub, open) {
			return true
		}
	}
	open[s] = false
	return false
}

// charge returns the function that takes the work of one value from the check's rest.
// After the end of the rest no subschema looks into a value, and the check ends soon.
func (s *Schema) charge(sub *jsonschema.Schema) func(any) error {
	here, inside := cost(inPlace(sub)), cost(each(sub))
	here += len(sub.Required) + len(sub.DependentRequired)
	return func(v any) error {
		work := 1 + here
		switch v := v.(type) {
		case map[string]any:
			work += len(v) * (1 + inside)
			for name := range v {
				work += cost([]*jsonschema.Schema{sub.Properties[name]}) + len(sub.PatternProperties)*(1+len(name)/8)
			}
		case []any:
			work += len(v)*(1+inside) + cost(sub.PrefixItems[:min(len(v), len(sub.PrefixItems))])
			if sub.UniqueItems {
				work += size(v) * min(len(v), 20) // the library compares up to 20 items in pairs
			}
		case string:
			if sub.Pattern != nil {
				work += len(v) / 8
			}
		}
		if s.left -= work; s.left < 0 {
			return errWork
		}
		return nil
	}
}

// inPlace returns the subschemas that meet the value itself.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	all = append(append(append(all, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, sub := range s.DependentSchemas {
		all = append(all, sub)
	}
	for _, sub := range s.Dependencies {
		all = append(all, schemasIn(sub)...)
	}
	return all
}

// each returns the subschemas that can meet every property or every item of the value.
func each(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems}
	for _, sub := range s.PatternProperties {
		all = append(all, sub)
	}
	all = append(all, schemasIn(s.AdditionalProperties)...)
	all = append(all, schemasIn(s.Items)...)
	return append(all, schemasIn(s.AdditionalItems)...)
}

// schemasIn returns the subschemas in a keyword with several forms.
func schemasIn(keyword any) []*jsonschema.Schema {
	switch keyword := keyword.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{keyword}
	case []*jsonschema.Schema:
		return keyword
	}
	return nil
}

// cost returns the work of a value that meets the subschemas and goes no further.
func cost(subs []*jsonschema.Schema) int {
	work := 0
	for _, s := range subs {
		if s == nil {
			continue
		}
		work++
		if s.Enum != nil {
			work += size(s.Enum.Values)
		}
		if s.Const != nil {
			work += size(*s.Const)
		}
	}
	return work
}

// size returns the number of values in v.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			n += size(value)
		}
	case []any:
		for _, value := range v {
			n += size(value)
		}
	}
	return n
}
