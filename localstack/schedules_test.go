//go:build e2e

package localstack_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/tools/probe"
)

// atFormat is the time in a one-time schedule's expression.
const atFormat = "at(2006-01-02T15:04:05)"

func TestARetryBeyondTheQueuesDelayIsASchedule(t *testing.T) {
	t.Parallel()

	b := setup(t)
	needs(t, probe.Firing)
	b.endpoint("a", map[string]any{"retry": schedule("16m")}, receiver.Status(503), receiver.Status(200))
	id := b.postOne()
	d := b.await(id, "retrying")
	first := b.arrivals("a", 1)[0]
	if wait := d.NextAttemptAt.Sub(first.At.Truncate(time.Millisecond)); wait < 16*time.Minute || wait > 16*time.Minute+waitLimit {
		t.Errorf("the next attempt is planned %v after the first; want 16m", wait)
	}

	client := scheduler.NewFromConfig(world.stack.AWS)
	made := b.schedule(client, id)
	at, err := time.Parse(atFormat, aws.ToString(made.ScheduleExpression))
	if late := at.Sub(d.NextAttemptAt); err != nil || late < 0 || late > time.Second {
		t.Errorf("schedule expression = %s, %v; want the planned time %v, rounded up", aws.ToString(made.ScheduleExpression), err, d.NextAttemptAt)
	}
	task, err := hook.DecodeTask(aws.ToString(made.Target.Input))
	if err != nil || task.Delivery.String() != id || task.Attempt != 2 {
		t.Fatalf("the schedule's task = %+v, %v; want attempt 2 of %s", task, err, id)
	}
	if want := settle.ScheduleName(task, at); aws.ToString(made.Name) != want || made.ActionAfterCompletion != types.ActionAfterCompletionDelete {
		t.Errorf("schedule = %s, then %s; want %s, then DELETE", aws.ToString(made.Name), made.ActionAfterCompletion, want)
	}
	if queue := b.queueARN(world.stack.RetryQueueURL); aws.ToString(made.Target.Arn) != queue {
		t.Errorf("schedule's target = %s; want the retry queue %s", aws.ToString(made.Target.Arn), queue)
	}

	// The test skips sixteen minutes: it moves the plan in the record and the
	// schedule to now. Then the schedule fires by itself.
	now := time.Now().UTC()
	b.planFor(id, now)
	if _, err := client.UpdateSchedule(b.ctx, &scheduler.UpdateScheduleInput{
		Name: made.Name, GroupName: made.GroupName, Target: made.Target, FlexibleTimeWindow: made.FlexibleTimeWindow,
		ActionAfterCompletion: made.ActionAfterCompletion, ScheduleExpression: aws.String(now.Add(time.Second).Format(atFormat)),
	}); err != nil {
		t.Fatal(err)
	}
	b.arrivals("a", 2)
	if d := b.await(id, "delivered"); d.Attempts != 2 {
		t.Errorf("attempts = %d; want 2", d.Attempts)
	}
	b.until("the schedule is gone", func() bool {
		_, err := client.GetSchedule(b.ctx, &scheduler.GetScheduleInput{Name: made.Name, GroupName: made.GroupName})
		var gone *types.ResourceNotFoundException
		return errors.As(err, &gone)
	})
}

// schedule returns the one schedule of the delivery's event: names begin with the
// event id. Deliver writes the record before the schedule, so schedule polls.
func (b *bench) schedule(client *scheduler.Client, delivery string) *scheduler.GetScheduleOutput {
	b.Helper()
	parsed, err := hook.ParseDeliveryID(delivery)
	if err != nil {
		b.Fatal(err)
	}
	prefix := string(parsed.Event) + "_"
	var names []string
	b.until("there is a schedule", func() bool {
		list, err := client.ListSchedules(b.ctx, &scheduler.ListSchedulesInput{GroupName: &world.stack.ScheduleGroup, NamePrefix: &prefix})
		if err != nil {
			b.Fatal(err)
		}
		names = nil
		for _, s := range list.Schedules {
			names = append(names, aws.ToString(s.Name))
		}
		return len(names) > 0
	})
	if len(names) != 1 {
		b.Fatalf("schedules of %s = %v; want one", delivery, names)
	}
	got, err := client.GetSchedule(b.ctx, &scheduler.GetScheduleInput{Name: &names[0], GroupName: &world.stack.ScheduleGroup})
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// until polls the condition.
func (b *bench) until(what string, holds func() bool) {
	b.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			b.Fatalf("await: %s: %v", what, b.ctx.Err())
		}
	}
}

// planFor sets the planned time in the delivery's record. Deliver requeues a
// task before the planned time.
func (b *bench) planFor(id string, at time.Time) {
	b.Helper()
	delivery, err := hook.ParseDeliveryID(id)
	if err != nil {
		b.Fatal(err)
	}
	db := dynamodb.NewFromConfig(world.stack.AWS)
	partition := "endpoint#" + string(delivery.Endpoint) + "#00"
	rows, err := db.Query(b.ctx, &dynamodb.QueryInput{
		TableName: &world.stack.TableName, KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :delivery)"),
		ExpressionAttributeValues: map[string]dbtypes.AttributeValue{
			":pk": &dbtypes.AttributeValueMemberS{Value: partition}, ":delivery": &dbtypes.AttributeValueMemberS{Value: "delivery#"},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	place := fmt.Sprintf("#%s#%04d", delivery.Event, delivery.Generation)
	key := map[string]dbtypes.AttributeValue{names.PartitionKey: &dbtypes.AttributeValueMemberS{Value: partition}}
	for _, row := range rows.Items {
		if sk, ok := row[names.SortKey].(*dbtypes.AttributeValueMemberS); ok && strings.HasSuffix(sk.Value, place) {
			key[names.SortKey] = sk
		}
	}
	if _, err := db.UpdateItem(b.ctx, &dynamodb.UpdateItemInput{
		TableName: &world.stack.TableName, Key: key,
		UpdateExpression:    aws.String("SET next_at = :at"),
		ConditionExpression: aws.String("attribute_exists(next_at)"),
		ExpressionAttributeValues: map[string]dbtypes.AttributeValue{
			":at": &dbtypes.AttributeValueMemberN{Value: strconv.FormatInt(at.UnixMilli(), 10)},
		},
	}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) queueARN(url string) string {
	b.Helper()
	out, err := sqs.NewFromConfig(world.stack.AWS).GetQueueAttributes(b.ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn},
	})
	if err != nil {
		b.Fatal(err)
	}
	return out.Attributes[string(sqstypes.QueueAttributeNameQueueArn)]
}
