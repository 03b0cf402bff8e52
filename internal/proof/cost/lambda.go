package cost

import (
	"strings"
	"time"
)

// What is assumed of an invocation, because no emulator can tell it.
const (
	ReceiverTime = 200 * time.Millisecond // until the endpoint has answered
	RequestTime  = 10 * time.Millisecond  // of one request to an AWS service in the region
	WorkTime     = 2 * time.Millisecond   // of the processor, per message or event
	MemoryMB     = 512
)

// LogEventBytes is what CloudWatch Logs adds to each line.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutLogEvents.html
const LogEventBytes = 26

// AccessLine is a line of the API's access log: its format is in infra/surehook/api.go.
const AccessLine = `{"duration_ms":"41","error":"-","ip":"203.0.113.171","key_id":"key_0123456789abcdef","method":"POST",` +
	`"path":"/v1/tenants/acme/events","request_id":"U7w2jgzPoAMEJ9Q=","route":"POST /v1/tenants/{tenant}/events",` +
	`"status":"202","time":"21/Nov/2026:15:16:56 +0000"}`

// InvocationUsage is that of one invocation of so long. Lambda itself logs
// nothing about it: the functions' system log level is WARN.
func InvocationUsage(d time.Duration) Usage {
	return Usage{
		Invocation: 1,
		GBSecond:   d.Truncate(time.Millisecond).Seconds() * MemoryMB / 1024,
	}
}

// LogUsage is that of lines that were logged, each ended by a newline.
func LogUsage(lines string) Usage {
	n := strings.Count(lines, "\n")
	return Usage{LogByte: float64(len(lines) - n + n*LogEventBytes)}
}
