package lambdafn

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go/middleware"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/names"
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

// watched returns the configuration with a log of the refusals of its clients.
func (f Function) watched(cfg aws.Config) aws.Config {
	cfg.APIOptions = append(cfg.APIOptions[:len(cfg.APIOptions):len(cfg.APIOptions)], func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("refusals", f.watch), middleware.After)
	})
	return cfg
}

// kinds returns the kind of the resources of a service.
func kinds() map[string]string {
	return map[string]string{"SQS": names.ResourceQueue, "DynamoDB": names.ResourceTable, "KMS": names.ResourceKey}
}

// watch logs, and counts for the alarms, each request that a queue, the table or a key refuses
// because it is missing, disabled or not permitted. The adapters know neither logs nor metrics, and
// not every error says which resource it is about.
func (f Function) watch(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	if !awserr.Refused(err) {
		return out, metadata, err
	}
	if kind := kinds()[awsmiddleware.GetServiceID(ctx)]; kind != "" {
		line := []slog.Attr{
			slog.String(names.LogName, resourceOf(in.Parameters)), slog.String(names.LogOperation, awsmiddleware.GetOperationName(ctx)), slog.Any(names.LogError, err),
		}
		f.Log.LogAttrs(ctx, slog.LevelError, "request.refused", f.Metrics.Append(line, f.Now(), emf.Count(names.MetricRefused, 1).By(emf.Resource(kind)))...)
	}
	return out, metadata, err
}

// resourceOf returns the resource in the parameters of a request; "" for requests with several
// tables or none.
func resourceOf(parameters any) string {
	fields := reflect.Indirect(reflect.ValueOf(parameters))
	for _, name := range []string{"QueueUrl", "TableName", "KeyId", "QueueName"} {
		if field := fields.FieldByName(name); field.IsValid() {
			if value, ok := field.Interface().(*string); ok {
				return aws.ToString(value)
			}
		}
	}
	return ""
}
