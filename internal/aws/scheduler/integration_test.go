//go:build integration

package scheduler_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/aws/scheduler"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/porttest"
)

func TestSchedules_OnEmulators(t *testing.T) {
	t.Parallel()

	for _, emulator := range porttest.Emulators(t, os.Getenv(porttest.EmulatorsVariable)) {
		t.Run(emulator.Name, func(t *testing.T) {
			t.Parallel()

			cfg := aws.Config{
				Region:       "us-east-1",
				Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
				BaseEndpoint: aws.String(emulator.URL),
				HTTPClient:   awshttp.NewBuildableClient(),
			}
			porttest.Schedules(t, func(t *testing.T) porttest.SchedulesBench {
				t.Helper()

				b := newBench(t, cfg)
				if !emulator.FiresSchedules() {
					b.Receive = nil
				}
				return b
			})
		})
	}
}

func newBench(t *testing.T, cfg aws.Config) porttest.SchedulesBench {
	t.Helper()

	queues := awssqs.NewFromConfig(cfg)
	retryURL, retryARN := newQueue(t, queues, "retry")
	_, undeliverableARN := newQueue(t, queues, "undeliverable")
	client := awsscheduler.NewFromConfig(cfg)
	group := "retries-" + hook.NewNonce()
	if _, err := client.CreateScheduleGroup(t.Context(), &awsscheduler.CreateScheduleGroupInput{Name: aws.String(group)}); err != nil {
		t.Fatalf("create schedule group %s: %v", group, err)
	}
	c := scheduler.Config{
		Group:         group,
		RoleARN:       "arn:aws:iam::000000000000:role/schedules",
		TargetARN:     retryARN,
		DeadLetterARN: undeliverableARN,
	}
	return porttest.SchedulesBench{
		Schedules: scheduler.New(cfg, c),
		Plans: func(ctx context.Context) ([]porttest.Plan, error) {
			return plans(ctx, client, c)
		},
		Receive: func(ctx context.Context) ([]porttest.Message, error) {
			out, err := queues.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{QueueUrl: aws.String(retryURL), MaxNumberOfMessages: 10})
			if err != nil {
				return nil, err
			}
			var received []porttest.Message
			for _, m := range out.Messages {
				received = append(received, porttest.Message{Body: *m.Body})
			}
			return received, nil
		},
		Clock: porttest.RealClock(time.Now),
	}
}

func newQueue(t *testing.T, queues *awssqs.Client, name string) (url, arn string) {
	t.Helper()

	queue, err := queues.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String(name + "-" + hook.NewNonce())})
	if err != nil {
		t.Fatalf("create queue %s: %v", name, err)
	}
	out, err := queues.GetQueueAttributes(t.Context(), &awssqs.GetQueueAttributesInput{
		QueueUrl:       queue.QueueUrl,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		t.Fatalf("read ARN of queue %s: %v", name, err)
	}
	return *queue.QueueUrl, out.Attributes[string(types.QueueAttributeNameQueueArn)]
}

// plans reads all schedules of the group and checks their common settings.
func plans(ctx context.Context, client *awsscheduler.Client, c scheduler.Config) ([]porttest.Plan, error) {
	list, err := client.ListSchedules(ctx, &awsscheduler.ListSchedulesInput{GroupName: aws.String(c.Group)})
	if err != nil {
		return nil, err
	}
	var plans []porttest.Plan
	for _, summary := range list.Schedules {
		s, err := client.GetSchedule(ctx, &awsscheduler.GetScheduleInput{GroupName: aws.String(c.Group), Name: summary.Name})
		if err != nil {
			return nil, err
		}
		stored := scheduler.Config{Group: *s.GroupName, RoleARN: *s.Target.RoleArn, TargetARN: *s.Target.Arn, DeadLetterARN: *s.Target.DeadLetterConfig.Arn}
		if stored != c || s.ActionAfterCompletion != "DELETE" || s.FlexibleTimeWindow.Mode != "OFF" {
			return nil, fmt.Errorf("schedule %s is %+v, %s after completion, window %s; want %+v, DELETE, OFF",
				*s.Name, stored, s.ActionAfterCompletion, s.FlexibleTimeWindow.Mode, c)
		}
		at, err := time.Parse("at(2006-01-02T15:04:05)", *s.ScheduleExpression)
		if err != nil {
			return nil, err
		}
		plans = append(plans, porttest.Plan{At: at, Body: *s.Target.Input})
	}
	return plans, nil
}
