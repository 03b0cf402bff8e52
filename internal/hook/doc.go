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
//
// Messages:
//
//   - Token: the message or schedule for the next attempt of a delivery.
//   - Nonce: the random part of a token. A record with the nonce proves that this token settled the attempt.
//   - Lane: a queue of tokens: live (first attempts), retry (later attempts), replay (first attempts of replays), slot and
//     overflow (attempts in an in-flight slot) or coalesce (attempts with the events of a window).
//   - Batch: a request with the deliveries of a window. It lasts for one attempt; its leader's record has the members.
//   - Circuit check: a message to the breaker to reconcile one endpoint.
//   - Dead letter: the message in the dead-letters queue for a dead delivery. An open dead letter is a delivery
//     in state dead: nobody has discarded the delivery, and no replay has settled.
//
// Protection of an endpoint:
//
//   - Circuit: the breaker of one endpoint: closed, open or half-open.
//   - Probe: the single attempt of a half-open circuit.
//   - Gate: the decision, per endpoint and batch, to admit, delay, park or cancel each delivery.
//   - Rate slot: the time that the gate reserves for one attempt under rate_per_second.
//   - In-flight slot: the permission for one of max_in_flight concurrent attempts.
//   - Lease: a permission with an end. Leases of probes and in-flight slots expire when the holder crashes.
//   - Park: hold a delivery back without a token, because the endpoint is paused or disabled or the circuit is open.
//   - Release: send tokens for the parked deliveries of an endpoint, oldest first.
//   - Wave: one step of a release. Waves grow: 1, 2, 4 and so on, up to 500 deliveries.
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
