package remote

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// Invoker runs messages at other origins.
type Invoker interface {
	// Invoke runs the message once: in the region, or, in the deployment's own, in the network with
	// fixed addresses if it is empty, and in the private network for hook.PrivateRegion. It never
	// repeats a message. The error wraps send.ErrNotSent only if nobody ran the message.
	Invoke(ctx context.Context, region string, message []byte) (answer []byte, err error)
}

// Sender makes attempts at other origins. All fields are required.
type Sender struct {
	Signer  *send.Sender // signs; its policy names the hosts of Surehook's API
	Invoker Invoker
	Now     func() time.Time
}

// Send makes one attempt from the endpoint's region, the fixed addresses or the private network.
//
// The duration of the outcome includes the way to the origin and back, because the attempt
// occupies the caller for that time.
//
// An error wraps send.ErrNotSent only if no request was made. After any other error, the endpoint
// may have received the request.
func (s *Sender) Send(ctx context.Context, r send.Request) (hook.Outcome, error) {
	start := s.Now()
	outcome, err := s.Post(ctx, r.Endpoint.Region, s.Signer.Prepare(r))
	if err != nil {
		return hook.Outcome{}, err
	}
	outcome.Region = r.Endpoint.Region
	outcome.Duration = s.Now().Sub(start)
	return outcome, nil
}

// Post makes the prepared request in the region, as Invoke knows it. Its errors are those of Send.
// The outcome has neither region nor duration.
func (s *Sender) Post(ctx context.Context, region string, prepared send.Prepared) (hook.Outcome, error) {
	message, err := encodeMessage(prepared, s.Signer.Policy.Own)
	if err != nil {
		return hook.Outcome{}, fmt.Errorf("%w: %w", send.ErrNotSent, err)
	}
	text, err := s.Invoker.Invoke(ctx, region, message)
	if err != nil {
		return hook.Outcome{}, fmt.Errorf("invoke sender: %w", err)
	}
	outcome, err := decodeAnswer(text)
	if err != nil {
		return hook.Outcome{}, fmt.Errorf("read sender: %w", err)
	}
	return outcome, nil
}
