// Package hook holds the domain words of Surehook: ids, states, errors and
// validation. The package knows no clock, no network and no cloud. All other
// packages use these words.
//
// # Glossary
//
// Who and what:
//
//   - Tenant: a customer of the user. A tenant owns endpoints and events.
//   - Tenant limits: the operator's limits of a tenant: events per second, deliveries per event, endpoints.
//   - Next-free time: the end of all units spent of a tenant's limit of events per second.
//   - Endpoint: a URL of a tenant, with event types, limits, retry policy and signing keys.
//   - Event: a JSON payload with a type, posted once by a backend, immutable.
//   - Delivery: one event for one endpoint in one generation.
//   - Generation: the number of a delivery among the replays of one event to one endpoint, from 1.
//   - Principal: the API key of a request, with tenant and scopes.
//
// One attempt:
//
//   - Attempt: one HTTP request of a delivery, redirects included.
//   - Outcome: the recorded result of an attempt: class, status, error, body and duration.
//   - Class: the kind of outcome, such as delivered, timeout or gone.
//   - Result: the meaning of a class for the delivery: delivered, transient or rejected.
//   - Trigger: the cause of an attempt: event, retry or replay.
//   - Origin: where the requests of an endpoint come from: the own region, another region, or fixed addresses.
//   - Sender: the function that makes the requests of an origin elsewhere.
//
// Messages:
//
//   - Token: the message or schedule for the next attempt of a delivery.
//   - Nonce: the random part of a token. A record with the nonce proves that this token settled the attempt.
//   - Hop: one sending of a token that makes no attempt. After MaxHops hops a token is logged.
//   - Lane: a queue of tokens: live (first attempts), retry (later attempts), replay (first attempts of replays), slot and
//     overflow (attempts in an in-flight slot) or coalesce (attempts with the events of a window).
//   - Batch: a request with the deliveries of a window. It lasts for one attempt; its leader's record has the members.
//   - Circuit check: a message to the breaker to reconcile one endpoint.
//   - Dead letter: the message in the dead-letters queue for a dead delivery. An open dead letter is a delivery
//     in state dead: nobody has discarded the delivery, and no replay has settled.
//
// The way of a token:
//
//   - Subject: a token with the records that it names.
//   - Step: what happens to a token next: drop, resume, send, settle or attempt.
//   - Group: the due tokens of one endpoint about which the gate decides at once.
//   - Gate: the decision, per group, to admit, delay, move, park or cancel each delivery.
//   - Verdict: the gate's decision about one delivery.
//   - Decision: what a token decided about its delivery: the outcome of an attempt, or an end without one.
//   - Plan: what a decision does to the newest record: the record to write, and the order of write and follow-up.
//   - Follow-up: the work after the write: the next token, the dead letter, the completion.
//   - Sweep: the search for deliveries whose token is lost.
//
// Protection of an endpoint:
//
//   - Circuit: the breaker of one endpoint: closed, open or half-open.
//   - Probe: the single attempt of a half-open circuit.
//   - Rate slot: the time that the gate reserves for one attempt under rate_per_second.
//   - In-flight slot: the permission for one of several concurrent attempts.
//   - Lease: a permission with an end. Leases of probes and in-flight slots expire when the holder crashes.
//   - Claim: the lease of a slot for a parked delivery, taken before its token is sent.
//   - Hand-over: the end of a lease and the claim of its slot, in one write.
//   - Park: hold a delivery back without a token, because the endpoint is paused, disabled, throttled or limited, or its circuit is open.
//   - Release: send tokens for the parked deliveries of an endpoint, in slots or in waves.
//   - Wave: one step of a release. Waves grow: 1, 2, 4 and so on, up to 500 deliveries.
//
// Protection of the others:
//
//   - Speed class: fast, slow or unproven. Only fast endpoints share invocations.
//   - Score: the balance of answers in time and late answers; 20 are the proof of speed.
//   - Credit: the answers in time that one process saw of a fast endpoint lately. It forgives late attempts.
//   - Place: the permission of a tenant for one token in the lane slot.
//
// The end of a delivery:
//
//   - Settled: delivered, dead, discarded or cancelled. Surehook makes no more attempts.
//   - Completion: the work after a delivery settles: retire the replayed delivery, count for the job, notify the owner.
//   - Replay: the next generation of a delivery.
//   - Replay request: the order for a replay. The first token of the new generation carries the request.
//   - Redrive: a replay by SQS, which moves dead letters back to a lane.
//   - Job: a replay of all deliveries that a filter selects.
//   - Notification: an operational event about an endpoint or a delivery, for the owner.
//
// # States of a delivery
//
// A queued delivery has no record, until the breaker finds it still queued some minutes later.
//
//	            +--------- gate parks -----------+
//	            |                                v
//	queued --attempt--> retrying --gate----> parked
//	  |  |                 |  ^                |  |
//	  |  |                 |  +---- retry -----+  |
//	  |  +----- 2xx -------+------- 2xx ----------+--> delivered
//	  +---- rejected, exhausted, expired ---------+--> dead --> discarded
//	  +---- endpoint deleted, cancelled, erased --+--> cancelled
//
// # Replays
//
// A replay creates the next generation in state queued. The record of the old
// generation names the new generation and keeps its state, with two exceptions:
//
//   - A dead delivery becomes discarded as soon as the new generation is delivered or dead.
//   - A forced replay of an unsettled delivery cancels that delivery.
package hook
