package stack

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"surehook.example/surehook/internal/smoke"
	"surehook.example/surehook/localstack/emulator"
)

// Smoke returns the options of the smoke test for this stack. The test is the
// same as on AWS, but for the addresses of the API and of the receiver, the
// checks that the emulator cannot answer, and the limits of time.
func (s *Stack) Smoke(e *emulator.Emulator, out io.Writer) (smoke.Options, error) {
	address, err := url.Parse(s.Address)
	if err != nil {
		return smoke.Options{}, fmt.Errorf("read the emulator's address: %w", err)
	}
	api, err := url.Parse(s.APIURL)
	if err != nil {
		return smoke.Options{}, fmt.Errorf("read the API's URL: %w", err)
	}
	return smoke.Options{
		Stack: Name,
		AWS:   s.AWS,
		HTTP:  &http.Client{Transport: detour{api: api.Host, address: address.Host, host: s.Host, to: http.DefaultTransport}},
		Reach: e.FunctionURL,
		Missing: map[string]string{
			"quota: API throttle":               "MiniStack names the throttles of a stage in CloudFormation's spelling",
			"permissions suffice: iam:PassRole": "MiniStack's simulator ignores the values of conditions",
		},
		// A shared machine of two cores runs everything, emulator included.
		Latency: smoke.LatencyLimits{P50: 15 * time.Second, P99: 45 * time.Second},
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
	return d.to.RoundTrip(r)
}
