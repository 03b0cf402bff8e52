package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/names"
)

// exportTimeout limits one export, including the exporter's own retries. The function's timeout
// is longer.
const exportTimeout = 20 * time.Second

// newExporter returns the exporter of OpenTelemetry to the endpoint, OTLP over HTTP. X-Ray
// has an OTLP endpoint in each region, which takes requests with a signature.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-OTLPEndpoint.html
func newExporter(f lambdafn.Function) *otlptrace.Exporter {
	endpoint, client := f.Traces, &http.Client{Timeout: exportTimeout}
	if f.Traces == names.TracesXRay {
		endpoint = "https://xray." + f.SDK.Region + ".amazonaws.com/v1/traces"
		client.Transport = &signed{credentials: f.SDK.Credentials, region: f.SDK.Region, now: f.Now, next: http.DefaultTransport}
	}
	// Not started, because the exporter over HTTP only connects with the first export.
	return otlptrace.NewUnstarted(otlptracehttp.NewClient(
		otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithHTTPClient(client), otlptracehttp.WithTimeout(exportTimeout),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
	))
}

// signed signs each request for X-Ray.
type signed struct {
	credentials aws.CredentialsProvider
	region      string
	now         func() time.Time
	next        http.RoundTripper
}

func (s *signed) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read spans: %w", err)
	}
	if err := r.Body.Close(); err != nil {
		return nil, fmt.Errorf("close spans: %w", err)
	}
	credentials, err := s.credentials.Retrieve(r.Context())
	if err != nil {
		return nil, fmt.Errorf("find credentials: %w", err)
	}
	ctx := r.Context()
	r = r.Clone(ctx) // a RoundTripper must not change the request
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(body)
	if err := signer.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), "xray", s.region, s.now()); err != nil {
		return nil, fmt.Errorf("sign spans: %w", err)
	}
	return s.next.RoundTrip(r)
}
