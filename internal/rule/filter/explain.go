package filter

import (
	"fmt"
	"strconv"

	"surehook.example/surehook/internal/hook"
)

// Explain reports whether the event matches, and the fields of the filter that met a number past
// the bounds of package decimal, which no comparison matches. name is the name of the filter in
// the request.
func (f *Filter) Explain(d Document, name string) (matched bool, problems []hook.FieldError) {
	matched, m := f.match(d)
	for _, field := range m.beyond {
		at, _ := f.root.pointer(field)
		problems = append(problems, hook.FieldError{Field: name + at, Message: fmt.Sprintf("no comparison matches the number in the event: it has %s", tooLong())})
	}
	return matched, problems
}

// pointer returns the JSON pointer to the field in the group.
func (g group) pointer(to *field) (at string, found bool) {
	for i := range g.fields {
		f := &g.fields[i]
		if f == to {
			return hook.Pointer(f.name), true
		}
		if f.below == nil {
			continue
		}
		if below, found := f.below.pointer(to); found {
			return hook.Pointer(f.name) + below, true
		}
	}
	for _, choice := range g.choices {
		for i, alternative := range choice {
			if below, found := alternative.pointer(to); found {
				return hook.Pointer("$or", strconv.Itoa(i)) + below, true
			}
		}
	}
	return "", false
}
