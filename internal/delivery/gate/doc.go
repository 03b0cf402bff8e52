// Package gate asks whether attempts may start now, and learns from their results. Package
// admission of the rules decides: Admit reads what the decision needs, and writes what it takes.
// Function deliver asks once per endpoint and batch, or once per request to a coalescing endpoint.
//
// Stores and queues are ports. No verdict uses up an attempt. A fast endpoint without limits costs
// at most one update per batch, when Settle counts the results.
//
// # Counts of busy endpoints
//
// For a busy endpoint, Settle holds successes back and writes those of several batches with one
// update (stats.Held). It holds only successes, and only while the circuit is closed without
// consecutive failures, when they decide nothing. Any other result is written at once, together
// with the held successes.
package gate
