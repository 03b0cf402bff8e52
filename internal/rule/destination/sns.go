package destination

import (
	"regexp"

	"surehook.example/surehook/internal/hook"
)

// SNS is a standard topic.
const SNS hook.DestinationType = "sns"

var topicARN = regexp.MustCompile(arn("sns", `[A-Za-z0-9_-]{1,256}`))

func sns() Type {
	return Type{Name: SNS, Action: "sns:Publish", Settings: []Setting{role()}, Resource: &Resource{
		Noun: "the ARN of a standard topic", Example: "arn:aws:sns:eu-west-1:111122223333:orders",
		MaxBytes: 256 << 10, MaxCoalesceBytes: 192 << 10, address: topicARN,
	}}
}
