package source

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Attributes of a message, as the producer gives them. A message with the first or the
// second has the payload alone as its body.
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
	AttrReturns = "surehook_returns" // to the events queue, because of a tenant's limit
	AttrReason  = "surehook_reason"  // of a reject
)

// attrRuleError is the reason of EventBridge, for an event that a rule could not send to the
// events queue. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
const attrRuleError = "ERROR_MESSAGE"

// Attributes returns the names that a message sent again keeps. SQS takes 10 attributes.
func Attributes() []string {
	return []string{AttrTenant, AttrEventType, AttrIdempotencyKey, AttrTraceParent, AttrID, AttrSentAt, AttrReturns, AttrReason}
}

// Message is a message of the events queue or of the rejects.
type Message struct {
	ID         string // of this message
	Body       string
	Attributes map[string]string // those of Attributes; never empty texts
	SentAt     time.Time         // of this message
	Receipt    string            // of a received message, to delete it
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

// Reason returns why the message is a reject; empty for an event, and for a reject that
// another service sent without a reason: SQS after the most receives.
func (m Message) Reason() string {
	return cmp.Or(m.Attributes[AttrReason], m.Attributes[attrRuleError])
}

func (m Message) returns() int {
	n, _ := strconv.Atoi(m.Attributes[AttrReturns]) // 0 without
	return max(n, 0)
}

// size returns the bytes of the message with the attributes that a copy keeps.
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

// returned returns the message for a further wait in the queue.
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
		if r < ' ' || r == '\uFFFE' || r == '\uFFFF' { // SQS refuses most of them; a name in the body may have any
			return ' '
		}
		return r
	}, reason)
	return again
}
