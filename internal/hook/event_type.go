package hook

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of the event types of an environment.
const (
	MaxTypesPerEnvironment = 500
	MaxSchema              = 32 << 10 // bytes of a schema, without white space
	MaxExample             = 16 << 10 // bytes of an example, without white space
	MaxGroup               = 64
)

// Validation says what happens to an event that does not fit its event type.
type Validation uint8

// The validations. The zero Validation of an event type means the environment's.
const (
	ValidationOff    Validation = iota + 1 // the event is accepted without a check
	ValidationWarn                         // the event is accepted, and the response has warnings
	ValidationReject                       // the event is refused
)

// String returns the validation as it appears in the API and in the environment.
func (v Validation) String() string { return validationNames.Of(v) }

var validationNames = Names[Validation]{ValidationOff: "off", ValidationWarn: "warn", ValidationReject: "reject"}

// ParseValidation is the inverse of String.
func ParseValidation(s string) (Validation, error) { return validationNames.parse("validation", s) }

// EventType describes the events of a type, for all tenants of an environment.
type EventType struct {
	Name        string     `stored:"name"`
	Description string     `stored:"description"`
	Group       string     `stored:"group"`        // events that belong together, such as "Billing"; empty for none
	Schema      []byte     `stored:"schema,text"`  // of the payload, JSON Schema draft 2020-12; nil for none
	Example     []byte     `stored:"example,text"` // a payload, JSON; nil for none
	Archived    bool       `stored:"archived"`     // no longer in use: hidden from lists
	Validation  Validation `stored:"validation"`   // of events of the type; 0: the environment's
	Version     int64      `stored:"version"`
	CreatedAt   time.Time  `stored:"created_at"`
	UpdatedAt   time.Time  `stored:"updated_at"`
}

// Checks reports whether events of the type are checked in every environment.
func (t EventType) Checks() bool { return t.Validation > ValidationOff }

// Catalogue is the state of all event types of an environment.
type Catalogue struct {
	Version int64 `stored:"version"` // grows with every change of an event type; 0: there never was an event type
	Types   int   `stored:"types"`   // number of event types
	Checked int   `stored:"checked"` // number of event types with Checks
}

// After returns the catalogue after the change of an event type. before is zero for a new type,
// and after is zero for a deleted type.
func (c Catalogue) After(before, after EventType) Catalogue {
	c.Version++
	c.Types += count(after.Name != "") - count(before.Name != "")
	c.Checked += count(after.Checks()) - count(before.Checks())
	return c
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// ValidateEventType checks all fields of the type but the content of schema and example
// (package schema).
func ValidateEventType(t EventType) []FieldError {
	var errs Fields
	switch {
	case !ValidEventType(t.Name) || t.Name == "." || t.Name == "..":
		errs.Add("event_type", "must be 1 to 128 of A-Z a-z 0-9 _ . : -, and not . or ..")
	case strings.HasPrefix(t.Name, SystemPrefix):
		errs.Add("event_type", "types that begin with %s are Surehook's own", SystemPrefix)
	}
	errs.Refuse(len(t.Description) > MaxDescription || !ValidText(t.Description),
		"description", "must be at most %d bytes without control characters", MaxDescription)
	errs.Refuse(len(t.Group) > MaxGroup || !ValidText(t.Group), "group", "must be at most %d bytes without control characters", MaxGroup)
	errs.Refuse(len(t.Schema) > MaxSchema, "schema", "must be at most %d bytes", MaxSchema)
	errs.Refuse(len(t.Example) > MaxExample, "example", "must be at most %d bytes", MaxExample)
	return errs
}

// TooManyTypes returns the error for an event type past MaxTypesPerEnvironment.
func TooManyTypes() *Error {
	return OverLimit(fmt.Sprintf("an environment has at most %d event types", MaxTypesPerEnvironment))
}
