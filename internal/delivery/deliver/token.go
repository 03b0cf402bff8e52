package deliver

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// sendToken puts the token on the retry lane at the given time.
func (d *Deliverer) sendToken(ctx context.Context, token hook.Token, at time.Time) error {
	delay := max(0, at.Sub(d.Now()))
	if delay > hook.MaxQueueDelay {
		if err := d.Schedules.At(ctx, token, at); err != nil {
			return fmt.Errorf("schedule attempt %d of %s: %w", token.Attempt, token.Delivery, err)
		}
		return nil
	}
	if errs := d.Queue.Send(ctx, hook.LaneRetry, []hook.Token{token}, delay); errs != nil {
		return fmt.Errorf("send token of attempt %d of %s: %w", token.Attempt, token.Delivery, errs[0])
	}
	return nil
}

// requeue sends a token received too early again, for the planned time.
func (d *Deliverer) requeue(ctx context.Context, s *subject) error {
	return d.sendToken(ctx, sameToken(s.token), s.delivery.NextAttemptAt)
}

// sameToken returns a token for the same attempt with the same nonce. Suppose that
// the queue hands one message to two functions. The first function makes the
// attempt and dies before (b). The second function sends the token back to wait.
// The returning token finds its own nonce recorded and resumes at (b); a token
// with a new nonce would be dropped, and the delivery would be lost.
func sameToken(t hook.Token) hook.Token {
	return hook.Token{Delivery: t.Delivery, Tenant: t.Tenant, Attempt: t.Attempt, Nonce: t.Nonce}
}
