package send

import (
	"fmt"
	"io"
	"net/http"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// maxDrain is how much of an answer is read, in bytes, so that its connection
// can be used again. A longer answer costs the connection.
const maxDrain = 64 << 10

// read turns an answer into an outcome.
func (s *Sender) read(resp *http.Response) hook.Outcome {
	outcome := hook.Outcome{
		Class:  hook.ClassOfStatus(resp.StatusCode),
		Status: resp.StatusCode,
		Body:   body(resp),
	}
	switch outcome.Class.Result() {
	case hook.ResultDelivered:
		return outcome
	case hook.ResultTransient:
		outcome.RetryAfter = retry.ParseRetryAfter(resp.Header.Get("Retry-After"), s.Now())
	case hook.ResultRejected:
	}
	outcome.Error = describe(resp.StatusCode)
	return outcome
}

// body returns the beginning of the answer's body. That it breaks off or
// stalls is no matter: the status was read.
func body(resp *http.Response) []byte {
	if _, ok := resp.Body.(io.Writer); ok {
		return nil // 101: the bare connection, which no deadline ends
	}
	kept, _ := io.ReadAll(io.LimitReader(resp.Body, hook.MaxResponseBody))
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDrain-hook.MaxResponseBody))
	return kept
}

func describe(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("The endpoint answered %d %s.", status, text)
	}
	return fmt.Sprintf("The endpoint answered %d.", status)
}
