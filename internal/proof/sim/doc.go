// Package sim proves that nothing is lost under any fault: it runs the real use
// cases over the ports in memory, with a clock of its own, and lets one seed
// decide everything that may happen in one order or another.
//
// Every call of a port is an effect. The process that makes it waits until the
// scheduler grants it; exactly one goroutine runs at any time, and the seed
// chooses which effect comes next, whether it is refused, whether its answer is
// lost, and whether the process dies before or after it. So a run repeats
// itself exactly:
//
//	go test ./internal/proof/sim -run TestSeed -seed 4711   prints the whole run
//	go test ./internal/proof/sim -run TestSeeds -seeds 2000 what the CI runs
//	make sim SEEDS=100000                              a night's worth
//
// The world of a seed has three to six endpoints and some dozens of events; it
// suffers for half an hour of its own time, then the faults stop, and what must
// be true in the end is asked once all is quiet. What must always be true is
// asked at every effect. One seed in eight has no faults at all, and is held to
// more: no duplicate, and no endpoint above its rate.
//
// All of it is in test files: nothing that is deployed knows of it. The tag
// "mutation" has the proof that it can fail: bugs that are put in on purpose
// and must be found.
package sim
