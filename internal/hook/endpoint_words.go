package hook

import "time"

// Status says whether Surehook sends requests to an endpoint.
type Status uint8

// The statuses. The zero Status is not valid.
const (
	StatusActive   Status = iota + 1
	StatusPaused          // paused by a caller; deliveries are parked
	StatusDisabled        // disabled by a caller or by a rule; deliveries are parked
)

// String returns the status as it appears in the API and in logs.
func (s Status) String() string {
	return Names[Status]{StatusActive: "active", StatusPaused: "paused", StatusDisabled: "disabled"}.Of(s)
}

// Scheme is a signature scheme of Standard Webhooks.
type Scheme uint8

// The schemes. The zero Scheme is not valid.
const (
	SchemeV1  Scheme = iota + 1 // HMAC-SHA256 under a shared secret
	SchemeV1a                   // ed25519; the receiver holds only the public key
)

// String returns the scheme as it appears in the API and in the signature header.
func (s Scheme) String() string {
	return Names[Scheme]{SchemeV1: "v1", SchemeV1a: "v1a"}.Of(s)
}

// OnFailure says what a dead delivery does to the deliveries behind it, which have the same ordering key.
type OnFailure uint8

// The values of OnFailure. OnFailureBlock is the zero OnFailure.
const (
	OnFailureBlock OnFailure = iota // they wait until it is delivered by a replay, or discarded
	OnFailureSkip                   // the next one is sent
)

// String returns the word of the API.
func (f OnFailure) String() string {
	return Names[OnFailure]{OnFailureBlock: "block", OnFailureSkip: "skip"}.Of(f)
}

// RetryPolicy determines the delays between attempts: a preset by name, a
// schedule of delays, or exponential growth. Package retry does the arithmetic.
type RetryPolicy struct {
	Preset      string          `stored:"preset" json:"preset,omitzero"`         // "standard", "minute", "exponential" or "day"; empty with Schedule or Exponential
	Schedule    []time.Duration `stored:"schedule_ns" json:"schedule,omitempty"` // delay after each failure; attempts = delays + 1
	Exponential Exponential     `stored:",inline" json:"exponential,omitzero"`   // zero for none
	Jitter      Jitter          `stored:"jitter" json:"jitter,omitzero"`         // spread of the delays; zero with a preset, because presets define the jitter
}

// Exponential is a delay of Base x Factor^n after failure n+1, at most Cap.
type Exponential struct {
	Base     time.Duration `stored:"base_ns" json:"base"`
	Factor   float64       `stored:"factor" json:"factor"`
	Cap      time.Duration `stored:"cap_ns" json:"cap"`
	Attempts int           `stored:"attempts" json:"attempts"` // total, including the first
}

// Jitter is how a delay d is spread, so that deliveries that failed together are not retried
// together.
type Jitter uint8

// The jitters. The zero Jitter is not valid.
const (
	JitterFull         Jitter = iota + 1 // uniform in [0, d]
	JitterEqual                          // uniform in [d/2, d]
	JitterProportional                   // uniform in [0.9 d, 1.1 d]
	JitterNone                           // d
)

// String returns the jitter as it appears in the API.
func (j Jitter) String() string {
	return Names[Jitter]{JitterFull: "full", JitterEqual: "equal", JitterProportional: "proportional", JitterNone: "none"}.Of(j)
}
