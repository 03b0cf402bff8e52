package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"surehook.example/surehook/internal/hook"
)

// Bounds of an error, in bytes: a schema can contain long values, and a payload long names. All
// errors of a batch must fit into one response.
const (
	maxMessage = 300
	maxPlace   = 150
)

// explain returns at most MaxErrors errors, each with the place of the wrong value, in the order
// of the places. For anyOf it returns one error, or with alternatives the errors of all its
// subschemas.
func explain(err *jsonschema.ValidationError, field string, alternatives bool) []hook.FieldError {
	found := firsts{}.add(err, alternatives)
	printer := message.NewPrinter(language.English)
	var all []hook.FieldError
	for _, e := range found {
		f := hook.FieldError{Field: field + pointer(e.InstanceLocation), Message: short(text(e.ErrorKind, printer), maxMessage)}
		if !slices.Contains(all, f) { // two references can lead to one error
			all = append(all, f)
		}
		if len(all) == MaxErrors {
			break
		}
	}
	return all
}

// nameOf returns the property name that an error is about; empty for other errors.
func nameOf(k jsonschema.ErrorKind) string {
	if wrong, ok := k.(*kind.PropertyNames); ok {
		return wrong.Property
	}
	return ""
}

// maxFound is the number of errors that explain looks at. It is more than MaxErrors, because some
// have the same text.
const maxFound = 4 * MaxErrors

// firsts are the first errors in the order of the places, at most maxFound. A check can find
// 100,000 errors.
type firsts []*jsonschema.ValidationError

// add adds the errors that say what is wrong, and leaves out those that only group others. If no
// subschema of anyOf fits, that is the error, because nobody knows which one was meant.
func (all firsts) add(e *jsonschema.ValidationError, alternatives bool) firsts {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf:
		if !alternatives {
			return all.insert(e)
		}
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
	default:
		return all.insert(e)
	}
	for _, cause := range e.Causes {
		all = all.add(cause, alternatives)
	}
	return all
}

func (all firsts) insert(e *jsonschema.ValidationError) firsts {
	if len(all) == maxFound && compare(e, all[len(all)-1]) >= 0 {
		return all
	}
	i, _ := slices.BinarySearchFunc(all, e, compare)
	all = slices.Insert(all, i, e)
	return all[:min(len(all), maxFound)]
}

func compare(a, b *jsonschema.ValidationError) int {
	if c := slices.Compare(a.InstanceLocation, b.InstanceLocation); c != 0 {
		return c
	}
	return cmp.Or(
		slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()),
		strings.Compare(a.SchemaURL, b.SchemaURL),
		strings.Compare(nameOf(a.ErrorKind), nameOf(b.ErrorKind)),
	)
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
	case *kind.Format:
		if k.Want == ours {
			return k.Err.Error()
		}
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties) // otherwise in the random order of a map
		k.Properties = k.Properties[:min(len(k.Properties), maxMessage)]
	case *kind.Enum:
		k.Want = k.Want[:min(len(k.Want), maxMessage)]
	case *kind.Pattern:
		k.Got = short(k.Got, maxMessage)
	case *kind.PropertyNames:
		k.Property = short(k.Property, maxMessage)
	}
	return k.LocalizedString(p)
}

// pointer returns the JSON pointer to the place, cut to maxPlace.
func pointer(names []string) string {
	at := ""
	for i := 0; i < len(names) && len(at) <= maxPlace; i++ {
		at += hook.Pointer(names[i][:min(len(names[i]), maxPlace+1)])
	}
	return short(at, maxPlace)
}

// short cuts a text to most bytes of valid UTF-8.
func short(s string, most int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
