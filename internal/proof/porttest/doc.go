// Package porttest contains the conformance suites of the ports. Package memory
// passes the suites in every test run, the store over a table included. The adapters in
// internal/aws pass the suites on every emulator.
//
// Each suite is a function with a test and a constructor of fresh implementations
// as arguments. A suite turns the contract in the port's comments into subtests,
// concurrent calls included. Behavior without a subtest is not guaranteed.
package porttest
