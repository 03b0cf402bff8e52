package send

import (
	"fmt"
	"io"
	"net/http"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// maxDrain limits the bytes read from a response, so that a later request can
// reuse the connection. A longer response closes the connection.
const maxDrain = 64 << 10

// readOutcome returns the outcome of a response.
func (s *Sender) readOutcome(resp *http.Response) hook.Outcome {
	outcome := hook.Outcome{
		Class:  hook.ClassOfStatus(resp.StatusCode),
		Status: resp.StatusCode,
		Body:   readBody(resp),
	}
	if outcome.Class == hook.ClassDelivered {
		return outcome
	}
	// The endpoint's lists of statuses decide about a retry, so every failure may have one.
	outcome.RetryAfter = retry.ParseRetryAfter(resp.Header.Get("Retry-After"), s.Now())
	outcome.Error = describeStatus(resp.StatusCode)
	return outcome
}

// readBody returns the first bytes of the body. readBody ignores read errors: the
// status already decides the outcome.
func readBody(resp *http.Response) []byte {
	if _, ok := resp.Body.(io.Writer); ok {
		return nil // status 101: the body is the bare connection, without a deadline
	}
	if resp.Body == http.NoBody {
		return []byte{}
	}
	kept, _ := io.ReadAll(io.LimitReader(resp.Body, hook.MaxResponseBody))
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDrain-hook.MaxResponseBody))
	return kept
}

func describeStatus(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("The endpoint answered %d %s.", status, text)
	}
	return fmt.Sprintf("The endpoint answered %d.", status)
}
