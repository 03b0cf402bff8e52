// Package dev runs Surehook in one process on this machine: the deployed
// handlers and use cases, with the ports in memory. The process starts at once,
// has the same API, and loses all data when it ends.
//
// The package is for developing receivers and for load generators. It does not model
// AWS: there are no limits of throughput and concurrency, no latencies, no permissions,
// and no stream of the table, because a task cannot be lost while the table lives on.
// A history is made by the same handlers under a moved clock, before the process starts.
// Package stack runs the real stack on this machine.
package dev
