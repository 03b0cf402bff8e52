// Package filter decides whether an event matches an endpoint's filter.
//
// A filter is a pattern in the language of Amazon EventBridge. The pattern has the
// form of the document {"type": ..., "payload": {...}}. Fields of an object must all
// match, and of the alternatives in an array one must match:
//
//	{"type": ["order.paid"], "payload": {"amount": [{"numeric": [">", 100]}]}}
//
// Arrays of the event match by their elements. Conditions on the fields of one object
// in an array must hold for the same element.
//
// Package filter knows no endpoints, no storage and no HTTP.
package filter

// Bounds of a filter.
const (
	MaxBytes  = 4096 // of the JSON
	MaxDepth  = 10   // nested objects and arrays of the JSON, operators included
	MaxValues = 100  // alternatives of all fields, with the values of anything-but
	// MaxSteps limits the work of one filter for one event. A step is a value or a
	// condition, and more for long texts of the filter: 8 bytes of a text without regard to
	// case, 64 bytes of another text or of a name. Past the limit the event matches: an
	// unwanted delivery does less harm than a missing one.
	MaxSteps = 10_000
)
