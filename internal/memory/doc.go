// Package memory is what tests, simulations and `make dev` run on in place of AWS: the
// deployed store over a table in this process, and the other ports in memory. Deployed
// code must not import the package.
//
// The contracts are documented at the ports. Package porttest runs the same suites
// on this package and on the adapters in internal/aws; comments here only describe the
// differences from AWS:
//   - throughput is unlimited;
//   - nothing is lost, duplicated or out of order;
//   - indexes do not lag, unless the table's Around says so;
//   - only Await blocks.
//
// Concurrent calls take effect one after the other, so the same sequence of calls
// gives the same results, and a simulation is repeatable.
package memory
