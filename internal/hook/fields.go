package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
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

// Between refuses a value that is not from least to most, and reports whether it is.
func Between[T cmp.Ordered](wrong *Fields, field string, value, least, most T) bool {
	fits := value >= least && value <= most // both are false for NaN
	wrong.Refuse(!fits, field, "must be %v to %v", written(least), written(most))
	return fits
}

// NoneOrBetween is Between for a value whose zero means none.
func NoneOrBetween[T cmp.Ordered](wrong *Fields, field string, value, least, most T) {
	if value != *new(T) {
		Between(wrong, field, value, least, most)
	}
}

func written(bound any) any {
	if d, ok := bound.(time.Duration); ok {
		return FormatDuration(d)
	}
	return bound
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
