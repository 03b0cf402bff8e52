package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"surehook/internal/hook"
)

// maxMessage bounds a message, in bytes: a schema can name long values.
const maxMessage = 300

// explain returns the errors with the places of the wrong values, at most MaxErrors, in
// the order of the places. With alternatives, the errors of all alternatives are named.
func explain(err *jsonschema.ValidationError, field string, alternatives bool) []hook.FieldError {
	found := flatten(err, alternatives, nil)
	slices.SortFunc(found, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(
			slices.Compare(a.InstanceLocation, b.InstanceLocation),
			slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()),
			strings.Compare(a.SchemaURL, b.SchemaURL),
			strings.Compare(nameOf(a.ErrorKind), nameOf(b.ErrorKind)),
		)
	})
	printer := message.NewPrinter(language.English)
	var all []hook.FieldError
	for _, e := range found {
		f := hook.FieldError{Field: field + hook.Pointer(e.InstanceLocation...), Message: short(text(e.ErrorKind, printer))}
		if !slices.Contains(all, f) { // two references can lead to one error
			all = append(all, f)
		}
		if len(all) == MaxErrors {
			break
		}
	}
	return all
}

// nameOf returns the wrong name of a property; empty for another error.
func nameOf(k jsonschema.ErrorKind) string {
	if wrong, ok := k.(*kind.PropertyNames); ok {
		return wrong.Property
	}
	return ""
}

// flatten returns the errors that say what is wrong: not those that hold others only. Of
// alternatives the error is that none fits, because nobody knows which was meant.
func flatten(e *jsonschema.ValidationError, alternatives bool, all []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf:
		if !alternatives {
			return append(all, e)
		}
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
	default:
		return append(all, e)
	}
	for _, cause := range e.Causes {
		all = flatten(cause, alternatives, all)
	}
	return all
}

func text(k jsonschema.ErrorKind, p *message.Printer) string {
	switch k := k.(type) {
	case *kind.AnyOf:
		return "must fit one of the subschemas of anyOf"
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return "must fit one of the subschemas of oneOf"
		}
		return "must fit only one of the subschemas of oneOf"
	case *kind.Not:
		return "must not fit the subschema of not"
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties) // in the random order of a map
	}
	return k.LocalizedString(p)
}

// short cuts a message to maxMessage bytes of valid UTF-8.
func short(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}
