// Package trace names the trace of an event and its spans, in the terms of W3C
// Trace Context (https://www.w3.org/TR/trace-context/).
//
// A caller can give a trace with a post. Otherwise the event begins a trace. Its id is the UUID in
// the event's id, so it need not be stored.
//
// The ids of spans are hashes of the ids of the work, so every process that computes one gets
// the same id. The package exports no spans, and knows no clock.
package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"surehook.example/surehook/internal/hook"
)

// Span is the id of one unit of work in a trace.
type Span [8]byte

// Trace is the trace of one event. The zero Trace means none.
type Trace struct {
	ID     [16]byte
	Parent Span // the caller's span; zero for a trace that the event began
	Flags  byte // Sampled and Random; other bits are not passed on
}

// The flags.
const (
	Sampled = 0x01 // the caller may have recorded the trace
	Random  = 0x02 // the id's last 7 bytes are random (level 2 of the specification)

	known = Sampled | Random
)

// length is the length of a header of version 00, in bytes.
const length = len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

// Parse reads a traceparent header. A header of a later version is read as version 00 and may be
// longer. ok is false for every other header: by W3C Trace Context it is ignored, and a new trace
// begins.
func Parse(header string) (t Trace, ok bool) {
	if len(header) < length || header[2] != '-' || header[35] != '-' || header[52] != '-' {
		return Trace{}, false
	}
	var version, flags [1]byte
	if !decode(version[:], header[:2]) || !decode(t.ID[:], header[3:35]) || !decode(t.Parent[:], header[36:52]) || !decode(flags[:], header[53:55]) {
		return Trace{}, false
	}
	switch longer := len(header) > length; {
	case version[0] == 0xff, version[0] == 0 && longer, longer && header[length] != '-':
		return Trace{}, false
	case t.ID == [16]byte{}, t.Parent == Span{}:
		return Trace{}, false
	}
	t.Flags = flags[0] & known
	return t, true
}

// decode fills to from lower-case hexadecimal digits, and returns false for any other text.
func decode(to []byte, digits string) bool {
	n, err := hex.Decode(to, []byte(digits))
	return err == nil && n == len(to) && hex.EncodeToString(to) == digits
}

// Received returns the traceparent header of a caller in the form to store; empty for an invalid one.
func Received(header string) string {
	if t, ok := Parse(header); ok {
		return t.Under(t.Parent)
	}
	return ""
}

// Of returns the trace that the caller gave with the event, or else the one that the event began. An
// event without either, because its id is not valid, has no trace.
func Of(e *hook.Event) Trace {
	if t, ok := Parse(e.TraceParent); ok {
		return t
	}
	id, ok := e.ID.UUID()
	if !ok {
		return Trace{}
	}
	return Trace{ID: id, Flags: Random}
}

// Given reports whether a caller gave the trace.
func (t Trace) Given() bool { return t.Parent != Span{} }

// String returns the trace's id in hexadecimal digits; empty for none.
func (t Trace) String() string {
	if t.ID == [16]byte{} {
		return ""
	}
	return hex.EncodeToString(t.ID[:])
}

// Under returns the traceparent header for work below the span; empty without a trace.
func (t Trace) Under(s Span) string {
	if t.ID == [16]byte{} {
		return ""
	}
	header := append(make([]byte, 0, length), "00-"...)
	header = append(hex.AppendEncode(header, t.ID[:]), '-')
	header = append(hex.AppendEncode(header, s[:]), '-')
	return string(hex.AppendEncode(header, []byte{t.Flags & known}))
}

// String returns the span's id in hexadecimal digits.
func (s Span) String() string { return hex.EncodeToString(s[:]) }

// Acceptance returns the span of the event's acceptance.
func Acceptance(id hook.EventID) Span { return spanOf([]byte("event " + string(id))) }

// maxWork is the usual room for the name of an attempt, in bytes.
const maxWork = 96

// Attempt returns the span of an attempt of the delivery. The number counts from 1.
func Attempt(d hook.DeliveryID, number int) Span {
	work := append(make([]byte, 0, maxWork), "attempt "...)
	work = append(append(work, d.String()...), ' ')
	return spanOf(strconv.AppendInt(work, int64(number), 10))
}

// Header returns the traceparent header of an attempt. A trace that the caller gave keeps the
// caller's span as the parent, because only some deployments export the spans of Surehook. In a
// trace that the event began, the span of the attempt is the parent.
func Header(e *hook.Event, d hook.DeliveryID, attempt int) string {
	t := Of(e)
	if t.Given() {
		return t.Under(t.Parent)
	}
	return t.Under(Attempt(d, attempt))
}

// spanOf hashes the name of the work. An id of zeros would not be valid, but a hash begins with 8
// zero bytes only with a probability of 2^-64.
func spanOf(work []byte) Span {
	sum := sha256.Sum256(work)
	return Span(sum[:8])
}
