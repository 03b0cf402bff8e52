package filter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"surehook.example/surehook/internal/hook"
)

// Parse returns the filter in the JSON, or what is wrong with it. field is the name of the JSON
// in the request; a JSON pointer to the wrong part follows the name.
func Parse(raw []byte, field string) (*Filter, []hook.FieldError) {
	p := parser{filter: &Filter{}}
	p.parse(raw)
	if p.message != "" {
		return nil, []hook.FieldError{{Field: field + p.at, Message: p.message}}
	}
	p.filter.bytes = 2*len(raw) + bytesOfPart*(1+p.values+p.fields)
	return p.filter, nil
}

// bytesOfPart is more than a field or an alternative takes beside its texts.
const bytesOfPart = 250

// parser holds the first fault.
type parser struct {
	filter  *Filter
	values  int
	fields  int
	at      string
	message string
}

func (p *parser) refuse(at, format string, args ...any) {
	if p.message == "" {
		p.at, p.message = at, fmt.Sprintf(format, args...)
	}
}

// count counts an alternative; false past MaxValues.
func (p *parser) count(at string) bool {
	p.values++
	if p.values > MaxValues {
		p.refuse(at, "the filter must have at most %d alternatives", MaxValues)
	}
	return p.values <= MaxValues
}

func (p *parser) parse(raw []byte) {
	if len(raw) > MaxBytes {
		p.refuse("", "must be at most %d bytes of JSON", MaxBytes)
		return
	}
	document, message := hook.DecodeValue(raw)
	if message != "" {
		p.refuse("", "%s", message)
		return
	}
	if depth(document) > MaxDepth {
		p.refuse("", "must be nested in at most %d levels", MaxDepth)
		return
	}
	p.filter.root = p.group(document, "", nil)
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			deepest = max(deepest, depth(value))
		}
	case []any:
		for _, value := range v {
			deepest = max(deepest, depth(value))
		}
	default:
		return 0
	}
	return deepest + 1
}

// group parses an object. path names the fields of the event above the object.
func (p *parser) group(v any, at string, path []string) group {
	var g group
	object, ok := v.(map[string]any)
	if !ok || len(object) == 0 {
		p.refuse(at, "must be an object with a field")
		return g
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value, below := object[name], at+hook.Pointer(name)
		switch {
		case name == "$or":
			g.choices = append(g.choices, p.choice(value, below, path))
		case len(path) == 0 && name != "type" && name != "payload":
			p.refuse(below, "must be type, payload or $or")
		default:
			g.fields = append(g.fields, p.field(name, value, below, append(slices.Clip(path), name)))
		}
	}
	return g
}

func (p *parser) choice(v any, at string, path []string) []group {
	list, ok := v.([]any)
	if !ok || len(list) < 2 { // EventBridge takes a shorter list for a field, or refuses it
		p.refuse(at, "must be an array of two objects or more")
		return nil
	}
	all := make([]group, len(list))
	for i, object := range list {
		if !p.count(at) {
			return nil
		}
		all[i] = p.group(object, at+hook.Pointer(strconv.Itoa(i)), path)
	}
	return all
}

func (p *parser) field(name string, v any, at string, path []string) field {
	p.fields++
	f := field{name: name}
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 && name == "type" {
			p.refuse(at, "must be an array of alternatives")
			return f
		}
		below := p.group(v, at, path)
		f.below = &below
	case []any:
		if len(path) == 1 && name == "payload" {
			p.refuse(at, "must be an object")
			return f
		}
		p.alternatives(&f, v, at, path)
	default:
		p.refuse(at, "must be an array of alternatives, such as [%q], or an object", "paid")
	}
	return f
}

func (p *parser) alternatives(f *field, list []any, at string, path []string) {
	if len(list) == 0 {
		p.refuse(at, "must have an alternative")
	}
	for i, v := range list {
		if !p.count(at) {
			return
		}
		here := at + hook.Pointer(strconv.Itoa(i))
		operator, ok := v.(map[string]any)
		switch {
		case !ok:
			f.any = append(f.any, p.exact(v, here))
		case operator["exists"] == false && len(operator) == 1:
			p.filter.absent = append(p.filter.absent, path)
			f.absent = len(p.filter.absent)
		default:
			f.any = append(f.any, p.operator(operator, here))
		}
	}
}
