//go:build integration

package sqs_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/porttest"
)

func TestQueue_OnEmulators(t *testing.T) {
	t.Parallel()

	onEmulators(t, func(t *testing.T, cfg aws.Config) {
		t.Helper()

		porttest.Queue(t, func(t *testing.T) porttest.QueueBench {
			t.Helper()
			return newBench(t, cfg)
		})
	})
}

func TestDeadLetters_OnEmulators(t *testing.T) {
	t.Parallel()

	onEmulators(t, func(t *testing.T, cfg aws.Config) {
		t.Helper()

		porttest.DeadLetters(t, func(t *testing.T) porttest.DeadLettersBench {
			t.Helper()

			client := awssqs.NewFromConfig(cfg)
			url := create(t, client, "dead-letters")
			return porttest.DeadLettersBench{
				DeadLetters: sqs.NewDeadLetters(cfg, url),
				Take:        func(ctx context.Context) ([]porttest.Message, error) { return receive(ctx, client, url) },
				Reveal: func(ctx context.Context, letters []breaker.Letter) {
					for _, letter := range letters { // emulators answer differently about a removed letter
						_, _ = client.ChangeMessageVisibility(ctx, &awssqs.ChangeMessageVisibilityInput{
							QueueUrl: &url, ReceiptHandle: &letter.Receipt, VisibilityTimeout: 0,
						})
					}
				},
				Clock: porttest.RealClock(time.Now),
			}
		})
	})
}

func TestCircuitQueue_OnEmulators(t *testing.T) {
	t.Parallel()

	onEmulators(t, func(t *testing.T, cfg aws.Config) {
		t.Helper()

		porttest.CircuitQueue(t, func(t *testing.T) porttest.CircuitQueueBench {
			t.Helper()

			client := awssqs.NewFromConfig(cfg)
			url := create(t, client, "circuits")
			return porttest.CircuitQueueBench{
				Queue:   sqs.NewCircuitQueue(cfg, url),
				Receive: func(ctx context.Context) ([]porttest.Message, error) { return receive(ctx, client, url) },
				Clock:   porttest.RealClock(time.Now),
			}
		})
	})
}

func TestJobQueue_OnEmulators(t *testing.T) {
	t.Parallel()

	onEmulators(t, func(t *testing.T, cfg aws.Config) {
		t.Helper()

		porttest.JobQueue(t, func(t *testing.T) porttest.JobQueueBench {
			t.Helper()

			client := awssqs.NewFromConfig(cfg)
			url := create(t, client, "replay-jobs")
			return porttest.JobQueueBench{
				Jobs:    sqs.NewJobQueue(cfg, url),
				Receive: func(ctx context.Context) ([]porttest.Message, error) { return receive(ctx, client, url) },
				Clock:   porttest.RealClock(time.Now),
			}
		})
	})
}

func TestEventQueue_OnEmulators(t *testing.T) {
	t.Parallel()

	onEmulators(t, func(t *testing.T, cfg aws.Config) {
		t.Helper()

		porttest.EventQueue(t, func(t *testing.T) porttest.EventQueueBench {
			t.Helper()

			client := awssqs.NewFromConfig(cfg)
			events := create(t, client, "events")
			return porttest.EventQueueBench{
				Queue: sqs.NewEventQueue(cfg, events, create(t, client, "rejects")),
				Take:  func(ctx context.Context) ([]porttest.Message, error) { return receive(ctx, client, events) },
				Clock: porttest.RealClock(time.Now),
			}
		})
	})
}

func TestDepths_OnEmulators(t *testing.T) {
	t.Parallel()

	onEmulators(t, func(t *testing.T, cfg aws.Config) {
		t.Helper()

		client := awssqs.NewFromConfig(cfg)
		urls := sqs.URLs{hook.QueueLive: create(t, client, "live"), hook.QueueRetry: create(t, client, "retry")}
		queue := sqs.New(cfg, urls)
		send := func(to hook.Queue, n int, delay time.Duration) {
			if errs := queue.Send(t.Context(), to, tasks(t, n), delay); errs != nil {
				t.Fatalf("Send(%s, %d tasks) = %v; want nil", to, n, errs)
			}
		}
		send(hook.QueueLive, 3, 0)
		if _, err := client.ReceiveMessage(t.Context(), &awssqs.ReceiveMessageInput{QueueUrl: aws.String(urls[hook.QueueLive]), VisibilityTimeout: 600}); err != nil {
			t.Fatal(err)
		}
		send(hook.QueueRetry, 4, 10*time.Minute)

		var all names.Queues[string]
		empty := create(t, client, "empty")
		for _, url := range all.All() {
			*url = empty
		}
		all.Live, all.Retry = urls[hook.QueueLive], urls[hook.QueueRetry]
		got, err := sqs.NewDepths(cfg, all).Depths(t.Context())
		if err != nil {
			t.Fatalf("Depths() = %v; want nil", err)
		}
		want := names.Queues[status.Depth]{Live: status.Depth{Visible: 2, InFlight: 1}, Retry: status.Depth{Delayed: 4}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Depths() (-want +got):\n%s", diff)
		}
	})
}

func TestVisibility_OnEmulators(t *testing.T) {
	t.Parallel()

	onEmulators(t, func(t *testing.T, cfg aws.Config) {
		t.Helper()

		client := awssqs.NewFromConfig(cfg)
		url := create(t, client, "live")
		queue, err := client.GetQueueAttributes(t.Context(), &awssqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
		})
		if err != nil {
			t.Fatal(err)
		}
		if errs := sqs.New(cfg, sqs.URLs{hook.QueueLive: url}).Send(t.Context(), hook.QueueLive, tasks(t, 1), 0); errs != nil {
			t.Fatal(errs)
		}
		hidden, err := client.ReceiveMessage(t.Context(), &awssqs.ReceiveMessageInput{QueueUrl: &url, VisibilityTimeout: 600})
		if err != nil || len(hidden.Messages) != 1 {
			t.Fatalf("received %v, %v; want one message", hidden, err)
		}
		err = sqs.NewVisibility(cfg).Change(t.Context(), queue.Attributes["QueueArn"], map[string]time.Duration{*hidden.Messages[0].ReceiptHandle: time.Second})
		if err != nil {
			t.Fatalf("Change() = %v; want nil", err)
		}
		again, err := client.ReceiveMessage(t.Context(), &awssqs.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		if err != nil || len(again.Messages) != 1 {
			t.Errorf("received %v, %v within 20 s; want the message again", again, err)
		}
	})
}

func onEmulators(t *testing.T, test func(t *testing.T, cfg aws.Config)) {
	t.Helper()

	for _, emulator := range porttest.Emulators(t, os.Getenv(porttest.EmulatorsVariable)) {
		t.Run(emulator.Name, func(t *testing.T) {
			t.Parallel()

			test(t, aws.Config{
				Region:       "us-east-1",
				Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
				BaseEndpoint: aws.String(emulator.URL),
				HTTPClient:   awshttp.NewBuildableClient(),
			})
		})
	}
}

func create(t *testing.T, client *awssqs.Client, name string) string {
	t.Helper()

	out, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String(name + "-" + hook.NewNonce())})
	if err != nil {
		t.Fatalf("create queue %s: %v", name, err)
	}
	return *out.QueueUrl
}

func newBench(t *testing.T, cfg aws.Config) porttest.QueueBench {
	t.Helper()

	client := awssqs.NewFromConfig(cfg)
	urls := sqs.URLs{
		hook.QueueLive:     create(t, client, "live"),
		hook.QueueRetry:    create(t, client, "retry"),
		hook.QueueReplay:   create(t, client, "replay"),
		hook.QueueSlot:     create(t, client, "slot"),
		hook.QueueOverflow: create(t, client, "overflow"),
		hook.QueueCoalesce: create(t, client, "coalesce"),
	}
	return porttest.QueueBench{
		Queue: sqs.New(cfg, urls),
		Receive: func(ctx context.Context, queue hook.Queue) ([]porttest.Message, error) {
			return receive(ctx, client, urls[queue])
		},
		Clock: porttest.RealClock(time.Now),
	}
}

// receive receives the visible messages and deletes them.
func receive(ctx context.Context, client *awssqs.Client, url string) ([]porttest.Message, error) {
	out, err := client.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{
		QueueUrl:                    aws.String(url),
		MaxNumberOfMessages:         10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameMessageGroupId},
	})
	if err != nil {
		return nil, err
	}
	var taken []porttest.Message
	for _, m := range out.Messages {
		taken = append(taken, porttest.Message{Body: *m.Body, Group: m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]})
		_, deleteErr := client.DeleteMessage(ctx, &awssqs.DeleteMessageInput{QueueUrl: aws.String(url), ReceiptHandle: m.ReceiptHandle})
		err = errors.Join(err, deleteErr)
	}
	return taken, err
}
