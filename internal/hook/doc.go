// Package hook holds the domain words of Surehook: ids, states, errors and
// validation. It knows no clock, no network and no cloud. All other packages use
// these words.
//
// # Glossary
//
// Who and what:
//
//   - User: whoever runs Surehook in their own AWS account. The user's backend posts events, and operators look after the deployment.
//   - Environment: one deployment of Surehook, such as dev or prod.
//   - Tenant: a customer of the user. A tenant owns endpoints and events, and is the owner that comments speak of.
//   - Tenant limits: what the operator allows a tenant: events per second, deliveries per event, endpoints, retention.
//   - Next-free time: when a tenant's limit of events per second next has room.
//   - Endpoint: where a tenant receives events: a URL, with event types, limits, retry policy and signing keys.
//   - Receiver: the server behind an endpoint's URL.
//   - Destination: the kind of receiver: an HTTP server, or a queue, topic, event bus or stream in the customer's AWS account.
//   - Event: a JSON payload with a type, posted once by a backend. Later, only its targets can grow, and an erasure removes
//     its payload.
//   - Idempotency key: the caller's name for an event. A repeated post with the same key is the same event.
//   - Reject: a message of the events queue that cannot become an event. It waits in a queue of rejects.
//   - Event type: the name of a kind of event, optionally with a schema. The catalogue is the list of all event types.
//   - Target: an endpoint that an event goes to. The targets are chosen when the event is accepted; a replay can add one.
//   - Delivery: one event for one endpoint in one generation.
//   - Generation: the number of a delivery among the replays of one event to one endpoint, from 1. The generation of a
//     circuit is another number: it grows with every opening, closing and reset.
//   - Shard: one of up to 16 parts of the storage for an endpoint's deliveries.
//   - Ordering key: the caller's name for events that an ordered endpoint gets one after the other.
//   - Sequence: the deliveries to one endpoint with one ordering key, numbered in the order of their acceptance. Only the
//     head has the turn. The others have places behind it, and wait.
//   - Void: a number whose delivery was never stored.
//   - Retention: how long an event and its deliveries are kept.
//   - Erasure: the removal of an event's payload and of the response bodies of its deliveries, or of all data of a tenant.
//   - Principal: the caller of a request, an API key or a person who signed in, with its tenant and scopes.
//   - Scope: a permission of a principal, such as events:write.
//   - Portal link: a link that opens a tenant's portal once, with an API key of its own.
//   - Audit record: the record of a change that a caller, or Surehook itself, made.
//
// One attempt:
//
//   - Attempt: one HTTP request of a delivery, including its redirects.
//   - Outcome: the recorded result of an attempt: class, status, error, body and duration.
//   - Class: the kind of outcome, such as delivered, timeout or gone. The speed class of an endpoint is something else.
//   - Result: what a class means for the delivery: delivered, transient or rejected.
//   - Trigger: the cause of an attempt: event, retry or replay.
//   - Origin: where the requests of an endpoint come from: the deployment's region, another region, or fixed addresses.
//   - Sender: the function that makes the requests of another origin.
//   - Shape: what the body of a request looks like: an envelope (raw, standard or thin), or the endpoint's transformation.
//   - Signature profile: what is signed, how, and which headers carry the signature.
//
// Messages:
//
//   - Task: the message or schedule for the next attempt of a delivery.
//   - Nonce: the random part of a task. A record with the nonce proves that this task made the last decision.
//   - Copy of a task: the same message, received again or by a second process at the same time. It has the same nonce.
//   - Hop: one sending of a message without an attempt or other progress in between. A message past MaxHops circles: it
//     is logged and counted, but still sent.
//   - Queue: where tasks wait: live (first attempts), retry (later attempts), replay (first attempts of replays), slot and
//     overflow (attempts in an in-flight slot), and coalesce (attempts of coalescing endpoints). An invocation receives up
//     to 10 tasks of live, retry and replay, which are the queues of batches, and one task of slot or overflow.
//   - Coalescing endpoint: an endpoint that receives the events of a time window together in one request.
//   - Window: the period of a coalescing endpoint, aligned to the clock. For the circuit, the window is the last ten minutes.
//   - Batch: a request to a coalescing endpoint with the deliveries of a window, its members. It lasts for one attempt. The
//     record of one member, the leader, lists all of them. A batch of tasks or messages is what one invocation receives, and
//     a batch of events is what one request posts.
//   - Circuit check: a message that makes the breaker reconcile one endpoint.
//   - Dead letter: the message in the dead-letter queue about a dead delivery. An open dead letter is a delivery in state
//     dead: nobody has discarded it, and no replay of it has settled.
//
// The way of a task:
//
//   - Subject: a task with the records that it names.
//   - Step: what happens to a task next: drop, resume, send, settle, attempt, await (its turn) or join (its sequence anew).
//   - Group: due tasks of one endpoint that the gate decides on together. (A message group of SQS is something else.)
//   - Gate: what decides on a group: admit, move, park or cancel each delivery, or let it come again.
//   - Verdict: the gate's decision on one delivery.
//   - Decision: what a task decided for its delivery: the outcome of an attempt, or an end or park without one.
//   - Plan: what a decision does to the newest record: the record to write, and the order of write and follow-up.
//   - Follow-up: the work that belongs to a decision: send the next task or the dead letter, disable the endpoint,
//     complete the delivery. Usually it comes after the write.
//   - Breaker: the function that checks circuits, releases parked deliveries, reviews endpoints and sweeps.
//   - Record, as a verb: the breaker writes a record for a delivery that is still queued some minutes after its event.
//   - Tick: the breaker's run every minute. It finds the endpoints whose circuit check was lost.
//   - Sweep: the breaker's search for deliveries whose task was lost. Each gets a new task.
//   - Look: the breaker's search for parked deliveries of an endpoint that it had forgotten, in case the index lagged.
//
// Protection of an endpoint:
//
//   - Circuit: the circuit breaker of one endpoint: closed, open or half-open.
//   - Probe: the single attempt of a half-open circuit.
//   - Strain: so many attempts at the endpoint fail that each needs an in-flight slot, although the circuit is closed.
//   - Pace: the rate of an endpoint that answered 429, which grows until it is refused again.
//   - Cooldown: the time from the opening of a circuit, or from a failed probe, to the next probe.
//   - Row: consecutive failures; Circuit.Threshold is how many of them open the circuit. Those of the group that
//     stored the first one count each: a group is the attempts that one call of the gate admitted. After that, a failure counts only if its attempt was admitted later, so
//     concurrent batches count once.
//   - Throttle: the pause that an endpoint asks for with 429.
//   - Rate slot: the time that the gate reserves for one attempt, so that the endpoint's rate_per_second holds.
//   - In-flight slot: the permission to be one of the endpoint's concurrent attempts.
//   - Lease: a probe, in-flight slot or share that is held until a given time, so that a crash cannot hold it forever.
//   - Claim: the lease of an in-flight slot for a parked delivery, taken before its task is sent.
//   - Hand-over: the end of a lease and the claim of its slot for a parked delivery, in one write.
//   - Park: keep a delivery in the store without a task, because the endpoint is paused, disabled, throttled or at a
//     limit, or because its circuit is open.
//   - Backlog: parked deliveries that wait although the circuit is closed.
//   - Release: send tasks for the parked deliveries of an endpoint, in slots or in waves: after an outage in slots,
//     from one on, and, without max_in_flight or a rate, in full waves as soon as the endpoint is fast again. In a wave
//     a delivery becomes retrying; in a slot it stays parked until its attempt is recorded.
//   - Stale: an attempt lost on a kept connection that the receiver had closed. It is repeated at once, and does not count
//     the first time.
//   - Wave: one step of a release. Waves grow: 1, 2, 4 and so on, up to 500 deliveries.
//   - Forget: stop checking an endpoint that has no parked deliveries.
//   - Review: the regular assessment of an active endpoint by its counts of attempts and dead deliveries.
//
// Protection of the others:
//
//   - Speed class: fast, slow or unproven. Only attempts at fast and at coalescing endpoints, and test events, share
//     invocations.
//   - Late attempt: an attempt of a second or more.
//   - Score: counts an answer in time as +1 and a late one as -19. At 20 the endpoint has proved its speed.
//   - Credit: answers in time that one process saw from an endpoint within the last seconds. Every 20 of them forgive one
//     late attempt.
//   - Share: a tenant's permission for one task in the queue slot.
//
// The end of a delivery:
//
//   - Settled: delivered, dead, discarded or cancelled. Surehook makes no more attempts.
//   - Cancel: end a delivery that is not settled. An attempt in flight may still reach the endpoint.
//   - Discard: end a dead delivery, so that it is no longer an open dead letter.
//   - Completion: the work that follows from the end of a delivery: see the table in package settle.
//   - Retire: turn a dead delivery into a discarded one when its replay has settled.
//   - Replay: the next generation of a delivery.
//   - Replay request: who asked for a replay, and how. The first task of the new generation carries it.
//   - Redrive: a replay by SQS, which moves dead letters back to a queue. A redrive of rejects sends them to the events
//     queue again.
//   - Job: a replay of all deliveries that a filter selects, one page at a time.
//   - Chain: the messages of a job, each of which sends the next one.
//   - Notification: an operational event about an endpoint or a delivery, for the owner.
//
// # States of a delivery
//
// A queued delivery has no record until the breaker finds it still queued some minutes later.
//
//	            +--------- gate parks -----------+
//	            |                                v
//	queued --attempt--> retrying --gate----> parked
//	  |  |                 |  ^                |  |
//	  |  |                 |  +--- release ----+  |
//	  |  +----- 2xx -------+------- 2xx ----------+--> delivered <-- late 2xx --+
//	  +---- rejected, exhausted, expired ---------+--> dead --------------------+--> discarded
//	  +---- endpoint deleted, cancelled, erased --+--> cancelled
//
// # Replays
//
// A replay creates the next generation in state queued. The record of the old
// generation names the new generation and keeps its state, with two exceptions:
//
//   - A dead delivery becomes discarded as soon as the new generation is settled.
//   - A forced replay of an unsettled delivery cancels that delivery. If the delivery is still queued, there is no new
//     generation: its first task is sent again.
package hook
