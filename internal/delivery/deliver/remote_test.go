package deliver_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

// place stands for the senders of other origins: it posts to the receiver, and then returns the
// error.
type place struct {
	w      *world.World
	posts  bool  // the request is made before the error
	err    error // of the call
	calls  int
	region string
}

func (p *place) Send(_ context.Context, r send.Request) (hook.Outcome, error) {
	p.calls++
	p.region = r.Endpoint.Region
	if !p.posts {
		return hook.Outcome{}, p.err
	}
	p.w.Posts = append(p.w.Posts, world.Post{Request: r, At: p.w.Clock.Now()})
	o := p.w.Answer(r)
	o.Region = r.Endpoint.Region
	if p.err != nil {
		return hook.Outcome{}, p.err
	}
	return o, nil
}

var (
	errThrottled = fmt.Errorf("%w: throttled", send.ErrNotSent)
	errBroken    = errors.New("the connection broke")
)

// bus is an AWS destination that takes every event.
type bus struct{ w *world.World }

func (b bus) Send(_ context.Context, r send.Request) hook.Outcome {
	b.w.Posts = append(b.w.Posts, world.Post{Request: r, At: b.w.Clock.Now()})
	return b.w.Answer(r)
}

func elsewhere(e *hook.Endpoint) { e.Region = "us-east-1" }
func fixed(e *hook.Endpoint)     { e.Fixed = true }
func inside(e *hook.Endpoint)    { e.SetOrigin("", hook.EgressPrivate) }

func TestProcessBatch_sendsFromTheEndpointsPlace(t *testing.T) {
	t.Parallel()

	for name, edit := range map[string]func(*hook.Endpoint){"another region": elsewhere, "fixed addresses": fixed, "private network": inside} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			p := &place{w: w.World, posts: true}
			w.Remote = p
			e := w.Endpoint(edit)
			id := w.Post(e)[0]
			w.Run()
			d := w.Delivery(id)
			if d.State != hook.StateDelivered || p.calls != 1 || len(w.Posts) != 1 || d.Last.Region != e.Region || p.region != e.Region {
				t.Errorf("%s after %d calls and %d posts from %q; want delivered by one call from %q", d.State, p.calls, len(w.Posts), d.Last.Region, e.Region)
			}
			if log := w.Log.String(); strings.Contains(log, `"region":"`+cmp.Or(e.Region, "us-east-1")+`"`) != (e.Region != "") {
				t.Errorf("the log names another region than %q:\n%s", e.Region, log)
			}
		})
	}
}

// If the sender did not run, nothing was sent: the deployment's own region makes the attempt, and
// the fallback is counted.
func TestProcessBatch_fallsBackBeforeTheSenderRan(t *testing.T) {
	t.Parallel()

	for name, sender := range map[string]attempt.Remote{"throttled": &place{err: errThrottled}, "no senders": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Remote = sender
			id := w.Post(w.Endpoint(elsewhere))[0]
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 1 || len(w.Posts) != 1 || d.Last.Region != "" {
				t.Errorf("%s after %d attempts and %d posts from %q; want delivered at once from the own region", d.State, d.Attempts, len(w.Posts), d.Last.Region)
			}
			if log := w.Log.String(); !strings.Contains(log, `"msg":"sender.fell_back"`) || !strings.Contains(log, `"sender_fallbacks":1`) || !strings.Contains(log, `["environment","region"]`) {
				t.Errorf("the fallback is not counted by region:\n%s", log)
			}
		})
	}
}

// For fixed addresses and the private network there is no fallback: nothing is sent or recorded, and
// the message comes again until the sender runs. Without the sender of the private network, or in a
// build that does not know it, it is a region without a sender.
func TestProcessBatch_onlyOriginsNeverFallBack(t *testing.T) {
	t.Parallel()

	signer := &send.Sender{Now: time.Now}
	unknown := &remote.Sender{Signer: signer, Invoker: memory.Senders{"": {Sender: signer}, "us-east-1": {Sender: signer}}, Now: time.Now}
	for name, tt := range map[string]struct {
		edit   func(*hook.Endpoint)
		sender attempt.Remote
	}{
		"fixed addresses": {fixed, &place{err: errThrottled}}, "private network": {inside, &place{err: errThrottled}},
		"no private sender": {inside, unknown}, "no sender at all": {inside, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Remote = tt.sender
			id := w.Post(w.Endpoint(tt.edit))[0]
			if received, failed := w.Invoke(hook.QueueLive); received != 1 || failed != 1 || len(w.Posts) != 0 {
				t.Fatalf("received %d, failed %d, %d posts; want the message back without a post", received, failed, len(w.Posts))
			}
			if states := w.States([]hook.DeliveryRef{id}); states != "1 none" {
				t.Fatalf("the delivery is recorded: %s; want no record", states)
			}
			w.Remote = &place{w: w.World, posts: true}
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 1 || len(w.Posts) != 1 {
				t.Errorf("%s after %d attempts and %d posts; want delivered by the first attempt", d.State, d.Attempts, len(w.Posts))
			}
		})
	}
}

// A deployment that no longer has AWS destinations loses no delivery: the attempts fail, and a
// retry delivers when the destinations are back.
func TestProcessBatch_destinationInAWS(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.Destination = hook.Destination{Type: "sqs", ExternalID: "x"} }))[0]
	w.Invoke(hook.QueueLive)
	if d := w.Delivery(id); d.State != hook.StateRetrying || d.Last.Class != hook.ClassBlocked || len(w.Posts) != 0 {
		t.Fatalf("%s after %s and %d posts; want a retry after blocked, and no post", d.State, d.Last.Class, len(w.Posts))
	}
	w.AWS = bus{w.World}
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) != 1 {
		t.Errorf("%s after %d posts; want delivered", d.State, len(w.Posts))
	}
}

// If the answer is lost, nobody knows whether the endpoint received the request. The attempt
// counts as failed, no other origin repeats it at once, and the retry delivers.
func TestProcessBatch_lostAnswerIsATransientOutcome(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		edit  func(*hook.Endpoint)
		err   error
		class hook.Class
	}{
		{name: "a broken connection", edit: elsewhere, err: errBroken, class: hook.ClassReset},
		{name: "the deadline", edit: elsewhere, err: fmt.Errorf("invoke: %w", context.DeadlineExceeded), class: hook.ClassTimeout},
		{name: "fixed addresses", edit: fixed, err: errBroken, class: hook.ClassReset},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			p := &place{w: w.World, posts: true, err: tt.err}
			w.Remote = p
			e := w.Endpoint(tt.edit)
			id := w.Post(e)[0]
			w.Invoke(hook.QueueLive)
			d := w.Delivery(id)
			if d.State != hook.StateRetrying || d.Last.Class != tt.class || d.Last.Region != e.Region || len(w.Posts) != 1 {
				t.Fatalf("%s, %s from %q after %d posts; want retrying, %s from %q after one", d.State, d.Last.Class, d.Last.Region, len(w.Posts), tt.class, e.Region)
			}
			if log := w.Log.String(); !strings.Contains(log, `"sender_answers_lost":1`) || strings.Contains(log, `["environment","region"]`) != (e.Region != "") {
				t.Errorf("the lost answer is not counted, for the region %q:\n%s", e.Region, log)
			}
			p.err = nil
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) != 2 {
				t.Errorf("%s after %d posts; want delivered after the duplicate", d.State, len(w.Posts))
			}
		})
	}
}

// An attempt from another origin also needs time for the way there and back.
func TestProcessBatch_remoteLeavesTimeToSettle(t *testing.T) {
	t.Parallel()

	w := setup(t)
	p := &place{w: w.World, posts: true}
	w.Remote = p
	w.Post(w.Endpoint(elsewhere))
	m := w.Queue.Receive(hook.QueueLive, 1)[0]
	need := hook.DefaultTimeout + 10*time.Second
	if failed := w.Deliverer().ProcessBatch(invocation{w.Context(), w.Clock.Now().Add(need - 1)}, batchOf(m)); len(failed) != 1 || p.calls != 0 {
		t.Errorf("failed %v after %d calls; want the message to come again untried", failed, p.calls)
	}
	if failed := w.Deliverer().ProcessBatch(invocation{w.Context(), w.Clock.Now().Add(need)}, batchOf(m)); failed != nil || p.calls != 1 {
		t.Errorf("failed %v after %d calls; want the attempt with just enough time", failed, p.calls)
	}
}

// slowRefusal uses up time of the invocation, and then refuses.
type slowRefusal struct{ w *world.World }

func (s slowRefusal) Send(context.Context, send.Request) (hook.Outcome, error) {
	s.w.Clock.Until(s.w.Clock.Now().Add(6 * time.Second))
	return hook.Outcome{}, errThrottled
}

// After a late refusal there is no time for an attempt from the deployment's own region: the
// message comes again.
func TestProcessBatch_fallsBackOnlyInTime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Remote = slowRefusal{w.World}
	w.Post(w.Endpoint(elsewhere))
	m := w.Queue.Receive(hook.QueueLive, 1)[0]
	ctx := invocation{w.Context(), w.Clock.Now().Add(hook.DefaultTimeout + 10*time.Second)}
	if failed := w.Deliverer().ProcessBatch(ctx, batchOf(m)); len(failed) != 1 || len(w.Posts) != 0 {
		t.Errorf("failed %v after %d posts; want the message to come again, without a post", failed, len(w.Posts))
	}
}

// Function deliver dies at each effect around an attempt from another region.
func TestProcessBatch_remoteCrashLosesNothing(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		for n := 1; n <= 6; n++ {
			t.Run(fmt.Sprintf("effect %d, after %t", n, after), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				w.Remote = &place{w: w.World, posts: true}
				w.Answer = world.InTurn(503, 200)
				w.Crash.Arm(n, after)
				id := w.Post(w.Endpoint(elsewhere))[0]
				w.Run()
				if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) > 3 {
					t.Errorf("%s after %d posts; want delivered, with one duplicate at most", d.State, len(w.Posts))
				}
			})
		}
	}
}
