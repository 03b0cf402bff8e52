// Package sim proves that no delivery is lost under any fault. The simulator runs
// the real use cases over the ports in memory, with a virtual clock, and draws
// every order of events from one seed.
//
// # Effects
//
// Every call of a port is an effect. A process waits until the scheduler grants
// its effect. Exactly one goroutine runs at any time. The seed chooses the next
// effect, and its fault: refused, answer lost, or death of the process before or
// after the effect. So a run repeats itself exactly:
//
//	go test ./internal/proof/sim -run TestSeed -seed 4711   prints the whole run
//	go test ./internal/proof/sim -run TestSeeds -seeds 2000 the run of the CI
//	make sim SEEDS=100000                              a night's worth
//
// # Checks
//
// A seed has three to six endpoints and some dozens of events. Faults last for
// 25 minutes of virtual time. Invariants are checked at every effect, and the final
// state after all work has ended. One seed in eight has no faults, and stricter
// checks: no duplicate, and no endpoint above its rate.
//
// # Mutations
//
// mutations_test.go lists bugs on purpose. With the tag "mutation", a test puts
// each bug into the code, and the simulator must find the bug. An ordinary test
// checks that every bug still fits the code.
//
// All code is in test files: no deployed code imports the package.
//
// # Shared parts
//
// The use cases are built by package world. The queues, the store's faults and
// the clock are the simulator's own, because here the seed decides on each
// effect, and world's Crash decides on one.
package sim
