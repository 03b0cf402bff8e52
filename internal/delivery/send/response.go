package send

import (
	"fmt"
	"net/http"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// readOutcome returns the outcome of a response. A success has headers only if they are recorded.
func (s *Sender) readOutcome(resp *http.Response, record bool) hook.Outcome {
	outcome := hook.Outcome{
		Class:  hook.ClassOfStatus(resp.StatusCode),
		Status: resp.StatusCode,
	}
	if outcome.Class == hook.ClassDelivered {
		if outcome.Body = readBody(resp, hook.MaxSuccessBody); record {
			outcome.Headers = keptHeaders(resp.Header)
		}
		return outcome
	}
	outcome.Body, outcome.Headers = readBody(resp, hook.MaxResponseBody), keptHeaders(resp.Header)
	outcome.RetryAfter = s.waitOf(resp)
	outcome.Error = describeStatus(resp.StatusCode)
	return outcome
}

// waitOf returns the wait that a failure asks for. The endpoint's lists of statuses may retry any
// failure, so any may have a Retry-After. But the end of a rate limit's window is a wait only after
// an answer that may come from the limit.
func (s *Sender) waitOf(resp *http.Response) time.Duration {
	limited := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable
	if wait := retry.ParseSeconds(resp.Header.Get("X-RateLimit-Reset-After")); wait > 0 && limited {
		return wait
	}
	return retry.ParseRetryAfter(resp.Header.Get("Retry-After"), s.Now())
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
	if status == http.StatusSeeOther {
		return "The endpoint answered 303 See Other, which asks for a GET without the event: let it answer 2xx, or redirect with 307 or 308."
	}
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("The endpoint answered %d %s.", status, text)
	}
	return fmt.Sprintf("The endpoint answered %d.", status)
}
