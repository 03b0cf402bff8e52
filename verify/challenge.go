package verify

import "encoding/json"

// ChallengeType is the value of the header X-Webhook-Event of a challenge: the request that asks
// whether the receiver wants an endpoint with its URL.
const ChallengeType = "surehook.challenge"

// Challenge returns the body of the answer to a challenge, for a status 2xx; nil for any other
// body. The payload of an event may look like one: check the header for ChallengeType, too.
// Verify the body first: a receiver that answers every challenge confirms the endpoints
// of strangers, too.
func Challenge(body []byte) []byte {
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
