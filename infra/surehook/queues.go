package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

const (
	// queueRetention is SQS's maximum, 14 days. A task older than 14 days
	// means an outage.
	queueRetention = 14 * day
	// visibilityTimeouts is the visibility timeout in timeouts of the queue's
	// function. AWS recommends six, so a batch retried after a throttle is not
	// received twice.
	visibilityTimeouts = 6
	// maxReceives is SQS's maximum of receives before a message moves to the
	// undeliverable queue. A failed message returns after retry.Redelivery: nine
	// waits of 13 minutes in all, then 990 waits of 5 to 10 minutes, 7.5 on
	// average. 990 x 7.5 min = 5.2 days, and 3.4 to 6.9 days in all cases. The move
	// keeps the time of sending, so SQS keeps the message in undeliverable for the
	// rest of queueRetention: about 7 days.
	maxReceives = 1000
	// maxEventMessage is the size of a message of Events, in bytes: the largest payload,
	// hook.MaxPayload, and 16 KiB for the rest.
	maxEventMessage = 272 << 10
)

// Queues are the queue of events, the queues of deliver, the queues of breaker and replay,
// and the dead ends.
type Queues struct {
	names.Queues[awssqs.Queue]

	// Redrive is idle: see newQueues.
	Redrive awssqs.Queue
}

// newQueues makes the queues. All are standard queues: message group ids give
// fairness between tenants, and the order of messages is not guaranteed.
//
// CloudFormation generates the names. A queue with its tasks outlives its place in the
// stack (see keep), and a queue with a name of ours would then block the next deployment
// of the same name.
//
// The encryption is SQS's own, free of charge: tasks and dead letters hold ids, never payloads or
// secrets. Events and Rejects hold payloads, and EventBridge could not send to a queue under a key of
// KMS without a permission in the key.
func newQueues(scope constructs.Construct, env Environment) Queues {
	newOne := func(id string, props awssqs.QueueProps) awssqs.Queue {
		props.RemovalPolicy = keep(env)
		props.Encryption = awssqs.QueueEncryption_SQS_MANAGED
		props.EnforceSSL = jsii.Bool(true)
		props.RetentionPeriod = seconds(queueRetention)
		return awssqs.NewQueue(scope, &id, &props)
	}
	undeliverable, ofRetry := newOne("Undeliverable", awssqs.QueueProps{}), newOne("UndeliverableRetry", awssqs.QueueProps{})
	work := func(id string, timeout time.Duration, aside awssqs.Queue) awssqs.Queue { //nolint:unparam // the functions have equal timeouts by chance
		return newOne(id, awssqs.QueueProps{
			VisibilityTimeout: seconds(visibilityTimeouts * timeout),
			DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: aside, MaxReceiveCount: jsii.Number(maxReceives)},
		})
	}
	// A reject has attributes more than its message, and EventBridge's own are larger.
	rejects := newOne("Rejects", awssqs.QueueProps{MaxMessageSizeBytes: jsii.Number(1 << 20)})
	deadLetters := newOne("DeadLetters", awssqs.QueueProps{})
	return Queues{
		Queues: names.Queues[awssqs.Queue]{
			Events: newOne("Events", awssqs.QueueProps{
				VisibilityTimeout: seconds(visibilityTimeouts * apiTimeout),
				DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: rejects, MaxReceiveCount: jsii.Number(maxReceives)},
				// SQS refuses a larger message, so the producer has the error at once.
				MaxMessageSizeBytes: jsii.Number(maxEventMessage),
			}),
			Rejects:            rejects,
			Live:               work("Live", deliverTimeout, undeliverable),
			Retry:              work("Retry", deliverTimeout, ofRetry),
			Replay:             work("Replay", deliverTimeout, undeliverable),
			Slot:               work("Slot", deliverTimeout, undeliverable),
			Overflow:           work("Overflow", deliverTimeout, undeliverable),
			Coalesce:           work("Coalesce", deliverTimeout, undeliverable),
			Circuits:           work("Circuits", breakerTimeout, undeliverable),
			ReplayJobs:         work("ReplayJobs", replayTimeout, undeliverable),
			DeadLetters:        deadLetters,
			Undeliverable:      undeliverable,
			UndeliverableRetry: ofRetry,
		},
		// Redrive receives no messages. SQS moves messages (the console's
		// "Start DLQ redrive", StartMessageMoveTask) only out of a queue
		// configured as a dead-letter queue. The functions send the dead
		// letters themselves, so Redrive names DeadLetters as its dead-letter
		// queue. The custom destination of a redrive is the retry queue.
		// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
		Redrive: newOne("Redrive", awssqs.QueueProps{
			DeadLetterQueue: &awssqs.DeadLetterQueue{Queue: deadLetters, MaxReceiveCount: jsii.Number(maxReceives)},
		}),
	}
}

// keep returns the policy for a queue that leaves the stack: by a rollback to a version
// without the queue, by a replacement, or with the stack. The queue may have the only task
// of a queued delivery. An empty queue costs nothing. A queue that a failed creation or update
// made goes with it: no version sends to a queue that the version before does not read.
func keep(env Environment) awscdk.RemovalPolicy {
	if env.Name == "dev" || env.Name == "local" {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
}

// seconds converts a duration to CDK's form. No property here is finer than a
// second.
func seconds(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}
