// Package world is the test world of the use cases: the deployed store over a table in
// memory, queues in memory, a clock that tests move, receivers with scripted answers, and
// one crash injector. Only tests import the package.
//
// # Parts
//
// Wiring builds the use cases from ports. The other proofs with ports of their
// own (package sim, cost and reliability) reuse Wiring and NewEndpoint.
//
// World is a Wiring over package memory. Each invocation gets new use cases, and a context
// that names its function, by which Calls and Crash recognise the function under test. Tests
// that call a use case themselves give it World.Context.
//
// # Crashes
//
// Crash counts the effects of the function under test, and ends the function
// before or after the n-th effect. An effect is a request that writes to the table, or a
// message. A dead function makes no more effects: each later one returns ErrDead. Its
// messages become visible again after a minute, as on SQS.
//
// # What a restart forgets
//
// The use cases keep nothing between invocations, so a restart loses only the
// local variables of the invocation:
//   - the responses of requests that no record holds yet: the next process sends the request again;
//   - the tasks, circuit checks and job messages that no queue holds yet;
//   - the rate slots and in-flight leases that the dead process took: a lease expires by itself.
//
// A restart keeps the store, the queues, the schedules, the dead letters, the
// notifications and the log. The one exception is the directory of ingest, a
// cache: a new Acceptor starts with an empty directory.
package world
