package cost

import (
	"strings"
	"time"
)

// Assumptions about an invocation: no emulator measures them.
const (
	ReceiverTime = 200 * time.Millisecond // until the endpoint has answered
	RequestTime  = 10 * time.Millisecond  // of one request to an AWS service in the region
	CrossingTime = 100 * time.Millisecond // of a call to a sender in another region and back, beside the attempt
	MemoryMB     = 160                    // of functions ingest, deliver and sender
	BreakerMB    = 512                    // of function breaker
)

// Work of a whole processor, measured with the real code, without TLS: 1.2 ms for a post,
// 0.36 ms for each event of a batch of 100, and 4.5 ms for a batch of 10 deliveries. A
// function with processorMB has one processor, and with less memory a share.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
const (
	InvocationWork = 850 * time.Microsecond
	MessageWork    = 400 * time.Microsecond // per message or event
	processorMB    = 1769
)

// WorkTime returns the time of the work on n messages or events in a function with the
// memory.
func WorkTime(n float64, memoryMB int) time.Duration {
	work := float64(InvocationWork) + n*float64(MessageWork)
	return time.Duration(work * processorMB / float64(memoryMB))
}

// HandshakeWork is the CPU time of the client's side of a TLS handshake, including the
// verification of the certificates, on a whole processor: an estimate, not a measurement.
const HandshakeWork = time.Millisecond

// HandshakeTime returns the time of the work for n new connections, in a function with the
// memory.
func HandshakeTime(n float64, memoryMB int) time.Duration {
	return time.Duration(n * float64(HandshakeWork) * processorMB / float64(memoryMB))
}

// Idle times of connections: of package egress, and of the clients of AWS in package
// lambdafn.
const (
	EndpointIdle = 4 * time.Second
	ServiceIdle  = 20 * time.Second
)

// LogEventBytes is added to each line by CloudWatch Logs.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutLogEvents.html
const LogEventBytes = 26

// AccessLine is a line of the API's access log, in the format of infra/surehook/api.go.
const AccessLine = "U7w2jgzPoAMEJ9Q= 203.0.113.171 key_0123456789abcdef 202 - 41 POST /v1/tenants/acme/events"

// InvocationUsage returns the usage of one invocation with the duration and memory. Lambda
// rounds the duration up to a millisecond (https://aws.amazon.com/lambda/pricing/), and
// itself logs nothing: the functions' system log level is WARN.
func InvocationUsage(d time.Duration, memoryMB int) Usage {
	return Usage{
		Invocation: 1,
		GBSecond:   (d + time.Millisecond - 1).Truncate(time.Millisecond).Seconds() * float64(memoryMB) / 1024,
	}
}

// AccessUsage returns the usage of a line of the access log.
func AccessUsage() Usage { return Usage{AccessByte: float64(len(AccessLine) + LogEventBytes)} }

// LogUsage returns the usage of log lines. A newline ends each line.
func LogUsage(lines string) Usage {
	n := strings.Count(lines, "\n")
	return Usage{LogByte: float64(len(lines) - n + n*LogEventBytes)}
}
