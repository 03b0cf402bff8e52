package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	errWork   = errors.New("the check takes too long")
	errCircle = errors.New("has a reference that leads back to itself for the same value")
	errChain  = fmt.Errorf("has more than %d nested subschemas for the same value", maxChain)
)

// ours is the name of the format that meters, see [Schema.meter].
const ours = "work"

// maxChain limits how deep subschemas that apply to the same value may be nested, references
// included: the library compares each of them with all those around it.
const maxChain = 2 * MaxDepth

// meter makes every subschema of root count the work of each value before the value is checked.
// It hooks into the keyword format, which has no other meaning in this package. The library
// evaluates format after type, const and enum, and before all keywords with subschemas; so the
// work of those three is counted by the enclosing subschema.
func (s *Schema) meter(root *jsonschema.Schema) error {
	chains := make(map[*jsonschema.Schema]int)
	seen := map[*jsonschema.Schema]bool{root: true}
	for next := []*jsonschema.Schema{root}; len(next) > 0; {
		sub := next[len(next)-1]
		next = next[:len(next)-1]
		if sub.Location != place && !strings.HasPrefix(sub.Location, place+"#") {
			return errRemote
		}
		if _, err := chain(sub, chains); err != nil {
			return err
		}
		s.unevaluated = s.unevaluated || sub.UnevaluatedItems != nil || sub.UnevaluatedProperties != nil
		sub.Format = &jsonschema.Format{Name: ours, Validate: s.inspect(sub)}
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

// chain returns the greatest depth of nested subschemas that apply to the same value as the given
// one, at most maxChain. known has the depths of the subschemas seen before, and -1 for those
// whose depth is being computed.
func chain(s *jsonschema.Schema, known map[*jsonschema.Schema]int) (int, error) {
	if length, seen := known[s]; seen {
		if length < 0 {
			return 0, errCircle
		}
		return length, nil
	}
	known[s] = -1
	longest := 0
	for _, sub := range inPlace(s) {
		if sub == nil {
			continue
		}
		length, err := chain(sub, known)
		if err != nil {
			return 0, err
		}
		longest = max(longest, length)
	}
	if longest == maxChain {
		return 0, errChain
	}
	known[s] = longest + 1
	return longest + 1, nil
}

// inspect returns the function that charges for a value, and checks uniqueItems in place of the library.
func (s *Schema) inspect(sub *jsonschema.Schema) func(any) error {
	charge, unique := s.charge(sub), sub.UniqueItems
	sub.UniqueItems = false
	return func(v any) error {
		items, ok := v.([]any)
		if !ok || !unique || s.left < 0 {
			return charge(v)
		}
		s.left -= 2 * size(items) // the text of each is written and hashed
		if err := charge(v); err != nil {
			return err
		}
		return differ(items)
	}
}

// charge returns the function that subtracts the steps of one value from those left for the
// check. When none are left, no subschema looks into a value, and the check ends soon.
func (s *Schema) charge(sub *jsonschema.Schema) func(any) error {
	here, inside := priceOf(inPlace(sub)...), priceOf(each(sub)...)
	here.subschemas *= 2 // the error of each is kept until the result of the last is known
	properties := make(map[string]price, len(sub.Properties))
	for name, property := range sub.Properties {
		properties[name] = priceOf(property)
	}
	items := make([]price, len(sub.PrefixItems))
	for i, item := range sub.PrefixItems {
		items[i] = priceOf(item)
	}
	names := 1 + len(sub.Required)
	for _, required := range sub.DependentRequired {
		names += 1 + len(required)
	}
	return func(v any) error {
		if s.left < 0 { // counting names and items takes time, too
			return errWork
		}
		steps := 1 + here.of(v)
		switch v := v.(type) {
		case map[string]any:
			steps += names + len(v)
			if s.unevaluated {
				steps += len(v) * (here.subschemas + inside.subschemas)
			}
			for name, value := range v {
				steps += properties[name].of(value) + inside.of(value)
				for p := range sub.PatternProperties {
					steps += stepsOf(p, len(name))
				}
			}
		case []any:
			steps += len(v)
			if s.unevaluated {
				steps += len(v) * (here.subschemas + inside.subschemas)
			}
			for i, value := range v {
				steps += inside.of(value)
				if i < len(items) {
					steps += items[i].of(value)
				}
			}
		case string:
			steps += len(v) / 256 // to count the characters
			if sub.Pattern != nil {
				steps += stepsOf(sub.Pattern, len(v))
			}
		}
		if s.left -= steps; s.left < 0 {
			return errWork
		}
		return nil
	}
}

// inPlace returns the subschemas that apply to the value itself.
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

// each returns the subschemas that can apply to each property or each item of the value.
func each(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems}
	for _, sub := range s.PatternProperties {
		all = append(all, sub)
	}
	all = append(all, schemasIn(s.AdditionalProperties)...)
	all = append(all, schemasIn(s.Items)...)
	return append(all, schemasIn(s.AdditionalItems)...)
}

// schemasIn returns the subschemas in a keyword that can have several forms.
func schemasIn(keyword any) []*jsonschema.Schema {
	switch keyword := keyword.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{keyword}
	case []*jsonschema.Schema:
		return keyword
	}
	return nil
}
