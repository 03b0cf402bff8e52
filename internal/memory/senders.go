package memory

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
)

var _ remote.Invoker = Senders{}

// Senders are handlers in this process in place of the senders of other places, by
// region. The empty region stands for the sender with fixed addresses. A missing sender
// runs no message.
type Senders map[string]remote.Handler

// Invoke runs the message in the handler of the region.
func (s Senders) Invoke(ctx context.Context, region string, message []byte) ([]byte, error) {
	handler, ok := s[region]
	if !ok {
		return nil, fmt.Errorf("%w: no sender in region %q", send.ErrNotSent, region)
	}
	return handler.Handle(ctx, message)
}
