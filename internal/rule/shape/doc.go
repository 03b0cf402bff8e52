// Package shape makes the body of a request from an event: the payload in an envelope, or
// the result of the endpoint's transformation.
//
// The same event and endpoint have the same bytes at every attempt. The package knows
// neither keys nor HTTP: package send signs the bytes and sends them.
//
// # Transformations
//
// A transformation is an expression in CEL (https://cel.dev) from "event" to a map with
// "body", and perhaps "headers" and "content_type". Everybody who may change an endpoint
// may write one, so a transformation is hostile code until proved otherwise.
//
// The grammar is cel-go's. The evaluation is of this package, because each step must be
// paid before it is done: cel-go charges a call after the call, checks types in a time that
// grows exponentially with some expressions, and visits the keys of a map in a random order
// (docs/adr/23). The subset:
//
//   - Values are those of JSON, whole numbers of 64 bits among them, times, and optional
//     values. Keys of maps are strings.
//   - && and || are evaluated from the left. An error on the left is an error.
//   - There are no types, messages, bytes or regular expressions.
//
// See evaluation for the bounds.
package shape
