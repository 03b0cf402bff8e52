// Package memory has the ports in memory: what tests and simulations run on
// instead of AWS.
//
// Its types keep the promises that the ports make, and package porttest holds
// them to it together with the adapters in internal/aws. They know no limits of
// throughput, lose nothing but at the end of the process, and never make a
// caller wait. Nothing that is deployed may import it.
package memory
