// Package cost is the ledger of what Surehook costs on AWS. It watches every
// request that the SDK makes, computes what it is charged for, and prices that
// from one table of list prices.
//
// What DynamoDB charges is computed from the items themselves, by its published
// rules, and not taken from the answer of a server: an emulator's word on
// consumed capacity proves nothing. The ledger knows nothing of deliveries; its
// tests make them, through the real use cases and adapters, and write docs/cost.md.
//
// Nothing that runs on AWS imports it.
package cost
