// Package dev runs Surehook in one process on this machine: the deployed
// handlers and use cases, with the ports in memory. The process starts at once,
// has the same API, and loses all data at its end.
//
// The package is for receiver development and for load generators. Package dev
// does not model AWS: no throughput and concurrency limits, no service
// latencies, no permissions, and no stream of the table: its queues end with its table, so
// no token is lost alone. Package stack runs the real stack on this machine.
package dev
