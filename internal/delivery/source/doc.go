// Package source accepts events that come by a queue: from backends with permission to send
// to the queue, and from a rule of EventBridge.
//
// # A message
//
// A message has one of three forms, see Reader. Its event is accepted as a posted one, under
// the idempotency key of the message: its own key, or the id of the message. A message that
// comes twice is accepted once.
//
// # The end of a message
//
//   - Accepted: SQS deletes the message. Before, every token is sent, so SQS holds what a
//     crash interrupts.
//   - Past the tenant's limit of events per second: the message is sent to the queue again
//     with a growing delay, and waits without end. Delayed messages are no messages in
//     flight, of which a queue has at most 120,000: so one tenant's messages never stop the
//     others'. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
//   - Wrong: the message moves to the queue of rejects with the reason.
//   - A failure of ours: SQS delivers the message again.
//
// Package source knows no SQS and no HTTP.
package source
