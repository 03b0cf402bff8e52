package sign

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"surehook/internal/hook"
)

// Message is what a Standard Webhooks signature covers.
type Message struct {
	ID        string    // value of webhook-id; holds no full stop
	Timestamp time.Time // of the attempt; webhook-timestamp has its whole unix seconds
	Body      []byte    // exactly as sent
}

// Standard returns the value of the webhook-signature header: for each key, in
// their order, "v1," or "v1a," and the base64 signature of id.timestamp.body,
// separated by spaces. A receiver accepts the message if any of them verifies.
func Standard(keys []Key, m Message) string {
	seconds := strconv.FormatInt(m.Timestamp.Unix(), 10)
	content := slices.Concat([]byte(m.ID+"."+seconds+"."), m.Body)

	signatures := make([]string, 0, len(keys))
	for _, k := range keys {
		if k.sign != nil {
			signatures = append(signatures, k.scheme.String()+","+encode(k.sign(content)))
		}
	}
	return strings.Join(signatures, " ")
}

// Classic returns the value of the X-Webhook-Signature header: "sha256=" and
// the hex HMAC-SHA256 of the body, keyed by the secret's decoded bytes. Only a
// v1 key makes one; for any other it is empty.
func Classic(k Key, body []byte) string {
	if k.scheme != hook.SchemeV1 {
		return ""
	}
	return "sha256=" + hex.EncodeToString(k.sign(body))
}
