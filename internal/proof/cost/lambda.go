package cost

import (
	"strings"
	"time"
)

// Assumptions about an invocation: no emulator measures them.
const (
	ReceiverTime = 200 * time.Millisecond // until the endpoint has answered
	RequestTime  = 10 * time.Millisecond  // of one request to an AWS service in the region
	WorkTime     = 2 * time.Millisecond   // of the processor, per message or event
	MemoryMB     = 512
)

// LogEventBytes is added to each line by CloudWatch Logs.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutLogEvents.html
const LogEventBytes = 26

// AccessLine is a line of the API's access log, in the format of infra/surehook/api.go.
const AccessLine = `{"duration_ms":"41","error":"-","ip":"203.0.113.171","key_id":"key_0123456789abcdef","method":"POST",` +
	`"path":"/v1/tenants/acme/events","request_id":"U7w2jgzPoAMEJ9Q=","route":"POST /v1/tenants/{tenant}/events",` +
	`"status":"202","time":"21/Nov/2026:15:16:56 +0000"}`

// InvocationUsage returns the usage of one invocation with the duration. Lambda
// itself logs nothing: the functions' system log level is WARN.
func InvocationUsage(d time.Duration) Usage {
	return Usage{
		Invocation: 1,
		GBSecond:   d.Truncate(time.Millisecond).Seconds() * MemoryMB / 1024,
	}
}

// LogUsage returns the usage of log lines. A newline ends each line.
func LogUsage(lines string) Usage {
	n := strings.Count(lines, "\n")
	return Usage{LogByte: float64(len(lines) - n + n*LogEventBytes)}
}
