package sign

import (
	"encoding/base64"
	"strconv"
	"time"
)

// Message is the signed content of Standard Webhooks.
type Message struct {
	ID        string    // value of webhook-id; contains no full stop
	Timestamp time.Time // of the attempt; webhook-timestamp is in whole Unix seconds
	Body      []byte    // exactly as sent
}

// maxTimestamp is the room for a timestamp between two full stops.
const maxTimestamp = len(".-9223372036854775808.")

// maxEntry is the room for the longest entry: 88 characters of a signature of v1a.
const maxEntry = len("v1a,") + 88

// StandardSigned is what Standard signs, as a template like those of [Profiles].
const StandardSigned = "{id}.{timestamp}.{body}"

// Standard returns the value of the webhook-signature header: one entry per key, in
// order, separated by spaces. An entry is "v1," or "v1a," and the base64 signature
// of id.timestamp.body. A receiver accepts the message if any entry verifies.
func Standard(keys []Key, m Message) string {
	front := make([]byte, 0, len(m.ID)+maxTimestamp)
	front = append(append(front, m.ID...), '.')
	front = append(strconv.AppendInt(front, m.Timestamp.Unix(), 10), '.')

	var value []byte
	for _, k := range keys {
		if k.sign == nil {
			continue
		}
		if value == nil {
			value = make([]byte, 0, maxEntry)
		} else {
			value = append(value, ' ')
		}
		value = append(append(value, k.scheme.String()...), ',')
		value = base64.StdEncoding.AppendEncode(value, k.sign(front, m.Body))
	}
	return string(value)
}
