// Package sim proves that no delivery is lost under any fault. The simulator runs
// the real use cases and the deployed store over a table and queues in memory, with a
// virtual clock, and draws every order of events from one seed.
//
// # Effects
//
// Every request to the table is an effect, and so is every call of another port. A process
// waits until the scheduler grants its effect, so exactly one process runs at any time. The
// seed chooses the next effect and its fault: it is refused, its response is lost, the client
// repeats it, or the process dies before or after it. The names of effects have no random
// parts. Equal reads of one process are granted together, and so are the requests of one
// list. So a run can be repeated exactly:
//
//	make sim SEED=4711 LEVEL=rough   prints the whole run
//	make sim SEEDS=3000 FIRST=n      the run of the CI, at all levels in turn
//	make sim SEEDS=50000 LEVEL=brutal
//
// # The world
//
// The levels mild, rough and brutal are in one table: level_test.go. In the world, messages are
// handed out twice, late, or too often (maxReceiveCount, and the redrive by an operator),
// receipts are stale, schedules linger or fire late or twice, clocks are seconds apart,
// requests are lost, the table is unavailable for a time, and processes are killed. There are
// several tenants, sometimes with many endpoints or events, and receivers with outages, slow
// periods, events that always fail, and many 429s at once. Meanwhile operators pause, resume,
// rotate, disable and delete, open and reset circuits, send test events, replay, cancel,
// discard and redrive, erase events and add endpoints to events.
//
// Operators also change what an attempt depends on: retry policies, max_age, retry_on, give_up_on,
// filters, event types and shards. An attempt must follow a version of the endpoint that its
// process may have read: settings_test.go. One seed in eight erases a tenant while it is in
// use: erasure_test.go.
//
// Some endpoints coalesce, and operators turn coalescing on and off: coalesce_test.go. Some shape
// their events, and one transformation fails: content_test.go. Some are destinations in AWS:
// cloud_test.go. Operators make endpoints anew under their uids: uid_test.go. Clients use a key twice,
// and events have shorter retentions: keys_test.go. Schedules meet a full quota: schedule_test.go.
//
// In one seed in eight, attempts often have two tasks, and letters are redriven before the record of
// the death: twins_test.go. In one of eight, receivers in trouble do not answer: endpoint_test.go.
//
// In one seed in eight, the events come through the queue: source_test.go.
//
// In seeds of their own, an operator restores the table to an earlier moment, beside queues of the later
// one: restore_test.go.
//
// In seeds of their own, most endpoints are ordered: ordered_test.go.
//
// In one seed in sixteen, an earlier and a later build run side by side: builds_test.go.
//
// # Checks
//
// Most seeds have three to six endpoints and some dozens of events. A few have 50 endpoints, or more
// events than a full wave. Faults last for 25 minutes of virtual time. Checks have names:
// names_test.go. They run at every effect, at the end of every process without a fault, every
// minute, and after all work has ended.
//
// One seed in eight has no faults. In one of eight, endpoints are paused and resumed all the time:
// flap_test.go. In one of eight, tasks are lost and an operator purges queues, and the sweeper
// replaces all of these tasks: sweeper_test.go and stream_test.go. The other seeds run without the
// sweeper, which would hide lost tasks.
//
// Each task must be on a queue of its kind, and one for a coalescing endpoint must wait for
// the end of a window: check_queue_test.go.
//
// Requests, messages and writes of a delivery have bounds: check_bounds_test.go. A repeated request
// needs an explanation: a named fault, or a second task. Rates,
// in-flight limits and lateness are checked in every seed. A fault restarts the wait that is
// checked, so a level with many faults is less strict about lateness.
//
// # The table
//
// The faults of the table are below the store: table_test.go. A partition of the table or of
// an index takes a hundredth of DynamoDB's limits, counted by the keys that a request reads
// and writes. A batch leaves the keys of throttled partitions unprocessed. Transactions
// conflict with concurrent writes. Until a commit ends, lists and batches may see some of its
// items as before. An index follows each write after a random lag. Expired items are removed
// in any order, or stay.
//
// The checks see what the store reads back after each write, whether or not the process
// lives to see its answer: observe_test.go.
//
// # Mutations
//
// mutations_test.go lists deliberate bugs. With the tag "mutation", a test puts each of
// them into the code, and the named check must find it. An ordinary test checks that
// every bug still fits the code.
//
// All code is in test files: no deployed code imports the package.
//
// # Shared parts
//
// The use cases are built by package world. The faults and the clock are the simulator's own: here
// the seed decides about each effect, but world's Crash stops at a single one.
package sim
