package filter

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Filter is a parsed filter. It is safe for concurrent use.
type Filter struct {
	root   group
	absent [][]string // the paths of all {"exists": false}
}

// group is an object of a filter: every field and every choice must match.
type group struct {
	fields  []field
	choices [][]group // of $or: one group of each must match
}

// field is a named part of a group: an object or a list of alternatives.
type field struct {
	name   string
	below  *group
	any    []condition // tests of one scalar value
	absent int         // 1 + the index in Filter.absent; 0: none
}

// condition is one alternative of a field. The value is nil, bool, string or number.
type condition struct {
	steps int
	holds func(value any) bool
}

// number is a JSON number, parsed once for all filters.
type number struct {
	text   string
	double float64
	ok     bool // false past the range of doubles
}

func parseNumber(n json.Number) number {
	f, err := n.Float64()
	return number{text: n.String(), double: f, ok: err == nil}
}

// parsed returns the value with all numbers parsed.
func parsed(value any) any {
	switch v := value.(type) {
	case json.Number:
		return parseNumber(v)
	case []any:
		for i := range v {
			v[i] = parsed(v[i])
		}
	case map[string]any:
		for name, below := range v {
			switch below.(type) {
			case json.Number, []any, map[string]any:
				v[name] = parsed(below)
			}
		}
	}
	return value
}

// Document is an event as filters see it.
type Document struct {
	root map[string]any
}

// NewDocument returns the document of an event. The payload must be JSON. A payload that is not
// an object is left out.
func NewDocument(eventType string, payload []byte) Document {
	root := map[string]any{"type": eventType}
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) == nil && object != nil {
		root["payload"] = parsed(object)
	}
	return Document{root: root}
}

// Matches reports whether the event matches, and the steps of the match, at most MaxSteps.
func (f *Filter) Matches(d Document) (matched bool, steps int) {
	m := match{filter: f, root: d.root, left: MaxSteps, known: make([]presence, len(f.absent))}
	matched = m.group(f.root, d.root) || m.left < 0
	return matched, MaxSteps - max(m.left, 0)
}

type presence uint8

const (
	unknown presence = iota
	present
	missing
)

// match is one match of one event. left is below 0 after MaxSteps.
type match struct {
	filter *Filter
	root   map[string]any
	left   int
	known  []presence // by the index in Filter.absent
}

// spend counts steps; false past MaxSteps.
func (m *match) spend(steps int) bool {
	m.left -= steps
	return m.left >= 0
}

func (m *match) group(g group, object map[string]any) bool {
	for _, f := range g.fields {
		if !m.field(f, object) {
			return false
		}
	}
	for _, choice := range g.choices {
		if !slices.ContainsFunc(choice, func(g group) bool { return m.group(g, object) }) {
			return false
		}
	}
	return true
}

func (m *match) field(f field, object map[string]any) bool {
	value, ok := object[f.name]
	if !m.spend(stepsOf(f.name, bytesOfText)) {
		return false
	}
	if f.below != nil {
		return ok && m.below(*f.below, value)
	}
	if ok && m.leaf(f.any, value) {
		return true
	}
	return f.absent > 0 && m.absent(f.absent-1)
}

// below matches an object, or one object of an array.
func (m *match) below(g group, value any) bool {
	if !m.spend(1) {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		return m.group(g, value)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return m.below(g, v) })
	}
	return false
}

// leaf matches a scalar value, or one scalar value of an array.
func (m *match) leaf(alternatives []condition, value any) bool {
	if !m.spend(1) {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		return false
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return m.leaf(alternatives, v) })
	}
	for _, c := range alternatives {
		if !m.spend(c.steps) {
			return false
		}
		if c.holds(value) {
			return true
		}
	}
	return false
}

// absent reports that no element of any array has a scalar value at the path. The answer holds
// for the whole event. If the payload is not an object, every path below it is unknown, and no
// condition on the payload matches.
func (m *match) absent(index int) bool {
	path := m.filter.absent[index]
	if _, has := m.root["payload"]; !has && path[0] == "payload" {
		return false
	}
	if m.known[index] == unknown {
		m.known[index] = missing
		if m.present(path, m.root) {
			m.known[index] = present
		}
	}
	return m.known[index] == missing
}

func (m *match) present(path []string, value any) bool {
	if !m.spend(1) {
		return true
	}
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, func(v any) bool { return m.present(path, v) })
	case map[string]any:
		if len(path) == 0 {
			return false
		}
		m.spend(len(path[0]) / bytesOfText)
		below, ok := v[path[0]]
		return ok && m.present(path[1:], below)
	}
	return len(path) == 0
}
