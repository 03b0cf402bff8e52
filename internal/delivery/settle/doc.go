// Package settle writes what was decided about deliveries, and does the work that follows.
//
// A [Settler] of function deliver settles a delivery by the decision of a token: it writes
// the record and the attempt (a), follows up (b), and asks package settlement again after a
// conflict. It sends the next token, sends the dead letter, and disables the endpoint that
// answered 410 Gone.
//
// A [Completion] ends a settled delivery, for every function that settles deliveries:
//
//   - it counts the delivery for the delivery's replay job,
//   - it retires the dead predecessor: a replayed dead letter is no longer open, and the
//     death no longer counts for the review of the endpoint,
//   - it notifies the owner of a dead delivery; a failure is logged.
//
// Repeated calls of both are harmless.
//
// # Ports
//
// The package declares the ports shared by the packages of delivery: DeliveryStore,
// EndpointStore, EndpointDisabler, OutcomeRecorder, Counter, TokenQueue, Schedules, DeadLetters,
// Notifier and Completer.
// Other packages embed the ports instead of repeating the contracts.
package settle
