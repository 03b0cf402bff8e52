// Package porttest has the suites that every implementation of a port passes:
// package memory in every test run, the adapters in internal/aws whenever there
// is an emulator.
//
// Each suite is a function that takes the test and a way to make a fresh
// implementation, and turns the promises in the port's comments into subtests,
// races included. What a suite does not ask for is not promised.
package porttest
