package verify

import (
	"encoding/json"
	"net/http"
)

// ChallengeType is the value of the header X-Webhook-Event of a challenge: the request that asks
// whether the receiver wants an endpoint with its URL.
const ChallengeType = "webhook.challenge"

// Challenge returns the body of the answer to a challenge, for a status 2xx; nil for any other
// request. The header tells a challenge from an event whose payload looks like one. Verify the
// request first: a receiver that answers every challenge confirms the endpoints of strangers, too.
func Challenge(header http.Header, body []byte) []byte {
	if header.Get("X-Webhook-Event") != ChallengeType {
		return nil
	}
	var document struct {
		Type string `json:"type"`
		Data struct {
			Challenge string `json:"challenge"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &document) != nil || document.Type != ChallengeType || document.Data.Challenge == "" {
		return nil
	}
	answer, _ := json.Marshal(map[string]string{"challenge": document.Data.Challenge}) //nolint:errchkjson // a text
	return answer
}
