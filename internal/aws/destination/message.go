package destination

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	rule "surehook.example/surehook/internal/rule/destination"
)

// attributeType is the type of all attributes of a message.
const attributeType = "String"

// message returns the message of a queue or topic: the signed body, and the headers of a request,
// which are its attributes.
func message(e *hook.Endpoint, p send.Prepared) (body string, attributes map[string]string, err error) {
	body = string(p.Body)
	// SQS would replace other characters, and then the signature would not match.
	if i := strings.IndexFunc(body, func(r rune) bool { return !xmlCharacter(r) }); i >= 0 {
		return "", nil, fmt.Errorf("%w: byte %d begins a character that %s does not transport; write it as a \\u escape", errContents, i, e.Destination.Type)
	}
	attributes = make(map[string]string, len(p.Header))
	size := len(body)
	for name, values := range p.Header {
		if name == "Accept" {
			continue // nothing is answered
		}
		name = strings.ToLower(name)
		attributes[name] = values[0]
		size += len(name) + len(attributeType) + len(values[0])
	}
	return body, attributes, fits(e, size)
}

// xmlCharacter reports whether SQS transports the character: it must be one of XML 1.0. Topics often
// lead to a queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
func xmlCharacter(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r != 0xFFFE && r != 0xFFFF
}

// document is a message without attributes: the detail of an event of a bus, or the data of a
// record. The payload is there for rules to match; the body is the signed text, for receivers to
// verify.
type document struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Signature string          `json:"signature"`
	Delivery  string          `json:"delivery"`
	Attempt   string          `json:"attempt"`
	Body      string          `json:"body"`
	Payload   json.RawMessage `json:"payload"`
}

func documentOf(p send.Prepared) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // escaping would use up more bytes
	err := encoder.Encode(document{
		ID: p.Header.Get("Webhook-Id"), Type: p.Header.Get("X-Webhook-Event"), Timestamp: p.Header.Get("Webhook-Timestamp"), Signature: p.Header.Get("Webhook-Signature"),
		Delivery: p.Header.Get(hook.DeliveryHeader), Attempt: p.Header.Get("X-Webhook-Attempt"),
		Body: string(p.Body), Payload: p.Body,
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", errContents, err)
	}
	return text.String(), nil
}

// fits returns an error if the type of the endpoint's destination takes no message of the size.
func fits(e *hook.Endpoint, size int) error {
	if t, ok := rule.Of(e); ok && size > t.MaxBytes {
		return fmt.Errorf("%w: %s takes messages of at most %d bytes, and this one has %d", errContents, t.Name, t.MaxBytes, size)
	}
	return nil
}
