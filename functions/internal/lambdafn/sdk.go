package lambdafn

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

const (
	// idleTimeout is how long a connection may be idle and still be used. AWS services drop
	// connections that are idle for about 45 to 60 seconds, but the SDK would use one for up to
	// 90 (https://github.com/aws/aws-sdk-go-v2/issues/3423). A request on a dropped connection
	// fails, and nobody knows whether the service got it. Time while Lambda has frozen the
	// process counts, too, because net/http compares wall clocks before it uses a connection.
	idleTimeout = 20 * time.Second
	// maxBackoff limits the wait before another attempt. The SDK's own first wait is up to a
	// second, longer than most invocations.
	maxBackoff = 250 * time.Millisecond
)

// shared returns the configuration with the settings of the clients of all services. An
// adapter may add settings of its own.
func shared(cfg aws.Config, idle time.Duration) aws.Config {
	if client, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		cfg.HTTPClient = client.WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = idle })
	}
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			// The SDK's own limit, retry.AddWithMaxBackoffDelay, has no jitter below a second.
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) {
				return rand.N(maxBackoff), nil //nolint:gosec // a wait is no secret
			})
		})
	}
	return cfg
}
