package source

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Attributes of a message, as set by the producer. If it has the first or the second, its body is
// the payload alone.
const (
	AttrTenant         = "tenant"
	AttrEventType      = "event_type"
	AttrIdempotencyKey = "idempotency_key"
	AttrTraceParent    = "traceparent" // W3C Trace Context
)

// Attributes that Surehook adds when it sends a message again.
const (
	AttrID      = "surehook_id"      // of the first message: the default idempotency key
	AttrSentAt  = "surehook_sent_at" // of the first message, in milliseconds since 1970
	AttrReturns = "surehook_returns" // how often it was sent back to the events queue because of a tenant's limit
	AttrReason  = "surehook_reason"  // of a reject
)

// attrRuleError is EventBridge's reason for an event that a rule could not send to the events
// queue. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
const attrRuleError = "ERROR_MESSAGE"

// Attributes returns the names of the attributes that a message keeps when it is sent again. SQS
// takes 10 attributes.
func Attributes() []string {
	return []string{AttrTenant, AttrEventType, AttrIdempotencyKey, AttrTraceParent, AttrID, AttrSentAt, AttrReturns, AttrReason}
}

// Message is a message of the events queue or of the rejects.
type Message struct {
	ID         string // of this message
	Body       string
	Attributes map[string]string // only those named by Attributes; no value is empty
	SentAt     time.Time         // of this message
	Receipt    string            // of a received message, for deleting it
}

// First returns the id and the time of the first message with this content.
func (m Message) First() (id string, at time.Time) {
	id, at = m.ID, m.SentAt
	if first := m.Attributes[AttrID]; first != "" {
		id = first
	}
	if ms, err := strconv.ParseInt(m.Attributes[AttrSentAt], 10, 64); err == nil {
		if first := time.UnixMilli(ms); ms > 0 && first.Before(at) {
			at = first
		}
	}
	return id, at
}

// Reason returns why the message is a reject. It is empty for an event, and for a reject that
// another service sent without a reason, such as SQS after too many receives.
func (m Message) Reason() string {
	return cmp.Or(m.Attributes[AttrReason], m.Attributes[attrRuleError])
}

func (m Message) returns() int {
	n, _ := strconv.Atoi(m.Attributes[AttrReturns]) // 0 without the attribute
	return max(n, 0)
}

// size returns the bytes of the message, with the attributes that a copy keeps.
func (m Message) size() int {
	n := len(m.Body)
	for name, value := range m.Attributes {
		n += len(name) + len("String") + len(value)
	}
	return n
}

// Again returns the message to send in place of m: with the first id and time, and without
// the reason of a reject.
func (m Message) Again() Message {
	id, at := m.First()
	again := Message{Body: m.Body, Attributes: make(map[string]string, len(Attributes()))}
	for _, name := range Attributes() {
		if value := m.Attributes[name]; value != "" {
			again.Attributes[name] = value
		}
	}
	again.Attributes[AttrID], again.Attributes[AttrSentAt] = id, strconv.FormatInt(at.UnixMilli(), 10)
	delete(again.Attributes, AttrReason)
	return again
}

// returned returns the message to send back to the queue for a further wait.
func (m Message) returned() Message {
	again := m.Again()
	again.Attributes[AttrReturns] = strconv.Itoa(m.returns() + 1)
	return again
}

// maxReason limits the reason of a reject, in bytes.
const maxReason = 1000

// rejected returns the message for the rejects.
func (m Message) rejected(reason string) Message {
	again := m.Again()
	delete(again.Attributes, AttrReturns)
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	again.Attributes[AttrReason] = strings.Map(func(r rune) rune {
		if r < ' ' || r == '\uFFFE' || r == '\uFFFF' { // SQS refuses most of them, and a name in the body may contain any
			return ' '
		}
		return r
	}, reason)
	return again
}
