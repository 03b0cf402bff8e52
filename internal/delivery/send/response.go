package send

import (
	"fmt"
	"io"
	"net/http"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// maxDrain limits the bytes that are read from a response so that its connection can be used
// again. After a longer response, the connection is closed.
const maxDrain = 64 << 10

// readOutcome returns the outcome of a response.
func (s *Sender) readOutcome(resp *http.Response) hook.Outcome {
	outcome := hook.Outcome{
		Class:  hook.ClassOfStatus(resp.StatusCode),
		Status: resp.StatusCode,
	}
	if outcome.Class == hook.ClassDelivered {
		outcome.Body = readBody(resp, hook.MaxSuccessBody)
		return outcome
	}
	outcome.Body, outcome.Headers = readBody(resp, hook.MaxResponseBody), keptHeaders(resp.Header)
	// The endpoint's lists of statuses may retry any failure, so any failure may have a
	// Retry-After.
	outcome.RetryAfter = retry.ParseRetryAfter(resp.Header.Get("Retry-After"), s.Now())
	outcome.Error = describeStatus(resp.StatusCode)
	return outcome
}

// readBody returns the first bytes of the body. It ignores read errors, because the status
// already decides the outcome.
func readBody(resp *http.Response, most int64) []byte {
	if _, ok := resp.Body.(io.Writer); ok {
		return nil // status 101: the body is the raw connection, which has no deadline
	}
	if resp.Body == http.NoBody {
		return []byte{}
	}
	kept, _ := io.ReadAll(io.LimitReader(resp.Body, most))
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDrain-most))
	return kept
}

// maxHeader limits a kept value, in bytes.
const maxHeader = 200

// keptHeaders returns the headers that help the endpoint's owner to find the cause of a failure:
// what answered, and by which id its logs know the request.
func keptHeaders(all http.Header) map[string]string {
	var kept map[string]string
	for _, name := range []string{
		"Content-Type", "Server", "Via", "Location", "Retry-After", "Www-Authenticate", "Allow",
		"X-Request-Id", "X-Correlation-Id", "X-Amzn-Requestid", "X-Amz-Cf-Id", "X-Amzn-Errortype", "Cf-Ray", "X-Powered-By",
	} {
		if value := all.Get(name); value != "" {
			if kept == nil {
				kept = make(map[string]string)
			}
			kept[name] = visible(value[:min(len(value), maxHeader)])
		}
	}
	return kept
}

// visible returns the text with a question mark for each byte that is not visible ASCII.
func visible(text string) string {
	out := []byte(text)
	for i, b := range out {
		if b < ' ' || b > '~' {
			out[i] = '?'
		}
	}
	return string(out)
}

func describeStatus(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("The endpoint answered %d %s.", status, text)
	}
	return fmt.Sprintf("The endpoint answered %d.", status)
}
