// Package strict is a reverse proxy in front of an AWS emulator. The front
// holds every request to AWS's published rules, because emulators accept
// requests that AWS refuses.
//
// # Rules
//
// Two sources hold the rules. The service models of botocore hold required
// members, lengths, patterns, enumerations, ranges and list sizes (see [Load]).
// The tables in this package hold the documented limits that the models lack:
// delays, sizes, batches, keys, expressions.
//
// The front answers a request that breaks a rule like the service, does not
// forward the request, and records a [Violation]. A run with violations fails
// at [Front.Stop]. Other requests reach the emulator unchanged.
//
// # Behavior
//
// The front refuses a schedule with the name of a schedule that fired some
// minutes ago, and writes above the throughput of one partition key. [Faults]
// adds copies of messages and random throttles.
//
// The package does not know Surehook, and does not know whether an emulator is
// MiniStack or Moto. docs/strict.md lists what the front does not model.
package strict
