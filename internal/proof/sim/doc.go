// Package sim proves that no delivery is lost under any fault. The simulator runs
// the real use cases and the deployed store over a table and queues in memory, with a
// virtual clock, and draws every order of events from one seed.
//
// # Effects
//
// Every request to the table is an effect, and so is every call of another port. A process
// waits until the scheduler grants its effect. Exactly one process runs at any time. The
// seed chooses the next effect, and its fault: refused, answer lost, repeated by the
// client, or death of the process before or after the effect. Effects have names without
// random parts: equal reads of one process are granted together, and so are the requests of
// one list. So a run repeats itself exactly:
//
//	make sim SEED=4711 LEVEL=rough   prints the whole run
//	make sim SEEDS=3000 FIRST=n      the run of the CI, at all levels in turn
//	make sim SEEDS=50000 LEVEL=brutal
//
// # The world
//
// The levels mild, rough and brutal are one table: level_test.go. The world has
// messages handed out twice, late, or too often (maxReceiveCount, and the redrive by an
// operator), stale receipts, schedules that linger, come late or twice, clocks seconds
// apart, lost requests, times without the table, killed processes, some tenants, crowds of endpoints and of events, and receivers with
// outages, slow times, poison events and herds of 429. Operators pause, resume,
// rotate, disable and delete, open and reset circuits, send test events, replay, cancel,
// discard and redrive, erase events and add endpoints to events meanwhile.
//
// They also change what an attempt depends on: retry policies, max_age, retry_on, give_up_on,
// filters, event types and shards. An attempt obeys a version of the endpoint that its process
// may know: settings_test.go. One seed in eight erases a tenant with all that is under way:
// erasure_test.go.
//
// Some endpoints coalesce, and operators turn coalescing on and
// off: coalesce_test.go.
//
// In one seed in eight, the events come by the queue: source_test.go.
//
// In one seed in sixteen, an earlier and a later build run side by side: builds_test.go.
//
// # Checks
//
// A seed has three to six endpoints, or 50, and some dozens of events, or more than a
// full wave. Faults last for 25 minutes of virtual time. Checks have names:
// names_test.go. They run at every effect, at the end of every process without a
// fault, every minute, and after all work has ended. One seed in eight has no faults.
// In another seed in eight, endpoints are paused and resumed all the time:
// flap_test.go. In another, tokens get lost, an operator purges lanes, and the sweeper
// brings all back: sweeper_test.go and stream_test.go. The others run without the sweeper,
// which would hide lost tokens.
//
// Each token is on a lane of its kind, and waits for the end of a window where events
// coalesce: check_lane_test.go.
//
// Requests, messages and writes of a delivery have bounds: check_bounds_test.go. Every
// repeated request has a named fault, or a second token, of its own. Rates, in-flight
// limits and lateness are checked in every seed. A fault moves the start of a wait to
// its own time, so a level with many faults checks lateness less.
//
// # The table
//
// The faults of the table lie below the store: table_test.go. A partition of the table or of
// an index takes a hundredth of DynamoDB's limits, by the keys that a request reads and
// writes. A batch leaves the keys of throttled partitions unprocessed. Transactions
// conflict with what meets them. Until a commit ends, lists and batches may see a half of
// its items as before. An index follows each write after a lag of its own. Expired items
// go in any order, or stay.
//
// The checks see what the store reads back after each write, whether or not the process
// lives to see its answer: observe_test.go.
//
// # Mutations
//
// mutations_test.go lists bugs on purpose. With the tag "mutation", a test puts
// each bug into the code, and the named check must find the bug. An ordinary test
// checks that every bug still fits the code.
//
// All code is in test files: no deployed code imports the package.
//
// # Shared parts
//
// The use cases are built by package world. The faults and the clock are the simulator's
// own, because here the seed decides on each effect, and world's Crash decides on one.
package sim
