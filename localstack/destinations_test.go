//go:build e2e

package localstack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/stack"
)

// sentDocument is a message without attributes, as the documents show it.
type sentDocument struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Timestamp string         `json:"timestamp"`
	Signature string         `json:"signature"`
	Body      string         `json:"body"`
	Payload   map[string]any `json:"payload"`
}

// checkMessage checks a message of the event, with the headers as attributes.
func (c *customer) checkMessage(m types.Message, secret string, event stack.Accepted, payload string) {
	c.Helper()
	text := func(name string) string { return aws.ToString(m.MessageAttributes[name].StringValue) }
	c.verify(secret, *m.Body, text("webhook-id"), text("webhook-timestamp"), text("webhook-signature"))
	if *m.Body != payload || text("webhook-id") != event.ID || text("x-webhook-event") != "order.paid" || text("x-webhook-attempt") != "1" {
		c.Errorf("message %q of %s (%s)", *m.Body, text("webhook-id"), text("x-webhook-event"))
	}
}

func (c *customer) checkDocument(d sentDocument, secret string, event stack.Accepted, payload string) {
	c.Helper()
	c.verify(secret, d.Body, d.ID, d.Timestamp, d.Signature)
	if d.ID != event.ID || d.Type != "order.paid" || d.Body != payload || d.Payload["amount"] != 120.0 {
		c.Errorf("document %+v; want the signed body, and the payload beside it", d)
	}
}

// Each type of resource of a customer's account gets signed events, with a role of the documented
// template.
func TestResourcesOfACustomerGetEvents(t *testing.T) {
	t.Parallel()

	c := newCustomer(setup(t))
	const payload, source = `{"amount": 120, "name": "<é>", "customer": {"id": "c-7"}}`, "com.example.shop"
	secrets := map[string]string{}
	create := func(to, address, resource string, more map[string]any) {
		name := "orders-" + strings.ReplaceAll(to, "_", "-")
		destination := map[string]any{"type": to, "role_arn": c.role(name)}
		maps.Copy(destination, more)
		e, externalID := c.destined(address, destination, nil)
		c.launch(name, externalID, resource)
		secrets[to] = e.Secret
	}
	queue, fifo, stream := c.queue("orders"), c.queue("orders.fifo"), c.stream("orders")
	topic, messages := c.topic("orders")
	bus, events := c.bus("orders", source)
	create("sqs", queue, c.arn("sqs", c.config.Region, "orders"), nil)
	create("sqs_fifo", fifo, c.arn("sqs", c.config.Region, "orders.fifo"), map[string]any{"group_by": "customer.id"})
	create("sns", topic, topic, nil)
	create("eventbridge", bus, bus, map[string]any{"source": source})
	create("kinesis", stream, stream, map[string]any{"group_by": "customer.id"})

	event := c.post("order.paid", payload)
	for _, d := range c.deliveries(event) {
		c.await(d.ID, "delivered")
	}
	c.checkMessage(c.receive(queue, 1)[0], secrets["sqs"], event, payload)
	c.checkMessage(c.receive(messages, 1)[0], secrets["sns"], event, payload)
	ordered := c.receive(fifo, 1)[0]
	c.checkMessage(ordered, secrets["sqs_fifo"], event, payload)
	if group := ordered.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]; group != "c-7" {
		t.Errorf("the message group is %q; want the customer's id", group)
	}

	var onBus struct {
		Source     string       `json:"source"`
		DetailType string       `json:"detail-type"`
		Detail     sentDocument `json:"detail"`
	}
	if err := json.Unmarshal([]byte(*c.receive(events, 1)[0].Body), &onBus); err != nil {
		t.Fatal(err)
	}
	c.checkDocument(onBus.Detail, secrets["eventbridge"], event, payload)
	if onBus.Source != source || onBus.DetailType != "order.paid" {
		t.Errorf("event of %s with the type %s", onBus.Source, onBus.DetailType)
	}
	record := c.records(stream)[0]
	var onStream sentDocument
	if err := json.Unmarshal(record.Data, &onStream); err != nil {
		t.Fatal(err)
	}
	c.checkDocument(onStream, secrets["kinesis"], event, payload)
	if *record.PartitionKey != "c-7" {
		t.Errorf("the partition key is %q; want the customer's id", *record.PartitionKey)
	}
}

// Two endpoints with one FIFO queue both deliver an event, and a replay arrives, too: the queue drops
// none of them as a duplicate.
func TestAFIFOQueueGetsEachDeliveryAndReplay(t *testing.T) {
	t.Parallel()

	c := newCustomer(setup(t))
	queue := c.queue("shared.fifo")
	for _, name := range []string{"shared-1", "shared-2"} {
		_, externalID := c.destined(queue, map[string]any{"type": "sqs_fifo", "role_arn": c.role(name)}, nil)
		c.launch(name, externalID, c.arn("sqs", c.config.Region, "shared.fifo"))
	}
	event := c.post("order.paid", `{}`)
	ids := map[string]bool{}
	check := func(n int) {
		t.Helper()
		for _, m := range c.receive(queue, n) {
			ids[m.Attributes[string(types.MessageSystemAttributeNameMessageDeduplicationId)]] = true
			if group := m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]; group != event.ID {
				t.Errorf("the message group is %q; want the event's id", group)
			}
		}
	}
	all := c.deliveries(event)
	for _, d := range all {
		c.await(d.ID, "delivered")
	}
	check(len(all))
	c.await(c.replay(all[0].ID, nil).ID, "delivered")
	check(1)
	if len(ids) != 3 {
		t.Errorf("deduplication ids %v; want one of each delivery and replay", ids)
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
