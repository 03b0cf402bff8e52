package lambda_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"surehook.example/surehook/internal/aws/lambda"
	"surehook.example/surehook/internal/delivery/send"
)

// fake answers Invoke, and counts the requests.
type fake struct {
	requests atomic.Int64
	answer   http.HandlerFunc
	path     string
	auth     string
	body     string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.requests.Add(1)
	body, _ := io.ReadAll(r.Body)
	f.path, f.auth, f.body = r.URL.Path, r.Header.Get("Authorization"), string(body)
	f.answer(w, r)
}

func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"message": "no"}`)
	}
}

func setup(t *testing.T, answer http.HandlerFunc) (*lambda.Invoker, *fake) {
	t.Helper()

	f := &fake{answer: answer}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return lambda.New(configOf(server.URL), names), f
}

// configOf returns a config with the SDK's retries, like that of a function.
func configOf(url string) aws.Config {
	return aws.Config{
		Region:           "eu-central-1",
		Credentials:      credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint:     aws.String(url),
		RetryMaxAttempts: 3,
	}
}

var names = lambda.Config{Regional: "surehook-test-sender", Regions: []string{"us-east-1"}, Fixed: "surehook-test-sender-fixed"}

func TestInvoker_Invoke_callsTheFunctionOfTheOrigin(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, region, path, signed string
	}{
		{name: "another region", region: "us-east-1", path: "/2015-03-31/functions/surehook-test-sender/invocations", signed: "/us-east-1/lambda/"},
		{name: "fixed addresses of the own region", region: "", path: "/2015-03-31/functions/surehook-test-sender-fixed/invocations", signed: "/eu-central-1/lambda/"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			invoker, f := setup(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("X-Amz-Invocation-Type"); got != "RequestResponse" {
					t.Errorf("invocation type = %q; want RequestResponse", got)
				}
				_, _ = io.WriteString(w, `{"class":"delivered"}`)
			})
			answer, err := invoker.Invoke(t.Context(), tt.region, []byte(`{"version":1}`))
			if err != nil || string(answer) != `{"class":"delivered"}` {
				t.Fatalf("Invoke() = %q, %v; want the function's answer", answer, err)
			}
			if f.path != tt.path || f.body != `{"version":1}` || !strings.Contains(f.auth, tt.signed) {
				t.Errorf("Lambda got %s %q, %s; want %s with the message, signed for %s", f.path, f.body, f.auth, tt.path, tt.signed)
			}
		})
	}
}

// After a refusal the caller may send from its own region. If the function may have run, it must
// not. The function is never invoked twice, because each request is a POST to an endpoint.
func TestInvoker_Invoke_tellsARefusalFromALostAnswer(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		answer  http.HandlerFunc
		notSent bool
	}{
		{name: "throttled", answer: refuse(429, "TooManyRequestsException"), notSent: true},
		{name: "no such function", answer: refuse(404, "ResourceNotFoundException"), notSent: true},
		{name: "no permission", answer: refuse(403, "AccessDeniedException"), notSent: true},
		{name: "a wrong request", answer: refuse(400, "InvalidRequestContentException"), notSent: true},
		{name: "too large", answer: refuse(413, "RequestTooLargeException"), notSent: true},
		{name: "a function that is being updated", answer: refuse(409, "ResourceConflictException"), notSent: true},
		{name: "a key that is disabled", answer: refuse(502, "KMSDisabledException"), notSent: true},
		{name: "no address in the subnet", answer: refuse(502, "SubnetIPAddressLimitReachedException"), notSent: true},
		{name: "a throttled network", answer: refuse(502, "EC2ThrottledException"), notSent: true},
		{name: "a fault of Lambda", answer: refuse(500, "ServiceException"), notSent: false},
		{name: "an unknown bad gateway", answer: refuse(502, "Unheard"), notSent: false},
		{name: "an unavailable service", answer: refuse(503, "ServiceUnavailable"), notSent: false},
		{name: "an error of the function", answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			_, _ = io.WriteString(w, `{"errorMessage":"Task timed out after 35.00 seconds"}`)
		}, notSent: false},
		{name: "a connection that breaks", answer: func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		}, notSent: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			invoker, f := setup(t, tt.answer)
			_, err := invoker.Invoke(t.Context(), "us-east-1", []byte(`{}`))
			if err == nil || errors.Is(err, send.ErrNotSent) != tt.notSent {
				t.Errorf("Invoke() = %v; want an error, not sent: %t", err, tt.notSent)
			}
			if n := f.requests.Load(); n != 1 {
				t.Errorf("Lambda got %d requests; want 1", n)
			}
		})
	}
}

func TestInvoker_Invoke_sendsNothingWithoutAConnection(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close() // nobody listens
	if _, err := lambda.New(configOf(server.URL), names).Invoke(t.Context(), "us-east-1", nil); !errors.Is(err, send.ErrNotSent) {
		t.Errorf("Invoke(nobody) = %v; want not sent", err)
	}
	if _, err := lambda.New(configOf(server.URL), names).Invoke(t.Context(), "eu-north-1", nil); !errors.Is(err, send.ErrNotSent) {
		t.Errorf("Invoke(a region without a sender) = %v; want not sent", err)
	}
}

func TestInvoker_Invoke_losesTheAnswerAtTheDeadline(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	invoker, _ := setup(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel(context.DeadlineExceeded) // as when the deadline passes while the function works
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	})
	if _, err := invoker.Invoke(ctx, "us-east-1", []byte(`{}`)); err == nil || errors.Is(err, send.ErrNotSent) {
		t.Errorf("Invoke() = %v at the deadline; want a lost answer", err)
	}
}
