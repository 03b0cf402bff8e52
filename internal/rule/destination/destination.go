// Package destination has the types of destinations: the settings of each, with their checks, the
// form of its address, and its limits. Package internal/aws/destination sends to them.
//
// The package knows neither the AWS SDK nor which answer of a service is which outcome.
package destination

import (
	"maps"
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// Type is a type of destination.
type Type struct {
	Name      hook.DestinationType
	Action    string    // that sends: of HTTP, or in the words of IAM, the service and the operation
	Settings  []Setting // fields of the destination beside its type
	*Resource           // nil: the endpoint's URL is of a receiver
}

// Setting is a field of a destination.
type Setting struct {
	Name     string
	Example  string                  // a valid value
	Optional bool                    // it may be empty
	form     string                  // what the value must be
	fits     func(value string) bool // reports whether it is
}

// Names returns the names of all types: http, then those in AWS.
func Names() []hook.DestinationType {
	var names []hook.DestinationType
	for _, t := range Types() {
		names = append(names, t.Name)
	}
	return names
}

// Of returns the type of the endpoint's destination; false if this build does not know it.
func Of(e *hook.Endpoint) (Type, bool) {
	for _, t := range Types() {
		if t.Name == e.Destination.Type {
			return t, true
		}
	}
	return Type{}, false
}

// Validate returns the wrong fields of an endpoint for its destination: settings that the type
// requires or does not have, and for a resource in AWS an address of another form, and whatever
// only HTTP has.
func Validate(e *hook.Endpoint) []hook.FieldError {
	var errs hook.Fields
	t, ok := Of(e)
	if !ok {
		errs.Add("destination.type", "is unknown: %s", e.Destination.Type)
		return errs
	}
	for _, name := range slices.Sorted(maps.Keys(e.Destination.Settings)) {
		has := slices.ContainsFunc(t.Settings, func(s Setting) bool { return s.Name == name })
		errs.Refuse(!has, "destination."+name, "must be removed: %s has no such setting", t.Name)
	}
	for _, s := range t.Settings {
		if value := e.Destination.Settings[s.Name]; value == "" {
			errs.Refuse(!s.Optional, "destination."+s.Name, "is missing")
		} else {
			errs.Refuse(!s.fits(value), "destination."+s.Name, "must be %s, such as %s", s.form, s.Example)
		}
	}
	return append(errs, t.check(e)...)
}

// Operation returns the method of HTTP, or the operation of AWS, that sends.
func (t Type) Operation() string { return t.Action[strings.Index(t.Action, ":")+1:] }
