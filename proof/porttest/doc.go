// Package porttest contains the conformance suites of the ports. They run on package memory,
// with the store over a table, in every test run, and on the adapters in internal/aws on every
// emulator.
//
// A suite is a function that takes a test and a constructor of fresh implementations. It turns
// the contract in the port's comments into subtests, including concurrent calls. Behavior
// without a subtest is not guaranteed.
package porttest
