package dynamo //nolint:testpackage // the options of the client are not exported

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// TestNewClient_BoundsEachAttempt checks the bounds with the SDK's defaults, and
// with an HTTP client of the configuration, as made for AWS_CA_BUNDLE.
func TestNewClient_BoundsEachAttempt(t *testing.T) {
	t.Parallel()

	for name, cfg := range map[string]aws.Config{
		"the SDK's defaults":        {Region: "eu-west-1"},
		"a client of configuration": {Region: "eu-west-1", HTTPClient: awshttp.NewBuildableClient()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := newClient(cfg).Options()
			client, ok := got.HTTPClient.(*awshttp.BuildableClient)
			if !ok {
				t.Fatalf("HTTPClient = %T; want the SDK's own", got.HTTPClient)
			}
			if client.GetTimeout() != 2*time.Second {
				t.Errorf("timeout of an attempt = %s; want 2 s", client.GetTimeout())
			}
			if n := client.GetTransport().MaxIdleConnsPerHost; n != 32 {
				t.Errorf("idle connections = %d; want 32", n)
			}
			if n := got.Retryer.MaxAttempts(); n != 4 {
				t.Errorf("attempts = %d; want 4", n)
			}
		})
	}
}
