//go:build e2e && chaos

package localstack_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
	"surehook.example/surehook/localstack/tools/strict"
)

const (
	// chaosEvents is the number of events posted during the kills.
	chaosEvents = 500
	// chaosLimit bounds the whole test.
	chaosLimit = 15 * time.Minute
	// chaosVisible is the visibility timeout in this test. The stack's own six
	// minutes are for the longest invocations. 30 s is well above a batch's
	// time here, so only a kill causes a second receive.
	chaosVisible = 30 * time.Second
	// chaosAfter is how long kills go on after the last accepted event, so that they also hit
	// retries and releases.
	chaosAfter = 20 * time.Second
	// chaosPassed is the time between two posts to each ordering key in the end.
	chaosPassed = time.Minute
	// chaosCopies and chaosThrottle are probabilities per request during the
	// kills: every sent message may arrive twice, and DynamoDB may throttle.
	chaosCopies   = 0.05
	chaosThrottle = 0.05
)

var errChaosTooLong = errors.New("the chaos test exceeded its time limit")

// TestChaos kills function processes at random with SIGKILL while the test
// posts events to endpoints of every behavior. The strict front sends messages
// twice and throttles requests. After the last kill, the API's
// record of each delivery must match the receiver's requests.
//
// CHAOS_SEED repeats a run's random choices: victims, times and events. The
// effect of a kill depends on the machine, so two runs with one seed can
// differ.
func TestChaos(t *testing.T) { //nolint:paralleltest // the test needs the stack alone
	if world.emulator.Attached {
		t.Skip("chaos kills processes of an emulator that the test started")
	}
	c := newChaos(t)
	c.hideBriefly()
	c.open()
	world.emulator.Front.Inject(strict.Faults{Seed: c.seed, Copies: chaosCopies, Throttle: chaosThrottle})
	c.storm()
	c.calm()
	c.account()
}

// chaos is the state of the test.
type chaos struct {
	*bench

	seed      uint64
	endpoints []*chaosEndpoint
	posts     []chaosPost // by the event's number
	kills     []kill
	copied    map[string]bool // delivery and attempt of the tasks sent twice
}

// chaosPost is the result of one event's posts.
type chaosPost struct {
	stack.Accepted

	kind  int // of the event's type
	posts int // until it was accepted
}

func newChaos(t *testing.T) *chaos {
	t.Helper()
	c := &chaos{bench: setup(t), seed: uint64(time.Now().UnixNano()), posts: make([]chaosPost, chaosEvents)}
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("read CHAOS_SEED: %v", err)
		}
		c.seed = seed
	}
	t.Logf("repeat with: make chaos CHAOS_SEED=%d", c.seed)
	ctx, cancel := context.WithTimeoutCause(t.Context(), chaosLimit, errChaosTooLong)
	t.Cleanup(cancel)
	c.ctx = ctx
	return c
}

// dice returns a source of randomness for the purpose. Purposes run concurrently, so each has its
// own.
func (c *chaos) dice(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, purpose)) }

// hideBriefly shortens the queues' visibility timeout, so that messages come again soon after a
// killed invocation.
func (c *chaos) hideBriefly() {
	c.Helper()
	client := sqs.NewFromConfig(world.stack.AWS)
	list, err := client.ListQueues(c.ctx, &sqs.ListQueuesInput{})
	if err != nil {
		c.Fatal(err)
	}
	for _, url := range list.QueueUrls { // the dead letters have no consumer
		if slices.Contains([]string{world.stack.DeadLettersURL, world.stack.UndeliverableURL, world.stack.UndeliverableRetryURL}, url) {
			continue
		}
		if _, err := client.SetQueueAttributes(c.ctx, &sqs.SetQueueAttributesInput{
			QueueUrl:   &url,
			Attributes: map[string]string{"VisibilityTimeout": strconv.Itoa(int(chaosVisible / time.Second))},
		}); err != nil {
			c.Fatal(err)
		}
	}
}

// storm posts the events, switches an endpoint off and on, and kills processes.
func (c *chaos) storm() {
	c.Helper()
	began := time.Now()
	storm, end := context.WithCancel(c.ctx)
	defer end()
	var work errgroup.Group
	work.Go(func() error { return c.kill(storm) })
	work.Go(func() error { return c.switchOffAndOn(storm) })
	err := c.postAll(storm)
	c.Logf("%d events were accepted within %v", chaosEvents, time.Since(began).Round(time.Second))
	pause(storm, chaosAfter)
	end()
	if err := errors.Join(err, work.Wait()); err != nil {
		c.Fatal(err)
	}
	c.Logf("%d kills within %v: %v", len(c.kills), time.Since(began).Round(time.Second), countBy(c.kills, func(k kill) string { return k.function }))
}

// calm waits until all deliveries are settled and the queues are empty, so that late second tasks
// have arrived. The flapping endpoint stays healthy from now on, because otherwise its final
// states would depend on chance. A killed probe keeps the circuit open until its lease ends, two
// minutes later.
func (c *chaos) calm() {
	c.Helper()
	began := time.Now()
	world.emulator.Front.Inject(strict.Faults{})
	world.receiver.Decide(c.path("flapping"), always(receiver.Status(http.StatusOK)))
	unsettled := map[int]bool{}
	for n := range c.posts {
		unsettled[n] = true
	}
	posted := began
	c.until("all deliveries are settled", func() bool {
		if time.Since(posted) > chaosPassed {
			posted = time.Now()
			for _, n := range c.postTo(inOrder) {
				unsettled[n] = true
			}
		}
		for n := range unsettled {
			if !c.settled(n) {
				return false
			}
			delete(unsettled, n)
		}
		return true
	})
	c.Logf("all deliveries were settled %v after the last kill", time.Since(began).Round(time.Second))
	queues := map[string]string{
		"live": world.stack.LiveQueueURL, "retry": world.stack.RetryQueueURL, "slot": world.stack.SlotQueueURL, "overflow": world.stack.OverflowQueueURL, "coalesce": world.stack.CoalesceQueueURL,
	}
	for name, url := range queues {
		queue := deadLetters{client: world.deadLetters.client, url: url}
		c.until("the "+name+" queue is empty", func() bool {
			depth, err := queue.depth(c.ctx)
			if err != nil {
				c.Fatal(err)
			}
			return depth == 0
		})
	}
	c.Logf("the queues were empty %v after the last kill", time.Since(began).Round(time.Second))
}

// settled reports whether all deliveries of the event are in a final state.
func (c *chaos) settled(n int) bool {
	c.Helper()
	for _, d := range c.deliveries(c.posts[n].Accepted) {
		e := c.endpointOf(d)
		parked := e.parks && d.State == "parked" && d.Reason == "circuit_open"
		if d.State != e.state && !parked {
			return false
		}
	}
	return true
}

// pause waits, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// countBy counts the values by name.
func countBy[T any](values []T, name func(T) string) map[string]int {
	counts := map[string]int{}
	for _, v := range values {
		counts[name(v)]++
	}
	return counts
}

// The request headers for the comparison.
const (
	deliveryHeader = "X-Webhook-Delivery"
	attemptHeader  = "X-Webhook-Attempt"
)
