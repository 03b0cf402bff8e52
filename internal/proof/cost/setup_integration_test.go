//go:build integration

package cost_test

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook/internal/aws/scheduler"
	"surehook/internal/aws/sns"
	"surehook/internal/memory"
	"surehook/internal/proof/cost"
	"surehook/internal/proof/porttest"
)

func (w *bundle) queue(cfg aws.Config, name queue) (url string) {
	w.t.Helper()

	client := awssqs.NewFromConfig(cfg)
	out, err := client.CreateQueue(w.t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String("cost-" + string(name) + "-" + rand.Text())})
	if err != nil {
		w.t.Fatalf("create queue %s: %v", name, err)
	}
	w.names[*out.QueueUrl] = name
	return *out.QueueUrl
}

func (w *bundle) schedules(plain, watched aws.Config) *scheduler.Schedules {
	w.t.Helper()

	const account = "000000000000"
	target := "arn:aws:sqs:us-east-1:" + account + ":cost-retry"
	w.names[target] = retrying
	group := "cost-" + rand.Text()
	if _, err := awsscheduler.NewFromConfig(plain).CreateScheduleGroup(w.t.Context(), &awsscheduler.CreateScheduleGroupInput{Name: &group}); err != nil {
		w.t.Fatalf("create schedule group: %v", err)
	}
	return scheduler.New(watched, scheduler.Config{
		Group: group, RoleARN: "arn:aws:iam::" + account + ":role/schedules", TargetARN: target, DeadLetterARN: "arn:aws:sqs:us-east-1:" + account + ":undeliverable",
	})
}

func (w *bundle) topic(plain, watched aws.Config) *sns.Topic {
	w.t.Helper()

	out, err := awssns.NewFromConfig(plain).CreateTopic(w.t.Context(), &awssns.CreateTopicInput{Name: aws.String("cost-" + rand.Text())})
	if err != nil {
		w.t.Fatalf("create topic: %v", err)
	}
	return sns.New(watched, *out.TopicArn)
}

// emulator returns the config of the first emulator.
func emulator(t *testing.T) aws.Config {
	t.Helper()

	e := porttest.Emulators(t, os.Getenv(porttest.EmulatorsVariable))[0]
	return aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: &e.URL,
		HTTPClient:   plainBodies{awshttp.NewBuildableClient()},
	}
}

// plainBodies hides a method of the SDK's request bodies. With the method,
// net/http drops very fast answers, such as a local emulator's, and the SDK would
// repeat a finished write.
type plainBodies struct{ client aws.HTTPClient }

// Do sends the request.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.client.Do(r)
}

func peek(cfg aws.Config, table string) cost.Peek {
	client := dynamodb.NewFromConfig(cfg)
	return func(ctx context.Context, key cost.Item) (cost.Item, error) {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return nil, err
		}
		return out.Item, nil
	}
}

// newTable creates a table like the stack's and returns its name.
func newTable(t *testing.T, cfg aws.Config) string {
	t.Helper()

	of, table := memory.Schema(), "cost-"+strings.ToLower(rand.Text())
	schema := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	in := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest, KeySchema: schema(of.Hash, of.Sort),
	}
	attributes := []string{of.Hash, of.Sort}
	for _, index := range of.Indexes {
		attributes = append(attributes, index.Hash, index.Sort)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &index.Name, KeySchema: schema(index.Hash, index.Sort),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		})
	}
	slices.Sort(attributes)
	for _, name := range slices.Compact(attributes) { // an index may have a key of the table
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := dynamodb.NewFromConfig(cfg).CreateTable(t.Context(), in); err != nil {
		t.Fatalf("create table: %v", err)
	}
	return table
}
