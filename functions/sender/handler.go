package main

import (
	"context"
	"encoding/json"

	"surehook.example/surehook/internal/delivery/remote"
)

type handler struct {
	remote remote.Handler
}

// Handle posts the request of one message and returns the answer. The input and the
// output are the text of package remote.
func (h *handler) Handle(ctx context.Context, message json.RawMessage) (json.RawMessage, error) {
	return h.remote.Handle(ctx, message)
}
