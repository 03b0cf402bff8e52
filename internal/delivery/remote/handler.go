package remote

import (
	"context"

	"surehook.example/surehook/internal/delivery/send"
)

// Handler runs messages at the origin of the process.
type Handler struct {
	Sender *send.Sender // with the strict policy of the origin
}

// Handle posts the request in the message and returns the answer. If the message has an unknown
// form, it makes no request, and the answer says so.
func (h Handler) Handle(ctx context.Context, message []byte) ([]byte, error) {
	prepared, apiHosts, err := decodeMessage(message)
	if err != nil {
		return refusalOf(err).encode()
	}
	s := *h.Sender
	s.Policy.Own = append(s.Policy.Own[:len(s.Policy.Own):len(s.Policy.Own)], apiHosts...)
	return answerOf(s.Post(ctx, prepared)).encode()
}
