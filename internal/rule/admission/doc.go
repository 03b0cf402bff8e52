// Package admission decides which attempts may start now, so that an endpoint in trouble gets few
// requests and takes little from the others. It maps values to values. Package admit asks it about
// due tasks and parked deliveries.
//
// # Three questions
//
//   - [Ask]: which of these tasks may start? The rows of the table decide, the first that applies.
//     The same rows stand in docs/circuit.md.
//   - [Record.After]: what does the circuit learn from the outcomes? And [Limits.Answered]: how many
//     slots and which speed does the endpoint get?
//   - [Order]: which parked deliveries are next? [Limits.Claim] gives them slots.
//
// Ask returns the state that the answer takes for granted, which is written before it is used. A part
// of the state that was not read is named in the answer ([Admission.Lacks]), so that a fast endpoint
// without limits costs no request.
//
// # Speed
//
// Endpoints that are not fast, strained ones, and those with max_in_flight need in-flight slots. An endpoint
// becomes fast by its score ([Score]). It becomes slow with five late attempts within a clock minute, outside of
// slots: one with max_in_flight has slots anyway. After an outage it is unproven, like a new one, but has only one slot at first. The slots of an endpoint
// that is not fast follow its answers.
//
// # After a 429
//
// The endpoint is held until ThrottledUntil: what becomes due is parked. Whoever parks the first plans the check that
// releases it when the hold ends: as a message ([Admission.CheckAt]), and in the record for the breaker's tick, should
// the message be lost. Then the endpoint has a rate for a minute or two, its [Pace].
//
// # Leases
//
// Probes and attempts in in-flight slots hold leases. If the process dies, its leases expire.
//
// The holder of a probe's lease is a task: delivery, attempt and nonce. A copy of the task
// renews the lease.
//
// A delivery has at most one lease on a slot. A second task of the delivery, or a copy of the
// task, finds the lease and comes again later. Package admit hands over the slots of settled
// attempts.
//
// # Shares
//
// A task in the queue slot also holds a share of its tenant, from before it is sent there until its attempt is settled.
// Shares are the tenant's share of that queue. The tenant's other tasks go to the queue overflow. So each tenant has
// only a few tasks in the queue slot, and the tasks of other tenants soon find a free function there. In the queue
// overflow there are no shares: the slots of each endpoint bound its tasks, and the queue is fair between tenants
// ([hook.Task.Group]: a tenant and one of 8 buckets of its endpoints).
package admission
