package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

const (
	// queueRetention is the longest that SQS keeps a message: a token that is not
	// worked on for a fortnight is the sign of an outage, not of a choice.
	queueRetention = 14 * day
	// visibilityTimeouts is for how many timeouts of its function a message is
	// hidden while it is worked on: six, as Lambda asks for, so that a batch that is
	// retried after a throttle is not handed out twice meanwhile.
	visibilityTimeouts = 6
	// maxReceives sends a message to undeliverable. It is far above what throttles
	// and redeploys cost a good one, which must never end there.
	maxReceives = 50
	// idleReceives is the most that SQS takes. Nothing is ever received from the
	// queue that needs it.
	idleReceives = 1000
)

// Queues are the lanes that deliver works from, what the breaker and replay
// work from, and the two dead ends.
type Queues struct {
	Live, Retry, Replay awssqs.Queue

	// Circuits holds endpoints that the breaker is asked to look at.
	Circuits awssqs.Queue
	// ReplayJobs holds the jobs that have a page to do.
	ReplayJobs awssqs.Queue

	// DeadLetters holds deliveries that gave up: customers' troubles.
	DeadLetters awssqs.Queue
	// Undeliverable holds messages that we could not work on: our own troubles. It must stay empty.
	Undeliverable awssqs.Queue
	// Redrive is idle: see NewQueues.
	Redrive awssqs.Queue
}

// QueuesProps says what NewQueues makes.
type QueuesProps struct {
	Prefix string // of the queues' names
}

// NewQueues makes the queues. All are standard queues: fairness between
// endpoints comes from the messages' group ids, order is not promised.
func NewQueues(scope constructs.Construct, props QueuesProps) Queues {
	undeliverable := newQueue(scope, "Undeliverable", awssqs.QueueProps{QueueName: jsii.String(props.Prefix + "-undeliverable")})
	work := func(id, name string, timeout time.Duration) awssqs.Queue {
		return newQueue(scope, id, awssqs.QueueProps{
			QueueName:         jsii.String(props.Prefix + "-" + name),
			VisibilityTimeout: seconds(visibilityTimeouts * timeout),
			DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: undeliverable, MaxReceiveCount: jsii.Number(maxReceives)},
		})
	}
	deadLetters := newQueue(scope, "DeadLetters", awssqs.QueueProps{QueueName: jsii.String(props.Prefix + "-dead-letters")})
	return Queues{
		Live:          work("Live", "live", deliverTimeout),
		Retry:         work("Retry", "retry", deliverTimeout),
		Replay:        work("Replay", "replay", deliverTimeout),
		Circuits:      work("Circuits", "circuits", breakerTimeout),
		ReplayJobs:    work("ReplayJobs", "replay-jobs", replayTimeout),
		DeadLetters:   deadLetters,
		Undeliverable: undeliverable,
		// Nobody sends to it. SQS moves messages (the console's "Start DLQ redrive",
		// StartMessageMoveTask) only out of a queue that another one names as its
		// dead-letter queue, and our code sends the dead letters itself: so this one
		// names it. They are moved to the retry lane, as the custom destination.
		// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
		Redrive: newQueue(scope, "Redrive", awssqs.QueueProps{
			QueueName:       jsii.String(props.Prefix + "-redrive"),
			DeadLetterQueue: &awssqs.DeadLetterQueue{Queue: deadLetters, MaxReceiveCount: jsii.Number(idleReceives)},
		}),
	}
}

// newQueue adds what all queues have in common. The encryption is SQS's own,
// free of charge: tokens and dead letters hold ids, never payloads or secrets.
func newQueue(scope constructs.Construct, id string, props awssqs.QueueProps) awssqs.Queue {
	props.Encryption = awssqs.QueueEncryption_SQS_MANAGED
	props.EnforceSSL = jsii.Bool(true)
	props.RetentionPeriod = seconds(queueRetention)
	return awssqs.NewQueue(scope, &id, &props)
}

// seconds is a duration as CDK has it; no property here is finer than a second.
func seconds(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}
