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
	// MaxReads limits the values of one event that one filter reads. Past the limit the
	// event matches: an unwanted delivery does less harm than a missing one. 500 filters
	// read at most 500 x 10,000 values.
	MaxReads = 10_000
)
