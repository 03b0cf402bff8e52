// Package strict is a reverse proxy in front of an AWS emulator. It checks every
// request against AWS's published rules, because emulators accept requests that
// AWS refuses.
//
// # Rules
//
// The rules come from two sources. The service models of botocore have required
// members, lengths, patterns, enumerations, ranges and list sizes (see [Load]).
// The tables in this package have the documented limits that the models lack:
// delays, sizes, batches, keys, expressions.
//
// If a request breaks a rule, the proxy answers as the service would, does not
// forward the request, and records a [Violation]. A run with violations fails at
// [Front.Stop]. Other requests reach the emulator unchanged.
//
// # Behavior
//
// The proxy refuses a schedule with the name of one that fired some minutes ago,
// and writes above the throughput of one partition key. [Faults] adds copies of
// messages and random throttles.
//
// The package knows neither Surehook nor whether the emulator is MiniStack or
// Moto. docs/strict.md lists what the proxy does not model.
package strict
