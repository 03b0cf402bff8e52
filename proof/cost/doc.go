// Package cost computes what Surehook costs on AWS. Its ledger watches every request
// of the SDK, computes the billed units, and prices them from one table of list prices.
//
// DynamoDB's units are computed from the items, by DynamoDB's published rules. The
// ledger knows nothing of deliveries. The tests make deliveries through the real use
// cases and adapters, whose requests are answered by a table and by stubs, and compare
// the result with docs/cost.md.
//
// The clock, the ids and the payloads of the tests come from a seed, and all log lines
// have the same timestamp. So every run writes the same document, except for the
// rows of the mix: the order of concurrent settlements decides whose held successes a
// settlement writes, a difference below 1 %.
//
// No function on AWS imports the package.
package cost
