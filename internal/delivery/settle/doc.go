// Package settle writes decisions about deliveries, and does the work that follows.
//
// In function deliver, a [Settler] settles a delivery by the decision of a task: it writes the
// record and the attempt (a), follows up (b), and after a conflict asks package settlement
// again. Following up means sending the next task or the dead letter, disabling an endpoint
// that answered 410 Gone, and completing the delivery.
//
// A [Completion] completes a settled delivery, in every function that settles deliveries:
//
//   - it counts the delivery for the delivery's replay job,
//   - it retires the dead predecessor: a replayed dead letter is no longer open, and its
//     death no longer counts in the review of the endpoint,
//   - it notifies the owner of a dead delivery; a failure is logged.
//
// Repeating either is harmless.
//
// # Ports
//
// The package declares the ports shared by the packages of delivery: DeliveryStore,
// EndpointStore, EndpointDisabler, OutcomeRecorder, Counter, TaskQueue, Schedules, DeadLetters,
// Notifier and Completer.
// Other packages embed the ports instead of repeating the contracts.
package settle
