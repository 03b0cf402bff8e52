// Package cost is the ledger of Surehook's costs on AWS. The ledger watches every
// request of the SDK, computes its billed units, and prices the units from one
// table of list prices.
//
// DynamoDB's units are computed from the items, by DynamoDB's published rules. The
// ledger is independent of deliveries. The tests make deliveries through the real use
// cases and adapters, whose requests a table and stubs answer, and hold docs/cost.md.
//
// The clock, the ids and the payloads of the tests have a seed, and all lines of
// the log have one timestamp. So every run writes the same document, except for the
// rows of the mix: the order of concurrent settlements decides whose held successes a
// settlement writes, a difference below 1 %.
//
// No function on AWS imports the package.
package cost
