//go:build e2e

package localstack_test

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cloudformationtypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventbridgetypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	kinesistypes "github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/localstack/stack"
)

// customer is an account beside the one of the stack, in another region: the emulator
// takes an access key of 12 digits as an account.
type customer struct {
	*bench
	config    aws.Config
	principal string
}

const customersAccount = "111122223333"

func newCustomer(b *bench) *customer {
	b.Helper()
	var choices struct {
		Destinations struct {
			Types     []string `json:"types"`
			RolePath  string   `json:"role_path"`
			Principal string   `json:"principal"`
		} `json:"destinations"`
	}
	b.call(http.MethodGet, "/egress", nil, http.StatusOK, &choices)
	if got := choices.Destinations; len(got.Types) == 0 || got.RolePath != stack.RolePath || got.Principal == "" {
		b.Fatalf("destinations = %+v; want types, roles below %s, and a principal", got, stack.RolePath)
	}
	config := world.stack.AWS.Copy()
	config.Region = stack.SenderRegion
	config.Credentials = credentials.NewStaticCredentialsProvider(customersAccount, "secret", "")
	return &customer{bench: b, config: config, principal: choices.Destinations.Principal}
}

func (c *customer) arn(service, region, resource string) string {
	return "arn:aws:" + service + ":" + region + ":" + customersAccount + ":" + resource
}

func (c *customer) role(name string) string { return c.arn("iam", "", "role"+stack.RolePath+name) }

// queue creates a queue, FIFO by its name, and returns its URL in AWS.
func (c *customer) queue(name string) string {
	c.Helper()
	in := &sqs.CreateQueueInput{QueueName: &name}
	if strings.HasSuffix(name, ".fifo") {
		in.Attributes = map[string]string{"FifoQueue": "true"}
	}
	if _, err := sqs.NewFromConfig(c.config).CreateQueue(c.ctx, in); err != nil {
		c.Fatal(err)
	}
	return "https://sqs." + c.config.Region + ".amazonaws.com/" + customersAccount + "/" + name
}

// bus creates an event bus with a rule that sends the events of the source to a queue, and
// returns the ARN of the bus and the URL of the queue.
func (c *customer) bus(name, source string) (bus, queue string) {
	c.Helper()
	client := eventbridge.NewFromConfig(c.config)
	queue = c.queue(name + "-events")
	_, busErr := client.CreateEventBus(c.ctx, &eventbridge.CreateEventBusInput{Name: &name})
	_, ruleErr := client.PutRule(c.ctx, &eventbridge.PutRuleInput{
		Name: aws.String("all"), EventBusName: &name, EventPattern: aws.String(`{"source":["` + source + `"],"detail":{"payload":{"amount":[{"numeric":[">",100]}]}}}`),
	})
	_, targetErr := client.PutTargets(c.ctx, &eventbridge.PutTargetsInput{Rule: aws.String("all"), EventBusName: &name, Targets: []eventbridgetypes.Target{
		{Id: aws.String("queue"), Arn: aws.String(c.arn("sqs", c.config.Region, path.Base(queue)))},
	}})
	for _, err := range []error{busErr, ruleErr, targetErr} {
		if err != nil {
			c.Fatal(err)
		}
	}
	return c.arn("events", c.config.Region, "event-bus/"+name), queue
}

// topic creates a topic that passes its messages on to a queue, and returns the ARN of the topic and
// the URL of the queue.
func (c *customer) topic(name string) (topic, queue string) {
	c.Helper()
	client := sns.NewFromConfig(c.config)
	topic, queue = c.arn("sns", c.config.Region, name), c.queue(name+"-messages")
	target := c.arn("sqs", c.config.Region, path.Base(queue))
	_, policyErr := sqs.NewFromConfig(c.config).SetQueueAttributes(c.ctx, &sqs.SetQueueAttributesInput{QueueUrl: &queue, Attributes: map[string]string{
		"Policy": fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":%q,"Condition":{"ArnEquals":{"aws:SourceArn":%q}}}]}`, target, topic),
	}})
	_, topicErr := client.CreateTopic(c.ctx, &sns.CreateTopicInput{Name: &name})
	_, subscribeErr := client.Subscribe(c.ctx, &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &target,
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	})
	for _, err := range []error{policyErr, topicErr, subscribeErr} {
		if err != nil {
			c.Fatal(err)
		}
	}
	return topic, queue
}

// stream creates a stream with one shard, and returns its ARN.
func (c *customer) stream(name string) string {
	c.Helper()
	client := kinesis.NewFromConfig(c.config)
	if _, err := client.CreateStream(c.ctx, &kinesis.CreateStreamInput{StreamName: &name, ShardCount: aws.Int32(1)}); err != nil {
		c.Fatal(err)
	}
	waiter := kinesis.NewStreamExistsWaiter(client, func(o *kinesis.StreamExistsWaiterOptions) { o.MinDelay = time.Second })
	if err := waiter.Wait(c.ctx, &kinesis.DescribeStreamInput{StreamName: &name}, waitLimit); err != nil {
		c.Fatal(err)
	}
	return c.arn("kinesis", c.config.Region, "stream/"+name)
}

// records returns the records of a stream with one shard, at least one.
func (c *customer) records(stream string) (all []kinesistypes.Record) {
	c.Helper()
	client := kinesis.NewFromConfig(c.config)
	shards, err := client.ListShards(c.ctx, &kinesis.ListShardsInput{StreamARN: &stream})
	if err != nil {
		c.Fatal(err)
	}
	start, err := client.GetShardIterator(c.ctx, &kinesis.GetShardIteratorInput{StreamARN: &stream, ShardId: shards.Shards[0].ShardId, ShardIteratorType: kinesistypes.ShardIteratorTypeTrimHorizon})
	if err != nil {
		c.Fatal(err)
	}
	next := start.ShardIterator
	c.until("a record", func() bool {
		out, err := client.GetRecords(c.ctx, &kinesis.GetRecordsInput{StreamARN: &stream, ShardIterator: next})
		if err != nil {
			c.Fatal(err)
		}
		next, all = out.NextShardIterator, append(all, out.Records...)
		return len(all) > 0
	})
	return all
}

// launch launches the template of the documents.
func (c *customer) launch(name, externalID, destination string) {
	c.Helper()
	template, err := os.ReadFile("../examples/destinations/role.yaml")
	if err != nil {
		c.Fatal(err)
	}
	client := cloudformation.NewFromConfig(c.config)
	var parameters []cloudformationtypes.Parameter
	for key, value := range map[string]string{"Principal": c.principal, "ExternalId": externalID, "Destination": destination, "RoleName": name} {
		parameters = append(parameters, cloudformationtypes.Parameter{ParameterKey: &key, ParameterValue: &value})
	}
	if _, err := client.CreateStack(c.ctx, &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: aws.String(string(template)), Parameters: parameters,
		Capabilities: []cloudformationtypes.Capability{cloudformationtypes.CapabilityCapabilityNamedIam},
	}); err != nil {
		c.Fatal(err)
	}
	waiter := cloudformation.NewStackCreateCompleteWaiter(client, func(o *cloudformation.StackCreateCompleteWaiterOptions) { o.MinDelay = time.Second })
	if err := waiter.Wait(c.ctx, &cloudformation.DescribeStacksInput{StackName: &name}, waitLimit); err != nil {
		c.Fatal(err)
	}
}

// destined creates an endpoint, and returns it with its external id.
func (c *customer) destined(address string, destination, more map[string]any) (stack.Endpoint, string) {
	c.Helper()
	in := map[string]any{"url": address, "retry": schedule("1s", "1s"), "destination": destination, "envelope": "raw"}
	for field, value := range more {
		in[field] = value
	}
	var e struct {
		stack.Endpoint
		Destination struct {
			ExternalID string `json:"external_id"`
		} `json:"destination"`
	}
	c.call(http.MethodPost, "/endpoints", in, http.StatusCreated, &e)
	return e.Endpoint, e.Destination.ExternalID
}

// receive returns the next messages of a queue, and removes them.
func (c *customer) receive(queue string, n int) (all []types.Message) {
	c.Helper()
	client := sqs.NewFromConfig(c.config)
	for len(all) < n {
		out, err := client.ReceiveMessage(c.ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 2, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			c.Fatalf("receive message %d of %d: %v", len(all)+1, n, err)
		}
		for _, m := range out.Messages {
			if _, err := client.DeleteMessage(c.ctx, &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle}); err != nil {
				c.Fatal(err)
			}
		}
		all = append(all, out.Messages...)
	}
	return all
}

func (c *customer) verify(secret, body, id, timestamp, signature string) {
	c.Helper()
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		c.Fatal(err)
	}
	headers := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
	if err := webhook.Verify([]byte(body), headers); err != nil {
		c.Errorf("verify %s: %v", id, err)
	}
}
