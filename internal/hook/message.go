package hook

import (
	"encoding/json"
	"fmt"
)

// EncodeMessage returns a message as a body. kind names the message in errors.
func EncodeMessage(message any, kind string) (string, error) {
	b, err := json.Marshal(message)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", kind, err)
	}
	return string(b), nil
}

// DecodeMessage is the inverse of EncodeMessage. check refuses the wrong fields of what was read. Any
// other text gives CodeInvalid.
func DecodeMessage[M any](body, kind string, check func(m *M, wrong *Fields)) (M, error) {
	var (
		m, none M
		wrong   Fields
	)
	err := json.Unmarshal([]byte(body), &m)
	if err == nil {
		check(&m, &wrong)
	}
	if err != nil || len(wrong) > 0 {
		return none, &Error{Code: CodeInvalid, Message: "invalid " + kind, Fields: wrong, Err: err}
	}
	return m, nil
}
