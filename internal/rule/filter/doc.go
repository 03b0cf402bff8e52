// Package filter decides whether an event matches an endpoint's filter.
//
// A filter is a pattern in the language of Amazon EventBridge, for the document
// {"type": ..., "payload": {...}}. An object matches if all its fields match, and an
// array matches if one of its alternatives does:
//
//	{"type": ["order.paid"], "payload": {"amount": [{"numeric": [">", 100]}]}}
//
// An array in the event matches if one of its elements does. If the elements are objects,
// all conditions must hold for the same element.
//
// Numbers are compared exactly, see package decimal. A number past its bounds meets no comparison,
// and neither numeric nor anything-but; as text it is compared as it is.
//
// Package filter knows no endpoints, storage or HTTP.
package filter

// Bounds of a filter.
const (
	MaxBytes  = 4096 // of the JSON
	MaxDepth  = 10   // nested objects and arrays of the JSON, operators included
	MaxValues = 100  // alternatives of all fields, with the values of anything-but
	// MaxSteps limits the work of one filter for one event. Testing a value or a condition is one
	// step; comparing a long text takes one more for each 8 bytes of text that ignores case, and
	// for each 64 bytes of any other text or name. Past the limit the event matches: an unwanted
	// delivery does less harm than a missing one.
	MaxSteps = 10_000
)
