//go:build e2e

package localstack_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

func TestReplayOfOneDelivery(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil, receiver.Status(404), receiver.Status(404), receiver.Status(200))
	const payload = "{ \"n\":\t1 }"
	accepted := b.post("order.created", payload)
	first := b.one(accepted)
	b.await(first, "dead")

	second := b.replay(first, nil)
	b.refusedAs(http.StatusConflict, "already_replayed", "/deliveries/"+first+"/replay", nil)
	b.await(second.ID, "dead")
	if old := b.await(first, "discarded"); old.Reason != "replayed" || old.ReplayedAs != second.ID {
		t.Errorf("first generation = %+v; want it replayed by %s", old, second.ID)
	}
	third := b.replay(second.ID, nil)
	b.await(third.ID, "delivered")
	fourth := b.replay(third.ID, nil) // delivered deliveries, too, because the request names them
	if d := b.await(fourth.ID, "delivered"); d.Generation != 4 || d.Attempts != 1 {
		t.Errorf("fourth generation = %+v; want one attempt", d)
	}
	for i, r := range b.arrivals("a", 4) {
		if r.Header.Get("Webhook-Id") != accepted.ID || string(r.Body) != payload || !r.Genuine() {
			t.Errorf("generation %d = event %s, %q, signature %v; want event %s, %q, well signed",
				i+1, r.Header.Get("Webhook-Id"), r.Body, r.Verified, accepted.ID, payload)
		}
	}
	b.onlyA(4)
}

func TestAForcedReplayReplacesADeliveryInProgress(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"retry": schedule("2s"), "event_types": []string{"order.*", "fence"}}, receiver.Status(503), receiver.Status(200))
	first := b.postOne()
	b.await(first, "retrying")
	b.refusedAs(http.StatusConflict, "in_progress", "/deliveries/"+first+"/replay", nil)
	second := b.replay(first, map[string]any{"force": true})
	b.await(second.ID, "delivered")
	if old := b.await(first, "cancelled"); old.Reason != "replayed" || old.ReplayedAs != second.ID || old.Attempts != 1 {
		t.Errorf("first generation = %+v; want it replaced by %s after one attempt", old, second.ID)
	}
	b.afterARetry()
	b.onlyA(2)
}

func TestReplayOfAnEvent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("well", nil)
	b.endpoint("ill", nil, receiver.Status(404), receiver.Status(200))
	slow := b.endpoint("slow", map[string]any{"retry": schedule("10m")}, receiver.Status(503))
	event := b.post("order.created", `{}`)
	for _, d := range b.deliveries(event) {
		b.awaitOneOf(d.ID, "delivered", "dead", "retrying")
	}

	var out struct {
		Data []struct {
			stack.Delivery

			DeliveryID string `json:"delivery_id"`
			Error      struct {
				Code string `json:"code"`
			} `json:"error"`
		} `json:"data"`
	}
	b.call(http.MethodPost, "/events/"+event.ID+"/replay", nil, http.StatusMultiStatus, &out)
	if len(out.Data) != 3 {
		t.Fatalf("results = %+v; want one per delivery", out.Data)
	}
	for _, r := range out.Data {
		if r.Endpoint == slow.ID {
			if r.Error.Code != "in_progress" {
				t.Errorf("result of a retrying delivery = %+v; want in_progress", r)
			}
			continue
		}
		if d := b.await(r.ID, "delivered"); d.Generation != 2 {
			t.Errorf("replay = %+v; want generation 2", d)
		}
	}
	for _, name := range []string{"well", "ill"} {
		b.arrivals(name, 2)
	}
}

func TestADiscardedDeliveryIsNoDeadLetter(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", nil, receiver.Status(404))
	id := b.postOne()
	b.await(id, "dead")
	b.refusedAs(http.StatusBadRequest, "invalid", "/deliveries/"+id+"/discard", []byte(`{}`))
	b.call(http.MethodPost, "/deliveries/"+id+"/discard", map[string]any{"note": "they left"}, http.StatusOK, nil)
	if d := b.await(id, "discarded"); d.Reason != "manual" || d.Note != "they left" {
		t.Errorf("delivery = %+v; want it discarded with its note", d)
	}
	b.awaitListed(e.ID, "dead", 0)
	b.refusedAs(http.StatusConflict, "conflict", "/deliveries/"+id+"/cancel", nil)
	b.onlyA(1)
}

func TestACancelledRetryIsNotMade(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"retry": schedule("2s"), "event_types": []string{"order.*", "fence"}}, receiver.Status(503), receiver.Status(200))
	id := b.postOne()
	b.await(id, "retrying")
	b.call(http.MethodPost, "/deliveries/"+id+"/cancel", map[string]any{"note": "sent by hand"}, http.StatusOK, nil)
	b.afterARetry()
	if d := b.await(id, "cancelled"); d.Reason != "manual" || d.Note != "sent by hand" || d.Attempts != 1 {
		t.Errorf("delivery = %+v; want it cancelled after its one attempt", d)
	}
	b.onlyA(1)
}

// TestANativeRedriveIsAReplay moves dead letters to the retry queue. The test
// reads the depth of a shared queue, so it runs before the concurrent tests.
func TestANativeRedriveIsAReplay(t *testing.T) { //nolint:paralleltest // see above
	const n = 3
	b := setup(t)
	e := b.endpoint("a", nil, receiver.Status(401))
	b.postMany(n)
	dead := b.awaitListed(e.ID, "dead", n)
	for _, d := range dead {
		b.wantDeadLetter(d.ID, "rejected", 1, http.StatusUnauthorized)
	}
	before := b.depth()
	world.receiver.Script(b.path("a"), receiver.Status(http.StatusOK))
	if err := world.deadLetters.redrive(b.ctx, e.ID, world.stack.RetryQueueURL, n); err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for _, r := range b.arrivals("a", 2*n) {
		id, body := r.Header.Get("Webhook-Id"), fmt.Sprintf("%q", r.Body)
		if had, again := first[id]; again && had != body {
			t.Errorf("event %s came as %s and as %s; want the same bytes", id, had, body)
		}
		first[id] = body
	}
	if len(first) != n {
		t.Errorf("%d events came; want %d, twice each", len(first), n)
	}
	for _, d := range dead {
		old := b.await(d.ID, "discarded")
		if got := b.await(old.ReplayedAs, "delivered"); got.Generation != 2 || got.Attempts != 1 {
			t.Errorf("delivery = %+v; want it delivered as generation 2", got)
		}
	}
	if got := b.depth(); got != before-n {
		t.Errorf("the queue holds %d letters after the redrive, %d before; want %d less", got, before, n)
	}
	b.renew()
	b.reconciled()
	b.onlyA(2 * n)
}

// replay replays one delivery and returns its next generation.
func (b *bench) replay(delivery string, in any) stack.Delivery {
	b.Helper()
	var next stack.Delivery
	b.call(http.MethodPost, "/deliveries/"+delivery+"/replay", in, http.StatusAccepted, &next)
	if old := b.deliveryNow(delivery); next.Generation != old.Generation+1 || old.ReplayedAs != next.ID || next.Event != old.Event {
		b.Fatalf("replay of %+v = %+v; want its next generation", old, next)
	}
	return next
}

func (b *bench) deliveryNow(id string) stack.Delivery {
	b.Helper()
	d, err := world.api.Delivery(b.ctx, b.tenant, id)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func (b *bench) depth() int {
	b.Helper()
	n, err := world.deadLetters.depth(b.ctx)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// awaitOneOf waits until the delivery is in one of the states.
func (b *bench) awaitOneOf(id string, states ...string) {
	b.Helper()
	b.until(fmt.Sprintf("%s is one of %v", id, states), func() bool { return slices.Contains(states, b.deliveryNow(id).State) })
}

// afterARetry waits for a two-second retry of a delivery with a later failure
// than all others. The other deliveries' retries would have come by then.
func (b *bench) afterARetry() {
	b.Helper()
	b.endpoint("fence", map[string]any{"retry": schedule("2s"), "event_types": []string{"fence.retry"}}, receiver.Status(503), receiver.Status(200))
	b.post("fence.retry", `{}`)
	b.arrivals("fence", 2)
}
