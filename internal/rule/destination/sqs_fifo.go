package destination

import (
	"regexp"

	"surehook.example/surehook/internal/hook"
)

// SQSFIFO is a FIFO queue.
const SQSFIFO hook.DestinationType = "sqs_fifo"

var fifoURL = regexp.MustCompile(queues + `[A-Za-z0-9_-]{1,75}\.fifo$`)

func sqsFIFO() Type {
	return Type{Name: SQSFIFO, Action: sqs().Action, Settings: []Setting{role(), groupBy()}, Resource: &Resource{
		Noun: "the URL of a FIFO queue", Example: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders.fifo",
		MaxBytes: sqs().MaxBytes, MaxCoalesceBytes: sqs().MaxCoalesceBytes, address: fifoURL,
	}}
}
