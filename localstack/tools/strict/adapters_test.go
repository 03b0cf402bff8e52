package strict_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"

	"surehook.example/surehook/internal/aws/scheduler"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/hook"
)

// config returns a configuration with which the adapters call the front.
func (b bundle) config() aws.Config {
	return aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(b.URL),
		HTTPClient:   awshttp.NewBuildableClient(),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}
}

// delayed adds the bug of a sender that does not bound its delays: every message gets
// the delay in seconds.
func delayed(cfg aws.Config, seconds int32) aws.Config {
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("delayed", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			switch input := in.Parameters.(type) {
			case *awssqs.SendMessageInput:
				input.DelaySeconds = seconds
			case *awssqs.SendMessageBatchInput:
				for i := range input.Entries {
					input.Entries[i].DelaySeconds = seconds
				}
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.After)
	})
	return cfg
}

func token(event hook.EventID) hook.Task {
	id := hook.DeliveryID{Event: event, Endpoint: "ep_0123456789abcdef", Generation: 1}
	return hook.NewTask("acme", hook.DeliveryRef{DeliveryID: id, AcceptedAt: 1772600767000}, 2)
}

// The adapter sends tokens, with a bug between the adapter and the wire.
func TestFront_findsADelayOf1000Seconds(t *testing.T) {
	t.Parallel()

	for seconds, want := range map[int32]string{900: "", 1000: "InvalidParameterValue"} {
		b := setup(t)
		errs := sqs.New(delayed(b.config(), seconds), sqs.URLs{hook.QueueRetry: queue}).
			Send(t.Context(), hook.QueueRetry, []hook.Task{token("evt_01h455vb4pex5vsknk084sn02q")}, time.Minute)
		b.expect(t, "SendMessageBatch", want)
		// The upstream does not answer as SQS does, so a token that the front accepts fails, too, but
		// with another code.
		if refused := hook.CodeOf(errs[0]) == hook.CodeInternal; refused != (want != "") {
			t.Errorf("%d seconds: Send = %v; want an internal error exactly for a refusal", seconds, errs)
		}
	}
}

// The id of the token's event is so long that the name of its schedule has 70
// characters.
func TestFront_findsAScheduleNameOf70Characters(t *testing.T) {
	t.Parallel()

	const hash = 33 // characters of the name after the event id
	for length, want := range map[int]string{64: "", 70: "ValidationException"} {
		b := setup(t)
		s := scheduler.New(b.config(), scheduler.Config{Group: "retries", RoleARN: "r", TargetARN: "t", DeadLetterARN: "d"})
		err := s.At(t.Context(), token(hook.EventID(text(length-hash))), noon.Add(time.Hour))
		b.expect(t, "CreateSchedule", want)
		if (err != nil) != (want != "") {
			t.Errorf("a name of %d characters: At = %v; want an error exactly for a refusal", length, err)
		}
	}
}

// expect checks that the front recorded one violation with the code, or none for an
// empty code.
func (b bundle) expect(t *testing.T, operation, code string) {
	t.Helper()

	got := b.Violations()
	if code == "" && len(got) == 0 {
		return
	}
	if len(got) != 1 || got[0].Operation != operation || got[0].Code != code {
		t.Errorf("violations = %v; want %q of %s alone", got, code, operation)
	}
}
