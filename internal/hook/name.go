package hook

import (
	"fmt"
	"slices"
	"strings"
)

// Names are the words for the values of an enum, as they appear in the API, in records and in
// logs, by value.
type Names[E ~uint8] []string

// Of returns the word for the value; "unknown" for a value without one.
func (n Names[E]) Of(value E) string {
	if int(value) < len(n) && n[value] != "" {
		return n[value]
	}
	return "unknown"
}

// parse returns the value above 0 with the word, or CodeInvalid for the field.
func (n Names[E]) parse(field, word string) (E, error) {
	if i := slices.Index(n, word); i > 0 && word != "" {
		return E(i), nil
	}
	return 0, Invalid(FieldError{field, fmt.Sprintf("%q is not one of %s", word, strings.Join(n[1:], ", "))})
}
