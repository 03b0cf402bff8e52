// Package shape makes the body of a request from an event: the payload in an envelope, or
// the result of the endpoint's transformation.
//
// An event and an endpoint's settings always give the same bytes, at every attempt. The
// package knows neither keys nor HTTP: package send signs and sends the bytes.
//
// # Transformations
//
// A transformation is an expression in CEL (https://cel.dev) that takes "event" and returns a
// map with "body", and optionally "headers" and "content_type". Anybody who may change an
// endpoint may write one, so a transformation must be treated as hostile code.
//
// cel-go parses the expressions. This package evaluates them itself, because each step must be
// paid for before it is done. cel-go charges for a call only afterwards, takes exponential time
// to check the types of some expressions, and visits the keys of a map in random order
// (docs/adr/23). The supported subset:
//
//   - Values are those of JSON, including whole numbers of 64 bits, and times and optional
//     values. Keys of maps are strings.
//   - && and || are evaluated from the left. An error on the left is an error.
//   - There are no types, messages, bytes or regular expressions.
//
// See evaluation for the bounds.
package shape
