// Package source accepts events that come through a queue: from backends that may send to it,
// and from a rule of EventBridge.
//
// # A message
//
// A message has one of four forms, see Reader. Its event is accepted like a posted one. The
// idempotency key is the one in the message, or else the message's id, so a message that comes
// twice is accepted once.
//
// # The end of a message
//
//   - Accepted: SQS deletes the message, but only after every task is sent. So after a crash
//     the message comes again.
//   - Past the tenant's limit of events per second: the message is sent back to the queue with
//     a growing delay, as often as necessary. A queue has at most 120,000 messages in flight,
//     but delayed messages do not count, so the messages of one tenant never stop the others'. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
//   - Wrong: the message moves to the queue of rejects, with the reason.
//   - A failure of ours: SQS delivers the message again.
//
// The package knows neither SQS nor HTTP.
package source
