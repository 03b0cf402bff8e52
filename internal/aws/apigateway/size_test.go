package apigateway_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/hook"
)

// TestEvent_FitsIntoLambda checks that the largest accepted request, in its largest encoding, is
// an event within Lambda's limit of 6 MB. API Gateway limits the headers and the request line to
// 10,240 bytes.
func TestEvent_FitsIntoLambda(t *testing.T) {
	t.Parallel()

	const limit, headers = 6 << 20, 10_240
	tests := []struct {
		name   string
		body   string
		base64 bool
	}{
		{name: "a body of quotes", body: strings.Repeat(`"`, hook.MaxBatchBytes)},
		{name: "a body of backslashes", body: strings.Repeat(`\`, hook.MaxBatchBytes)},
		{name: "an encoded body", body: base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, hook.MaxBatchBytes)), base64: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := event(t, func(e *events.APIGatewayV2HTTPRequest) {
				e.Body, e.IsBase64Encoded = tt.body, tt.base64
				e.Headers["x"] = strings.Repeat(`"`, headers)
			})
			var raw bytes.Buffer
			encoder := json.NewEncoder(&raw)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(e); err != nil {
				t.Fatal(err)
			}
			if raw.Len() > limit {
				t.Errorf("the event has %d bytes; want at most %d", raw.Len(), limit)
			}
		})
	}
}
