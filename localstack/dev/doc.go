// Package dev runs Surehook in one process on this machine: the handlers and
// use cases that are deployed, over the ports in memory. It starts at once, has
// the same API, and forgets everything when it ends.
//
// It is for writing receivers against, and for load generators. What only AWS
// decides is not in it: limits of throughput and of concurrency, latencies of
// services, permissions. Package stack runs the real thing on this machine.
package dev
