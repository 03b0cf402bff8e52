package destination

import (
	"regexp"

	"surehook.example/surehook/internal/hook"
)

// SQS is a standard queue.
const SQS hook.DestinationType = "sqs"

// queues is the form of a queue's URL up to its name.
const queues = `^https://sqs\.` + region + `\.amazonaws\.com(?:\.cn)?/([0-9]{12})/`

var queueURL = regexp.MustCompile(queues + `[A-Za-z0-9_-]{1,80}$`)

func sqs() Type {
	return Type{Name: SQS, Action: "sqs:SendMessage", Settings: []Setting{role()}, Resource: &Resource{
		Noun: "the URL of a standard queue", Example: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders",
		MaxBytes: 1 << 20, MaxCoalesceBytes: hook.MaxCoalesceBytes, address: queueURL,
	}}
}
