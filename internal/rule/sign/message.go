package sign

import (
	"strconv"
	"strings"
	"time"
)

// Message is the signed content of Standard Webhooks.
type Message struct {
	ID        string    // value of webhook-id; contains no full stop
	Timestamp time.Time // of the attempt; webhook-timestamp is in whole Unix seconds
	Body      []byte    // exactly as sent
}

// StandardSigned is what Standard signs, as a template like those of [Profiles].
const StandardSigned = "{id}.{timestamp}.{body}"

// Standard returns the value of the webhook-signature header: one entry per key, in
// order, separated by spaces. An entry is "v1," or "v1a," and the base64 signature
// of id.timestamp.body. A receiver accepts the message if any entry verifies.
func Standard(keys []Key, m Message) string {
	front := []byte(m.ID + "." + strconv.FormatInt(m.Timestamp.Unix(), 10) + ".")
	var entries []string
	for _, k := range keys {
		if k.sign != nil {
			entries = append(entries, k.scheme.String()+","+encode(k.sign(front, m.Body)))
		}
	}
	return strings.Join(entries, " ")
}
