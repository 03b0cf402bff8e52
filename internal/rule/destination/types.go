package destination

import (
	"regexp"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// The types in AWS.
const (
	SQS         hook.DestinationType = "sqs"         // a standard queue
	SQSFIFO     hook.DestinationType = "sqs_fifo"    // a FIFO queue
	SNS         hook.DestinationType = "sns"         // a standard topic
	EventBridge hook.DestinationType = "eventbridge" // an event bus
	Kinesis     hook.DestinationType = "kinesis"     // a data stream
)

// The settings.
const (
	RoleARN = "role_arn" // of all types in AWS: a role in the customer's account, which Surehook assumes to send
	// GroupBy is the path of a value in the payload. Events with an equal value are in one group: the
	// message group of a FIFO queue, or the partition key of a stream.
	GroupBy = "group_by"
	Source  = "source" // the source field of the events
)

// Types returns all types, in the order of the API. The settings of http are those of the endpoint itself,
// which package hook checks, and package egress the URL.
func Types() []Type {
	return []Type{
		{Name: hook.DestinationHTTP, Action: "POST"},
		{Name: SQS, Action: "sqs:SendMessage", Settings: []Setting{role()}, Resource: &Resource{
			Noun: "the URL of a standard queue", Example: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders",
			MaxBytes: 1 << 20, MaxCoalesceBytes: hook.MaxCoalesceBytes, address: queueURL,
		}},
		{Name: SQSFIFO, Action: "sqs:SendMessage", Settings: []Setting{role(), groupBy()}, Resource: &Resource{
			Noun: "the URL of a FIFO queue", Example: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders.fifo",
			MaxBytes: 1 << 20, MaxCoalesceBytes: hook.MaxCoalesceBytes, address: fifoURL,
		}},
		{Name: SNS, Action: "sns:Publish", Settings: []Setting{role()}, Resource: &Resource{
			Noun: "the ARN of a standard topic", Example: "arn:aws:sns:eu-west-1:111122223333:orders",
			MaxBytes: 256 << 10, MaxCoalesceBytes: 192 << 10, address: topicARN,
		}},
		{Name: EventBridge, Action: "events:PutEvents", Settings: []Setting{role(), source()}, Resource: &Resource{
			Noun: "the ARN of an event bus", Example: "arn:aws:events:eu-west-1:111122223333:event-bus/orders",
			MaxBytes: 1<<20 - 1, MaxCoalesceBytes: 256 << 10, address: busARN, // an entry has the body twice
		}},
		{Name: Kinesis, Action: "kinesis:PutRecord", Settings: []Setting{role(), groupBy()}, Resource: &Resource{
			Noun: "the ARN of a stream", Example: "arn:aws:kinesis:eu-west-1:111122223333:stream/orders",
			MaxBytes: 1 << 20, MaxCoalesceBytes: 256 << 10, address: streamARN, // a record has the body twice
		}},
	}
}

const (
	region = `([a-z]{2}(?:-[a-z]+)+-[0-9])`
	queues = `^https://sqs\.` + region + `\.amazonaws\.com(?:\.cn)?/([0-9]{12})/`
)

// arn returns the form of an address that is the ARN of a resource of the service.
func arn(service, resource string) string {
	return `^arn:aws[a-z-]*:` + service + `:` + region + `:([0-9]{12}):` + resource + `$`
}

// The forms of addresses and settings.
var (
	queueURL  = regexp.MustCompile(queues + `[A-Za-z0-9_-]{1,80}$`)
	fifoURL   = regexp.MustCompile(queues + `[A-Za-z0-9_-]{1,75}\.fifo$`)
	topicARN  = regexp.MustCompile(arn("sns", `[A-Za-z0-9_-]{1,256}`))
	busARN    = regexp.MustCompile(arn("events", `event-bus/[A-Za-z0-9._/-]{1,256}`))
	streamARN = regexp.MustCompile(arn("kinesis", `stream/[A-Za-z0-9_.-]{1,128}`))

	roleARN    = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):role(/(?:[A-Za-z0-9_+=,.@-]+/)*)[A-Za-z0-9_+=,.@-]{1,64}$`)
	sourceName = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,256}$`)
	// groupPath excludes what only other languages of paths have, such as $.items[0].id.
	groupPath = regexp.MustCompile(`^[^\s.$/*\[\]]+(?:\.[^\s.$/*\[\]]+)*$`)
)

const (
	maxRoleARN   = 640 // IAM's limit for a path and a name, with the parts around them
	maxGroupPath = 256 // bytes
)

func role() Setting {
	return Setting{Name: RoleARN, form: "the ARN of a role", Example: "arn:aws:iam::111122223333:role/surehook/orders", fits: func(value string) bool {
		return len(value) <= maxRoleARN && roleARN.MatchString(value)
	}}
}

func source() Setting {
	return Setting{Name: Source, form: "1 to 256 of A-Z a-z 0-9 . _ / - without aws. in front", Example: "com.example.shop", fits: func(value string) bool {
		return sourceName.MatchString(value) && !strings.HasPrefix(strings.ToLower(value), "aws.") // which AWS reserves
	}}
}

func groupBy() Setting {
	return Setting{Name: GroupBy, form: "the names of fields of the payload with dots between them, 256 bytes at most", Example: "customer.id", Optional: true, fits: func(value string) bool {
		return len(value) <= maxGroupPath && groupPath.MatchString(value)
	}}
}
