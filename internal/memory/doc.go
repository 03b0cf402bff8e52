// Package memory has the ports in memory: what tests and simulations run on
// instead of AWS.
//
// Its types keep the promises that the ports make, and package porttest holds
// them to it together with the adapters in internal/aws. They know no limits of
// throughput, lose nothing but at the end of the process, and make nobody wait
// who does not ask for it (Await). Whatever happens at the same time happens in
// one order, that of the calls, so who calls in one order gets one result: a
// simulation repeats itself. Nothing that is deployed may import it.
package memory
