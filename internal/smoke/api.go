package smoke

import (
	"context"
	"net/http"
	"time"

	"surehook.example/surehook/client"
)

// callTimeout bounds one call: 30 s is API Gateway's own limit.
const callTimeout = 30 * time.Second

// callAttempts bounds the attempts of a call. API Gateway refuses a call beyond a throttle before
// the function, so the client repeats it.
const callAttempts = 8

// maxAnswer bounds the answer of the receiver in bytes.
const maxAnswer = 4 << 20

// NewClient returns a client of the deployment's API at the URL, with the key.
func NewClient(url, key string, over *http.Client) (*client.Client, error) {
	bounded := *over
	bounded.Timeout = callTimeout
	return client.New(url, key, client.Options{HTTP: &bounded, Attempts: callAttempts})
}

// pause waits, or returns the cause of the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
