package destination

import (
	"regexp"

	"surehook.example/surehook/internal/hook"
)

// Kinesis is a data stream.
const Kinesis hook.DestinationType = "kinesis"

var streamARN = regexp.MustCompile(arn("kinesis", `stream/[A-Za-z0-9_.-]{1,128}`))

func kinesis() Type {
	return Type{Name: Kinesis, Action: "kinesis:PutRecord", Settings: []Setting{role(), groupBy()}, Resource: &Resource{
		Noun: "the ARN of a stream", Example: "arn:aws:kinesis:eu-west-1:111122223333:stream/orders",
		MaxBytes: 1 << 20, MaxCoalesceBytes: 256 << 10, address: streamARN, // a record has the body twice
	}}
}
