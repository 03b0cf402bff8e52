// Package shape makes the body of a request from an event: the payload in an envelope, or
// the result of the endpoint's transformation.
//
// The same event and endpoint have the same bytes at every attempt. The package knows
// neither keys nor HTTP: package send signs the bytes and sends them.
//
// # Transformations
//
// A transformation is an expression in CEL (https://cel.dev) from "event" to a map with
// "body", and perhaps "headers" and "content_type". Anybody who may change an endpoint may
// write one, so a transformation is hostile code until proved otherwise:
//
//   - Every step costs, and every value costs by its size. See maxCost.
//   - Two values are compared only if one of them is a text, a number, a bool, a time or
//     null: the comparison of nested lists has no cost in CEL. See checkComparisons.
//   - Functions whose result can be much larger than their arguments, and regular
//     expressions, are left out. The functions of this package check the size of their
//     result before they make it.
//   - The result is bounded in depth and size. See writer.
package shape
