//go:build e2e

// Package localstack_test sends events through the whole deployed stack: API,
// queues, functions, table and schedules on an emulator, and a receiver with
// checks of every request.
package localstack_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
	"surehook.example/surehook/localstack/tools/probe"
)

// world is shared by all tests: one deployed stack, one receiver.
var world struct {
	emulator    *emulator.Emulator
	stack       *stack.Stack
	api         *stack.Client
	receiver    *receiver.Receiver
	deadLetters deadLetters

	emulatorLog string // of MiniStack, with the functions' output; empty for a server that ran before

	probed probe.Results // of a server that ran before
	cannot string        // why no flow can run on the server; empty if the stack is there
}

// waitLimit bounds each wait. Many tests share the emulator, possibly on a
// small machine.
const waitLimit = 90 * time.Second

var errTooLong = fmt.Errorf("the wait took longer than %v", waitLimit)

func TestMain(m *testing.M) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, m)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

// run starts the stack, runs the tests and stops the stack.
func run(ctx context.Context, m *testing.M) (code int, err error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return 1, err
	}
	e, err := emulator.Open(ctx, emulator.Options{Root: root, Name: cmp.Or(os.Getenv("E2E_FOLDER"), "e2e"), Env: os.Environ(), Stack: true, Strict: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	fmt.Fprintf(os.Stderr, "%s is ready at %s (log: %s)\n", e.Kind, e.URL, e.LogPath)
	world.emulator = e
	if world.probed, err = stack.Probe(ctx, e, os.Stderr); err != nil {
		world.cannot = err.Error()
		return m.Run(), nil // each flow is printed with the reason why it is skipped
	}

	if world.stack, err = stack.Deploy(ctx, e, stack.Options{Root: root, Env: os.Environ(), Progress: os.Stderr, Context: []string{
		"EVENT_BUS=default", `EVENT_PATTERN={"source":["com.example.shop"]}`, "TENANT_PATH=detail.customer.id",
	}}); err != nil {
		return 1, err
	}
	name, bind := e.HostName()
	if world.receiver, err = receiver.Start(ctx, name, bind); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, world.receiver.Stop()) }()
	world.api, world.emulatorLog = world.stack.Client(), e.LogPath
	world.deadLetters = deadLetters{client: sqs.NewFromConfig(world.stack.AWS), url: world.stack.DeadLettersURL}

	if code = m.Run(); code != 0 {
		functions := filepath.Join(e.Dir, "functions.log")
		fmt.Fprintf(os.Stderr, "logs: %s and %s\n", functions, e.LogPath)
		return code, world.stack.SaveFunctionLogs(ctx, functions)
	}
	if err := nothingUndeliverable(ctx); err != nil || !fullRun() || world.emulator.Front == nil { // a server that ran before enforces nothing
		return 0, err
	}
	return 0, everyGrantNeeded(ctx)
}

// nothingUndeliverable checks the undeliverable queue. The queue must be empty
// after any test.
func nothingUndeliverable(ctx context.Context) error {
	const visible = types.QueueAttributeNameApproximateNumberOfMessages
	out, err := sqs.NewFromConfig(world.stack.AWS).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &world.stack.UndeliverableURL, AttributeNames: []types.QueueAttributeName{visible},
	})
	if err != nil {
		return fmt.Errorf("read the undeliverable queue: %w", err)
	}
	if n := out.Attributes[string(visible)]; n != "0" {
		return fmt.Errorf("the undeliverable queue has %s messages; want none", n)
	}
	return nil
}

// bench is a tenant for one test, and the context of the test's waits.
type bench struct {
	*testing.T
	ctx    context.Context
	tenant string
}

// needs skips the test on a server that ran before and lacks a service of the test, or with
// all flows if the stack cannot run there. Without names it is about the stack alone.
func needs(t *testing.T, services ...string) {
	t.Helper()
	if world.cannot != "" {
		t.Skip(world.cannot)
	}
	if why := world.probed.Why(services...); len(services) > 0 && why != "" {
		t.Skip(why)
	}
}

// setup returns a bench with a tenant named after the test.
func setup(t *testing.T) *bench {
	t.Helper()
	needs(t)
	b := &bench{T: t, tenant: strings.NewReplacer("/", ".", " ", "_").Replace(t.Name())}
	b.renew()
	return b
}

// renew restarts the time limit of waits. A test of several flows calls renew
// between the flows.
func (b *bench) renew() {
	ctx, cancel := context.WithTimeoutCause(b.Context(), waitLimit, errTooLong)
	b.Cleanup(cancel)
	b.ctx = ctx
}

// path is the receiver's path of the test's endpoint with the name.
func (b *bench) path(name string) string { return "/" + b.tenant + "/" + name }

// call calls the tenant's part of the API: path follows /v1/tenants/<t>.
func (b *bench) call(method, path string, in any, want int, out any) {
	b.Helper()
	if err := world.api.Call(b.ctx, method, "/v1/tenants/"+b.tenant+path, in, want, out); err != nil {
		b.Fatal(err)
	}
}

// endpoint creates an endpoint at the receiver with the replies and the
// endpoint's secret. Settings extend the request's body. The default is a
// subscription to all types and two retries, each after a second.
func (b *bench) endpoint(name string, settings map[string]any, replies ...receiver.Reply) stack.Endpoint {
	b.Helper()
	in := map[string]any{
		"url":         world.receiver.URL + b.path(name),
		"event_types": []string{"*"},
		"retry":       schedule("1s", "1s"),
		"envelope":    "raw", // tests compare the payload
	}
	for field, value := range settings {
		in[field] = value
	}
	world.receiver.Script(b.path(name), replies...)
	e, err := world.api.CreateEndpoint(b.ctx, b.tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	world.receiver.Trust(b.path(name), e.Secret)
	return e
}

// schedule is a retry policy of exactly these delays.
func schedule(delays ...string) map[string]any {
	return map[string]any{"schedule": delays, "jitter": "none"}
}

// post posts an event and returns the API's answer.
func (b *bench) post(eventType, payload string) stack.Accepted {
	b.Helper()
	accepted, err := world.api.PostEvent(b.ctx, b.tenant, eventType, payload)
	if err != nil {
		b.Fatal(err)
	}
	return accepted
}

// postOne posts an event with one delivery and returns the delivery's id.
func (b *bench) postOne() string {
	b.Helper()
	return b.one(b.post("order.created", `{"n":1}`))
}

// deliveries returns the deliveries of an accepted event and checks their
// announced number.
func (b *bench) deliveries(accepted stack.Accepted) []stack.Delivery {
	b.Helper()
	got, err := world.api.Deliveries(b.ctx, b.tenant, accepted.ID)
	if err != nil {
		b.Fatal(err)
	}
	if len(got) != accepted.Deliveries {
		b.Fatalf("deliveries of event %s = %+v; want %d, as announced", accepted.ID, got, accepted.Deliveries)
	}
	return got
}

// one returns the id of an accepted event's only delivery.
func (b *bench) one(accepted stack.Accepted) string {
	b.Helper()
	got := b.deliveries(accepted)
	if len(got) != 1 {
		b.Fatalf("deliveries of event %s = %+v; want one", accepted.ID, got)
	}
	return got[0].ID
}

// await waits until the delivery is in the state.
func (b *bench) await(delivery, state string) stack.Delivery {
	b.Helper()
	d, err := world.api.AwaitDelivery(b.ctx, b.tenant, delivery, state)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// arrivals waits for n requests at the test's path of the name.
func (b *bench) arrivals(name string, n int) []receiver.Request {
	b.Helper()
	got, err := world.receiver.Await(b.ctx, b.path(name), n)
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// onlyA fails if endpoint "a" gets more than n requests before a later event
// arrives.
func (b *bench) onlyA(n int) {
	b.Helper()
	b.arrivals("a", n)
	fence := b.post("fence", `{}`)
	for _, r := range b.arrivals("a", n+1)[n:] {
		if r.Header.Get("Webhook-Id") != fence.ID {
			b.Errorf("%s got more than %d requests; the next is of event %s", b.path("a"), n, r.Header.Get("Webhook-Id"))
		}
	}
}
