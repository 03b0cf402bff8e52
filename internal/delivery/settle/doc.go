// Package settle completes the settlement of deliveries, for every function that
// settles a delivery. Complete does three things:
//
//   - counts the delivery for the delivery's replay job,
//   - retires the dead predecessor: a replayed dead letter is no longer open, and the
//     death no longer counts for the review of the endpoint,
//   - notifies the owner of a dead delivery; a failure is logged.
//
// Repeated calls of Complete are harmless. The package knows no attempts, queues or
// tables.
//
// # Ports
//
// The package declares the ports shared by the packages of delivery: DeliveryStore,
// EndpointStore, EndpointDisabler, OutcomeRecorder, Counter, TokenQueue, DeadLetters, Notifier and Completer.
// Other packages embed the ports instead of repeating the contracts.
package settle
