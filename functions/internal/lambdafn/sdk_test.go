package lambdafn

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/emf"
)

// service answers the first request of a connection, and drops the connection at the next one,
// like a service that closes an idle connection while a request is on its way.
type service struct {
	http.Handler

	mu       sync.Mutex
	used     map[net.Conn]bool
	requests int
	dropped  int
}

type connection struct{}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connection{}).(net.Conn)
	s.mu.Lock()
	again := s.used[conn]
	s.used[conn] = true
	s.requests++
	if again {
		s.dropped++
	}
	s.mu.Unlock()
	if again {
		_ = conn.Close()
		return
	}
	s.Handler.ServeHTTP(w, r)
}

// setup returns the configuration of a function, with the service at the end.
func setup(t *testing.T, idle time.Duration, handler http.HandlerFunc) (aws.Config, *service) {
	t.Helper()

	s := &service{Handler: handler, used: map[net.Conn]bool{}}
	server := httptest.NewUnstartedServer(s)
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connection{}, conn)
	}
	server.Start()
	t.Cleanup(server.Close)
	return shared(aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL), HTTPClient: awshttp.NewBuildableClient(),
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}, idle), s
}

// calls make one request to each service of the functions.
func calls(cfg aws.Config) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"DynamoDB": func(ctx context.Context) error {
			_, err := dynamodb.NewFromConfig(cfg).DescribeLimits(ctx, nil)
			return err
		},
		"SQS": func(ctx context.Context) error { _, err := sqs.NewFromConfig(cfg).ListQueues(ctx, nil); return err },
		"SNS": func(ctx context.Context) error { _, err := sns.NewFromConfig(cfg).ListTopics(ctx, nil); return err },
		"KMS": func(ctx context.Context) error { _, err := kms.NewFromConfig(cfg).ListKeys(ctx, nil); return err },
		"Scheduler": func(ctx context.Context) error {
			_, err := scheduler.NewFromConfig(cfg).ListSchedules(ctx, nil)
			return err
		},
		"Secrets Manager": func(ctx context.Context) error {
			_, err := secretsmanager.NewFromConfig(cfg).ListSecrets(ctx, nil)
			return err
		},
		"Lambda": func(ctx context.Context) error {
			_, err := awslambda.NewFromConfig(cfg).GetAccountSettings(ctx, nil)
			return err
		},
	}
}

// A connection that was idle for too long is not used again. In this test any idle time is too
// long, so that it need not wait: a request on the connection of the previous one would fail.
func TestShared_leavesConnectionsAtRest(t *testing.T) {
	t.Parallel()

	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
			_, _ = w.Write([]byte(`<ListTopicsResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><ListTopicsResult/></ListTopicsResponse>`))
			return
		}
		_, _ = w.Write([]byte(`{}`))
	}
	const rounds = 3
	cfg, s := setup(t, time.Nanosecond, answer)
	all := calls(cfg)
	for range rounds {
		for name, call := range all {
			if err := call(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if s.dropped != 0 || s.requests != rounds*len(all) {
		t.Errorf("%d requests, %d of them on a dropped connection; want %d, none of them dropped", s.requests, s.dropped, rounds*len(all))
	}
	if cfg, ok := shared(cfg, idleTimeout).HTTPClient.(*awshttp.BuildableClient); !ok || cfg.GetTransport().IdleConnTimeout != 20*time.Second {
		t.Errorf("the client is %T; want the SDK's own, with connections at rest for 20 s", cfg)
	}
}

// Every service gets three attempts, and no wait is longer than 250 ms.
func TestShared_boundsTheWaits(t *testing.T) {
	t.Parallel()

	cfg, s := setup(t, time.Nanosecond, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	var waits []time.Duration
	retryer := cfg.Retryer
	cfg.Retryer = func() aws.Retryer { return &recorder{retryer(), &waits} }
	all := calls(cfg)
	for name, call := range all {
		if err := call(t.Context()); err == nil {
			t.Errorf("%s: a service that is down answers", name)
		}
	}
	if s.requests != 3*len(all) || len(waits) != 2*len(all) {
		t.Fatalf("%d requests with %d waits; want %d and %d", s.requests, len(waits), 3*len(all), 2*len(all))
	}
	different := map[time.Duration]bool{}
	for _, wait := range waits {
		different[wait] = true
		if wait >= 250*time.Millisecond {
			t.Errorf("a wait of %v; want less than 250 ms", wait)
		}
	}
	if len(different) < 2 {
		t.Errorf("all waits are %v; want jitter: many functions would try again together", waits)
	}
}

// recorder records the waits without waiting.
type recorder struct {
	aws.Retryer

	waits *[]time.Duration
}

func (r *recorder) RetryDelay(attempt int, err error) (time.Duration, error) {
	wait, err := r.Retryer.RetryDelay(attempt, err)
	*r.waits = append(*r.waits, wait)
	return 0, err
}

// A request that a resource of the stack refuses is in the log and in a metric, by the name and the
// kind of the resource.
func TestRefusals(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, code string
		call       func(context.Context, aws.Config) error
		want       []string // parts of the line; nil for no line
	}{
		{name: "a deleted queue", code: "QueueDoesNotExist", want: []string{`"name":"https://sqs/shop-Live"`, `"resource":"queue"`, `"operation":"SendMessageBatch"`}, call: func(ctx context.Context, cfg aws.Config) error {
			_, err := sqs.NewFromConfig(cfg).SendMessageBatch(ctx, &sqs.SendMessageBatchInput{
				QueueUrl: aws.String("https://sqs/shop-Live"), Entries: []sqstypes.SendMessageBatchRequestEntry{{Id: aws.String("1"), MessageBody: aws.String("{}")}},
			})
			return err
		}},
		{name: "a table without permission", code: "AccessDeniedException", want: []string{`"name":"shop-Table"`, `"resource":"table"`, `"requests_refused":1`}, call: func(ctx context.Context, cfg aws.Config) error {
			_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("shop-Table")})
			return err
		}},
		{name: "a disabled key", code: "DisabledException", want: []string{`"name":"arn:key"`, `"resource":"key"`, `"environment":"shop"`}, call: func(ctx context.Context, cfg aws.Config) error {
			_, err := kms.NewFromConfig(cfg).Decrypt(ctx, &kms.DecryptInput{KeyId: aws.String("arn:key"), CiphertextBlob: []byte("x")})
			return err
		}},
		{name: "a wrong request", code: "ValidationException", call: func(ctx context.Context, cfg aws.Config) error {
			_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("shop-Table")})
			return err
		}},
		{name: "a schedule that has fired", code: "ResourceNotFoundException", call: func(ctx context.Context, cfg aws.Config) error {
			_, err := scheduler.NewFromConfig(cfg).GetSchedule(ctx, &scheduler.GetScheduleInput{Name: aws.String("s")})
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			cfg, _ := setup(t, time.Nanosecond, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amzn-Errortype", tt.code)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"__type":"` + tt.code + `","message":"no"}`))
			})
			var lines strings.Builder
			f := Function{Log: slog.New(slog.NewJSONHandler(&lines, nil)), Metrics: emf.Set{Environment: "shop"}, Now: time.Now}
			if err := tt.call(t.Context(), f.watched(cfg)); err == nil {
				t.Fatal("a refused request succeeds")
			}
			if tt.want == nil && lines.Len() > 0 {
				t.Errorf("logged %s; want nothing", lines.String())
			}
			for _, part := range tt.want {
				if !strings.Contains(lines.String(), part) || !strings.Contains(lines.String(), `"request.refused"`) {
					t.Errorf("logged %s; want a line request.refused with %s", lines.String(), part)
				}
			}
		})
	}
}
