package send

import (
	"fmt"
	"net/http"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

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
	if wait := retry.ParseSeconds(resp.Header.Get("X-RateLimit-Reset-After")); wait > 0 && limited(resp.StatusCode) {
		outcome.RetryAfter = wait
	}
	outcome.Error = describeStatus(resp.StatusCode)
	return outcome
}

// limited reports whether the status may come from a rate limit. Other answers may name the end of
// the limit's window, too, but ask for no wait until then.
func limited(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// maxHeader limits a kept value, in bytes.
const maxHeader = 200

// keptHeaders returns the headers that help the endpoint's owner to find the cause of a failure:
// what answered, and by which id its logs know the request.
func keptHeaders(all http.Header) map[string]string {
	var kept map[string]string
	for _, name := range []string{
		"Content-Type", "Content-Encoding", "Server", "Via", "Location", "Retry-After", "X-Ratelimit-Reset-After", "Www-Authenticate", "Allow",
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
