package filter

import (
	"encoding/json"
	"slices"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/decimal"
)

// Filter is a parsed filter. It is safe for concurrent use.
type Filter struct {
	root   group
	absent [][]string // the paths of all {"exists": false}
	bytes  int
}

// Bytes returns about how much memory the filter takes, and not less.
func (f *Filter) Bytes() int { return f.bytes }

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

// condition is one alternative of a field.
type condition struct {
	steps int
	holds func(v *scalar) bool
}

// scalar is a value of an event: nil, bool, string or json.Number.
type scalar struct {
	value  any
	parsed bool
	number decimal.Decimal
	beyond bool // a number past the bounds of package decimal
}

// decimal returns a number that can be compared. A number is parsed when the first condition
// compares it.
func (s *scalar) decimal() (d decimal.Decimal, ok bool) {
	text, ok := s.value.(json.Number)
	if !ok {
		return d, false
	}
	if !s.parsed {
		s.number, ok = decimal.Parse(text.String())
		s.parsed, s.beyond = true, !ok
	}
	return s.number, !s.beyond
}

// Document is an event as filters see it.
type Document struct {
	Steps int // of decoding the payload

	root map[string]any
}

// NewDocument returns the document of an event. The payload must be JSON. A payload that is not
// an object is left out.
func NewDocument(eventType string, payload []byte) Document {
	root := map[string]any{"type": eventType}
	value, _ := hook.DecodeValue(payload)
	if object, ok := value.(map[string]any); ok {
		root["payload"] = object
	}
	return Document{Steps: len(payload) / hook.BytesPerStep, root: root}
}

// Matches reports whether the event matches, and the steps of the match, at most MaxSteps.
func (f *Filter) Matches(d Document) (matched bool, steps int) {
	matched, m := f.match(d)
	return matched, MaxSteps - max(m.left, 0)
}

func (f *Filter) match(d Document) (bool, match) {
	m := match{filter: f, root: d.root, left: MaxSteps, absent: make([]absence, len(f.absent))}
	matched := m.group(f.root, d.root) || m.left < 0
	return matched, m
}

// absence says whether a path has no scalar value, once it was looked for.
type absence struct{ looked, is bool }

// match is one match of one event. left is below 0 after MaxSteps.
type match struct {
	filter *Filter
	root   map[string]any
	left   int
	absent []absence // by the index in Filter.absent
	value  scalar    // that is tested now
	beyond []*field  // that met a number past the bounds
}

// spend counts steps; false past MaxSteps.
func (m *match) spend(steps int) bool {
	m.left -= steps
	return m.left >= 0
}

func (m *match) group(g group, object map[string]any) bool {
	for i := range g.fields {
		if !m.field(&g.fields[i], object) {
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

func (m *match) field(f *field, object map[string]any) bool {
	value, ok := object[f.name]
	if !m.spend(stepsOf(f.name, bytesOfText)) {
		return false
	}
	if f.below != nil {
		return ok && m.below(*f.below, value)
	}
	if ok && m.leaf(f, value) {
		return true
	}
	return f.absent > 0 && m.isAbsent(f.absent-1)
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
func (m *match) leaf(f *field, value any) bool {
	if !m.spend(1) {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		return false
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return m.leaf(f, v) })
	}
	m.value = scalar{value: value}
	matched := m.any(f.any)
	if m.value.beyond && !slices.Contains(m.beyond, f) {
		m.beyond = append(m.beyond, f)
	}
	return matched
}

// any reports whether an alternative matches the value.
func (m *match) any(alternatives []condition) bool {
	for _, c := range alternatives {
		if !m.spend(c.steps) {
			return false
		}
		if c.holds(&m.value) {
			return true
		}
	}
	return false
}

// isAbsent reports that no element of any array has a scalar value at the path. The answer holds
// for the whole event. If the payload is not an object, every path below it is unknown, and no
// condition on the payload matches.
func (m *match) isAbsent(index int) bool {
	path := m.filter.absent[index]
	if _, has := m.root["payload"]; !has && path[0] == "payload" {
		return false
	}
	if a := &m.absent[index]; !a.looked {
		*a = absence{looked: true, is: !m.present(path, m.root)}
	}
	return m.absent[index].is
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
