package hook

import (
	"fmt"
	"slices"
	"strings"
)

// Fields collects the wrong fields of an input.
type Fields []FieldError

// Add adds a wrong field.
func (f *Fields) Add(field, format string, args ...any) {
	*f = append(*f, FieldError{field, fmt.Sprintf(format, args...)})
}

// Refuse adds the field if it is wrong.
func (f *Fields) Refuse(wrong bool, field, format string, args ...any) {
	if wrong {
		f.Add(field, format, args...)
	}
}

// AlsoWrong returns the wrong fields of two checks of the same input. The later check sees a
// malformed field as absent, so its errors about the fields of first, or about fields inside or
// around them, are left out.
func AlsoWrong(first, more []FieldError) []FieldError {
	return append(slices.Clip(first), slices.DeleteFunc(slices.Clone(more), func(m FieldError) bool {
		return slices.ContainsFunc(first, func(f FieldError) bool {
			return f.Field == m.Field || within(f.Field, m.Field) || within(m.Field, f.Field)
		})
	})...)
}

// within reports whether the field is inside the other: retry.schedule[0] is in retry.
func within(field, other string) bool {
	rest, ok := strings.CutPrefix(field, other)
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "["))
}
