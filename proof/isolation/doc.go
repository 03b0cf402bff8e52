// Package isolation proves that an endpoint in trouble does not affect the others. The tests
// run a model of the deployed stack in virtual time, and measure what such endpoints take from
// the others.
//
// # The model
//
// The use cases are the real ones, over memory. The rest is a model of AWS: a request to the
// table takes 3 to 7 ms, a message 8 to 22 ms, and the beginning of an invocation 5 ms. A queue
// is a fair queue with an event source, of the size of the environment prod. An event
// source begins with 5 concurrent invocations and adds 300 a minute, up to its maximum.
// A receiver answers after a time that the test chooses. Conditional writes of the
// store meet each other as in production, because every call takes time.
//
// # The rows
//
// A row is a case with a bound. A test runs each row, which fails if the bound does not hold; the
// long ones not with -short.
// Bounds are ratios, counts, and durations of virtual time, so they do not depend on the speed
// of the machine. `make isolation` writes the measured values into
// docs/isolation.md. The values differ by some percent between runs, because goroutines
// with the same virtual time run in any order.
package isolation
