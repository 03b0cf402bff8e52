package destination

import (
	"regexp"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// EventBridge is an event bus.
const EventBridge hook.DestinationType = "eventbridge"

// Source is the setting with the source field of the events.
const Source = "source"

var (
	busARN = regexp.MustCompile(arn("events", `event-bus/[A-Za-z0-9._/-]{1,256}`))
	source = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,256}$`)
)

func eventbridge() Type {
	of := Setting{Name: Source, Example: "com.example.shop", wrong: func(value string) string {
		ok := source.MatchString(value) && !strings.HasPrefix(strings.ToLower(value), "aws.") // which AWS reserves
		return must(ok, "1 to 256 of A-Z a-z 0-9 . _ / - without aws. in front", "com.example.shop")
	}}
	return Type{Name: EventBridge, Action: "events:PutEvents", Settings: []Setting{role(), of}, Resource: &Resource{
		Noun: "the ARN of an event bus", Example: "arn:aws:events:eu-west-1:111122223333:event-bus/orders",
		MaxBytes: 1<<20 - 1, MaxCoalesceBytes: 256 << 10, address: busARN, // an entry has the body twice
	}}
}
