//go:build e2e

package localstack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cloudformationtypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventbridgetypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/localstack/emulator"
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
	if got := choices.Destinations; len(got.Types) != 2 || got.RolePath != stack.RolePath || got.Principal == "" {
		b.Fatalf("destinations = %+v; want two types, roles below %s, and a principal", got, stack.RolePath)
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

// queue creates a queue, and returns its URL in AWS.
func (c *customer) queue(name string) string {
	c.Helper()
	if _, err := sqs.NewFromConfig(c.config).CreateQueue(c.ctx, &sqs.CreateQueueInput{QueueName: &name}); err != nil {
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

// A queue and a bus of a customer's account get signed events, with roles of the documented
// template.
func TestAQueueAndABusOfACustomerGetEvents(t *testing.T) {
	t.Parallel()

	c := newCustomer(setup(t))
	const payload, source = `{"amount": 120, "name": "<é>"}`, "com.example.shop"
	queue := c.queue("orders")
	bus, events := c.bus("orders", source)
	toQueue, queueID := c.destined(queue, map[string]any{"type": "sqs", "role_arn": c.role("orders-queue")}, nil)
	toBus, busID := c.destined(bus, map[string]any{"type": "eventbridge", "role_arn": c.role("orders-bus"), "source": source}, nil)
	c.launch("orders-queue", queueID, c.arn("sqs", c.config.Region, "orders"))
	c.launch("orders-bus", busID, bus)

	accepted := c.post("order.paid", payload)
	for _, d := range c.deliveries(accepted) {
		c.await(d.ID, "delivered")
	}
	message := c.receive(queue, 1)[0]
	text := func(name string) string { return aws.ToString(message.MessageAttributes[name].StringValue) }
	c.verify(toQueue.Secret, *message.Body, text("webhook-id"), text("webhook-timestamp"), text("webhook-signature"))
	if *message.Body != payload || text("webhook-id") != accepted.ID || text("x-webhook-event") != "order.paid" || text("x-webhook-attempt") != "1" {
		t.Errorf("message %q of %s (%s)", *message.Body, text("webhook-id"), text("x-webhook-event"))
	}

	var event struct {
		Source     string `json:"source"`
		DetailType string `json:"detail-type"`
		Detail     struct {
			ID        string         `json:"id"`
			Timestamp string         `json:"timestamp"`
			Signature string         `json:"signature"`
			Body      string         `json:"body"`
			Payload   map[string]any `json:"payload"`
		} `json:"detail"`
	}
	if err := json.Unmarshal([]byte(*c.receive(events, 1)[0].Body), &event); err != nil {
		t.Fatal(err)
	}
	detail := event.Detail
	c.verify(toBus.Secret, detail.Body, detail.ID, detail.Timestamp, detail.Signature)
	if event.Source != source || event.DetailType != "order.paid" || detail.Body != payload || detail.Payload["amount"] != 120.0 {
		t.Errorf("event %+v; want the signed body, and the payload beside it", event)
	}
}

// A role without a permission opens the circuit, and the deliveries are parked. They drain
// after the repair.
func TestARepairedRoleDrainsWhatWasParked(t *testing.T) {
	t.Parallel()

	c := newCustomer(setup(t))
	const name, failures, backlog = "denied", 3, 5
	queue := c.queue(name)
	e, id := c.destined(queue, map[string]any{"type": "sqs", "role_arn": c.role(name)}, map[string]any{
		"circuit": map[string]any{"failures": failures, "cooldown": "15s"}, "retry": schedule("5s", "5s", "5s", "5s"),
	})
	roles := awsiam.NewFromConfig(c.config)
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":%q},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":%%q}}}]}`, c.principal)
	if _, err := roles.CreateRole(c.ctx, &awsiam.CreateRoleInput{
		RoleName: aws.String(name), Path: aws.String(stack.RolePath), AssumeRolePolicyDocument: aws.String(fmt.Sprintf(trust, "of another endpoint")),
	}); err != nil {
		t.Fatal(err)
	}

	first := c.post("order.paid", `{}`)
	delivery := c.one(first)
	var seen struct {
		History []struct {
			Class string `json:"class"`
			Error string `json:"error"`
		} `json:"history"`
	}
	c.until("an attempt without a session", func() bool {
		c.call(http.MethodGet, "/deliveries/"+delivery, nil, http.StatusOK, &seen)
		return len(seen.History) > 0
	})
	if a := seen.History[0]; a.Class != "token" || a.Error == "" {
		t.Errorf("attempt without a session = %+v; want token", a)
	}
	// The trust is repaired; the policy is still missing.
	if _, err := roles.UpdateAssumeRolePolicy(c.ctx, &awsiam.UpdateAssumeRolePolicyInput{RoleName: aws.String(name), PolicyDocument: aws.String(fmt.Sprintf(trust, id))}); err != nil {
		t.Fatal(err)
	}
	c.awaitCircuitAfter(e.ID, failures)
	c.postMany(backlog)
	c.awaitParked(e.ID, 1+failures+backlog)

	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sqs:SendMessage","Resource":%q}]}`, c.arn("sqs", c.config.Region, name))
	if _, err := roles.PutRolePolicy(c.ctx, &awsiam.PutRolePolicyInput{RoleName: aws.String(name), PolicyName: aws.String("send"), PolicyDocument: &policy}); err != nil {
		t.Fatal(err)
	}
	c.renew()
	c.receive(queue, 1+failures+backlog)
	c.awaitCircuit(e.ID, "closed")
	c.await(delivery, "delivered")
}

// awaitCircuitAfter posts events until failures of them opened the circuit.
func (c *customer) awaitCircuitAfter(endpoint string, failures int) {
	c.Helper()
	for range failures {
		d := c.one(c.post("order.paid", `{}`))
		c.until("an attempt", func() bool { return c.deliveryNow(d).Attempts > 0 || c.deliveryNow(d).State == "parked" })
	}
	c.awaitCircuit(endpoint, "open")
}

// The stack's own queues, account and roles are no destinations, also for a role of the
// customer.
func TestTheOwnAccountIsNoDestination(t *testing.T) {
	t.Parallel()

	c := newCustomer(setup(t))
	own := "https://sqs." + emulator.Region + ".amazonaws.com/" + emulator.Account + "/" + stack.Name + "-live"
	theirs := "https://sqs.eu-west-1.amazonaws.com/" + customersAccount + "/q"
	for _, in := range []map[string]any{
		{"url": own, "destination": map[string]any{"type": "sqs", "role_arn": c.role("own")}},
		{"url": theirs, "destination": map[string]any{"type": "sqs", "role_arn": "arn:aws:iam::" + emulator.Account + ":role/surehook/own"}},
		{"url": theirs, "destination": map[string]any{"type": "sqs", "role_arn": "arn:aws:iam::" + customersAccount + ":role/own"}},
	} {
		c.call(http.MethodPost, "/endpoints", in, http.StatusBadRequest, nil)
	}
	e, _ := c.destined(theirs, map[string]any{"type": "sqs", "role_arn": c.role("own")}, nil)
	c.call(http.MethodPatch, "/endpoints/"+url.PathEscape(e.ID), map[string]any{"url": own}, http.StatusBadRequest, nil)
}
