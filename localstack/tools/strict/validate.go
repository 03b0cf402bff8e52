package strict

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// validate returns the faults of a value against its shape, each with the path
// of the faulty member.
func (m *model) validate(name, at string, value any) []string {
	s := m.Shapes[name]
	switch s.Type {
	case "structure":
		return m.validateStructure(s, at, value)
	case "list":
		return m.validateList(s, at, value)
	case "map":
		return m.validateMap(s, at, value)
	case "string":
		return s.validateString(at, value)
	case "blob":
		return s.validateBlob(at, value)
	case "integer", "long", "float", "double":
		return s.validateNumber(at, value)
	case "boolean":
		if _, ok := value.(bool); !ok {
			return []string{wrongType(at, "a boolean", value)}
		}
	}
	return nil // timestamps: no rule
}

func (m *model) validateStructure(s *shape, at string, value any) []string {
	fields, ok := value.(map[string]any)
	if !ok {
		return []string{wrongType(at, "a structure", value)}
	}
	var faults []string
	for _, name := range s.Required {
		if fields[s.Members[name].wire(name)] == nil {
			faults = append(faults, fmt.Sprintf("Value null at '%s' failed to satisfy constraint: Member must not be null", below(at, name)))
		}
	}
	known := map[string]bool{}
	for _, name := range s.names() {
		ref := s.Members[name]
		known[ref.wire(name)] = true
		if v := fields[ref.wire(name)]; v != nil {
			faults = append(faults, m.validate(ref.Shape, below(at, name), v)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !known[name] {
			faults = append(faults, fmt.Sprintf("Member '%s' is not in the service model", below(at, name)))
		}
	}
	return faults
}

func (m *model) validateList(s *shape, at string, value any) []string {
	items, ok := value.([]any)
	if !ok {
		return []string{wrongType(at, "a list", value)}
	}
	faults := s.bounds(at, len(items), value)
	for i, item := range items {
		faults = append(faults, m.validate(s.Member.Shape, fmt.Sprintf("%s.%d.member", at, i+1), item)...)
	}
	return faults
}

func (m *model) validateMap(s *shape, at string, value any) []string {
	entries, ok := value.(map[string]any)
	if !ok {
		return []string{wrongType(at, "a map", value)}
	}
	faults := s.bounds(at, len(entries), value)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		faults = append(faults, m.validate(s.Key.Shape, at+" key", key)...)
		faults = append(faults, m.validate(s.Value.Shape, at+"."+key, entries[key])...)
	}
	return faults
}

// validateString counts UTF-16 code units, as Java's length does.
func (s *shape) validateString(at string, value any) []string {
	text, ok := value.(string)
	if !ok {
		return []string{wrongType(at, "a string", value)}
	}
	faults := s.bounds(at, len(utf16.Encode([]rune(text))), value)
	if s.pattern != nil && !s.pattern.MatchString(text) {
		faults = append(faults, fault(at, value, "Member must satisfy regular expression pattern: "+s.Pattern))
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
		faults = append(faults, fault(at, value, "Member must satisfy enum value set: ["+strings.Join(s.Enum, ", ")+"]"))
	}
	return faults
}

func (s *shape) validateBlob(at string, value any) []string {
	text, _ := value.(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return []string{wrongType(at, "a blob in base64", value)}
	}
	return s.bounds(at, len(raw), "a blob")
}

func (s *shape) validateNumber(at string, value any) []string {
	number, ok := value.(json.Number)
	if !ok {
		return []string{wrongType(at, "a number", value)}
	}
	n, err := number.Float64()
	if err != nil {
		return []string{wrongType(at, "a number", value)}
	}
	if s.Type == "integer" || s.Type == "long" {
		if _, err := number.Int64(); err != nil {
			return []string{wrongType(at, "an integer", value)}
		}
	}
	return s.within(at, "have value", n, value)
}

// bounds checks a length or a number of elements.
func (s *shape) bounds(at string, n int, value any) []string {
	return s.within(at, "have length", float64(n), value)
}

func (s *shape) within(at, what string, n float64, value any) []string {
	var faults []string
	if s.Min != nil && n < *s.Min {
		faults = append(faults, fault(at, value, fmt.Sprintf("Member must %s greater than or equal to %s", what, decimal(*s.Min))))
	}
	if s.Max != nil && n > *s.Max {
		faults = append(faults, fault(at, value, fmt.Sprintf("Member must %s less than or equal to %s", what, decimal(*s.Max))))
	}
	return faults
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func fault(at string, value any, constraint string) string {
	return fmt.Sprintf("Value '%.200v' at '%s' failed to satisfy constraint: %s", value, at, constraint)
}

func wrongType(at, want string, value any) string {
	return fmt.Sprintf("Member '%s' is %.100v, not %s", at, value, want)
}

// below is the path of a member: AWS writes names with a small first letter.
func below(at, name string) string {
	if name != "" {
		name = strings.ToLower(name[:1]) + name[1:]
	}
	if at == "" {
		return name
	}
	return at + "." + name
}
