package source

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Attributes of a message, as set by the producer. If it has AttrTenant or AttrEventType, its body
// is the payload alone.
const (
	AttrTenant         = "tenant"
	AttrEventType      = "event_type"
	AttrIdempotencyKey = "idempotency_key"
	AttrTraceParent    = "traceparent" // W3C Trace Context
	AttrOrderingKey    = "ordering_key"
)

// Attributes that Surehook adds when it sends a message again.
const (
	AttrID      = "surehook_id"      // the id of the first message, which is the default idempotency key
	AttrSentAt  = "surehook_sent_at" // when the first message was sent, in milliseconds since 1970
	AttrReturns = "surehook_returns" // how often the message was sent back to the events queue because of a tenant's limit
	AttrReason  = "surehook_reason"  // only of a reject: why it is one
)

// attrRuleError is the attribute with EventBridge's reason why a rule could not send an event to the
// events queue. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
const attrRuleError = "ERROR_MESSAGE"

// Attributes returns the names of the attributes that Surehook sets or keeps. A message sent again
// has no others, because SQS allows at most 10.
func Attributes() []string {
	return []string{AttrTenant, AttrEventType, AttrIdempotencyKey, AttrTraceParent, AttrOrderingKey, AttrID, AttrSentAt, AttrReturns, AttrReason}
}

// Message is a message of the events queue or of the rejects.
type Message struct {
	ID         string // of this message
	Body       string
	Attributes map[string]string // of a message of the events queue: those named by Attributes, without empty values; of a reject: all
	SentAt     time.Time         // of this message
	Receipt    string            // of a received message, for deleting it
}

// First returns the id and the time of the first message with this content. They are those of m,
// unless Surehook sent m in place of an earlier message.
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
	n, _ := strconv.Atoi(m.Attributes[AttrReturns]) // 0 without a valid attribute
	return max(n, 0)
}

// size returns the size of the message in bytes as SQS counts it, with its attributes.
func (m Message) size() int {
	n := len(m.Body)
	for name, value := range m.Attributes {
		n += len(name) + len("String") + len(value)
	}
	return n
}

// Again returns the message to send in place of m. It has the id and the time of the first message,
// and no reason.
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

// returned returns the message to send back to the events queue, where it waits again for the
// tenant's limit.
func (m Message) returned() Message {
	again := m.Again()
	again.Attributes[AttrReturns] = strconv.Itoa(m.returns() + 1)
	return again
}

// maxReason limits the reason of a reject, in bytes.
const maxReason = 1000

// rejected returns the message to send to the rejects. A longer reason is cut to maxReason.
func (m Message) rejected(reason string) Message {
	again := m.Again()
	delete(again.Attributes, AttrReturns)
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	again.Attributes[AttrReason] = strings.Map(func(r rune) rune {
		if r < ' ' || r == '\uFFFE' || r == '\uFFFF' { // SQS refuses most of these, and the reason may quote a name from the body
			return ' '
		}
		return r
	}, reason)
	return again
}
