package remote

import (
	"encoding/json"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// Travel returns the request as the origin gets it.
func Travel(p send.Prepared) (send.Prepared, error) {
	text, err := encodeMessage(p, nil)
	if err != nil {
		return p, err
	}
	arrived, _, err := decodeMessage(text)
	return arrived, err
}

// Return returns the outcome as the signer gets it.
func Return(o hook.Outcome) (hook.Outcome, error) {
	text, err := json.Marshal(answerOf(o))
	if err != nil {
		return o, err
	}
	return decodeAnswer(text)
}
