// Command smoke deploys the stack to an emulator and runs the smoke test of
// deployments, internal/smoke: the same code as on AWS. The differences are the
// addresses of the API and of the receiver, the checks that the emulator cannot
// answer, and the limits of time.
//
// LONG=1 also waits for a schedule beyond 15 minutes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"surehook/internal/smoke"
	"surehook/localstack/emulator"
	"surehook/localstack/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "smoke:", err)
		os.Exit(1)
	}
}

// errFailed reports a FAIL in the table.
var errFailed = errors.New("a check failed")

func run(ctx context.Context, out io.Writer) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	const kind = emulator.MiniStack
	if err := emulator.CanRunStack(kind, os.Environ()); err != nil {
		return err //nolint:wrapcheck // the error is complete
	}
	e, err := emulator.Start(ctx, kind, emulator.Options{Root: root, Name: "smoke", Env: os.Environ(), Strict: true})
	if err != nil {
		return err //nolint:wrapcheck // the error is complete
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	s, err := stack.Deploy(ctx, e, stack.Options{Root: root, Env: os.Environ(), Progress: out})
	if err != nil {
		return err //nolint:wrapcheck // the error is complete
	}
	options, err := optionsFor(e, s, out)
	if err != nil {
		return err
	}
	results, err := smoke.Run(ctx, options)
	if err == nil && smoke.Failed(results) {
		err = errFailed
	}
	return err //nolint:wrapcheck // the error is complete
}

// optionsFor returns the options for an emulator.
func optionsFor(e *emulator.Emulator, s *stack.Stack, out io.Writer) (smoke.Options, error) {
	address, err := url.Parse(s.Address)
	if err != nil {
		return smoke.Options{}, fmt.Errorf("read the emulator's address: %w", err)
	}
	api, err := url.Parse(s.APIURL)
	if err != nil {
		return smoke.Options{}, fmt.Errorf("read the API's URL: %w", err)
	}
	return smoke.Options{
		Stack: stack.Name,
		AWS:   s.AWS,
		HTTP:  &http.Client{Transport: detour{api: api.Host, address: address.Host, host: s.Host, to: http.DefaultTransport}},
		Reach: func(url string) string {
			reached, err := e.FunctionURL(url)
			if err != nil {
				return url // the receiver does not answer, and the check says so
			}
			return reached
		},
		Missing: map[string]string{
			"quota: API throttle":               "MiniStack names the throttles of a stage in CloudFormation's spelling",
			"permissions suffice: iam:PassRole": "MiniStack's simulator ignores the values of conditions",
		},
		// A shared machine of two cores runs everything, emulator included.
		Latency: smoke.LatencyLimits{P50: 15 * time.Second, P99: 45 * time.Second},
		Long:    os.Getenv("LONG") == "1",
		Out:     out,
		Now:     time.Now,
	}, nil
}

// detour sends requests for the API to the emulator. The API's name does not
// resolve, and the emulator recognizes its own form of the name.
type detour struct {
	api           string // host of the stack's output
	address, host string // of the emulator, and of the API on it
	to            http.RoundTripper
}

// RoundTrip sends the request.
func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == d.api {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host, r.Host = "http", d.address, d.host
	}
	return d.to.RoundTrip(r) //nolint:wrapcheck // a transport returns the transport's errors
}
