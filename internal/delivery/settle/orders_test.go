package settle_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/world"
)

// ordered is a world with an ordered endpoint, whose deliveries have two attempts.
type ordered struct {
	*world.World

	endpoint hook.Endpoint
	refuse   map[string]bool // the payloads that the receiver refuses
}

func newOrdered(t *testing.T, f world.Function, change func(e *hook.Endpoint)) *ordered {
	t.Helper()

	w := &ordered{World: world.New(t, world.Options{Function: f, Delays: []time.Duration{time.Minute}, Circuits: true}), refuse: make(map[string]bool)}
	w.endpoint = w.Endpoint(func(e *hook.Endpoint) {
		e.Ordered = true
		if change != nil {
			change(e)
		}
	})
	w.Answer = world.Status(func(r send.Request) int {
		if w.refuse[string(r.Event.Payload)] {
			return 400
		}
		return 200
	})
	return w
}

// post posts events with the key in one batch, with the payloads, and returns the deliveries that were
// accepted.
func (w *ordered) post(key string, payloads ...string) []hook.DeliveryRef {
	w.T.Helper()

	refs, err := w.tryPost(key, payloads...)
	if err != nil {
		w.T.Fatal(err)
	}
	return refs
}

func (w *ordered) tryPost(key string, payloads ...string) (refs []hook.DeliveryRef, fault error) {
	w.T.Helper()

	requests := make([]ingest.Request, len(payloads))
	for i, p := range payloads {
		requests[i] = ingest.Request{Type: "order.paid", Payload: []byte(p), OrderingKey: key, IdempotencyKey: p}
	}
	for _, r := range w.Acceptor().AcceptBatch(w.Context(), world.Tenant, requests) {
		if r.Err != nil {
			fault = r.Err
			continue
		}
		e, err := w.Store.Event(w.T.Context(), r.ID)
		if err != nil {
			w.T.Fatal(err)
		}
		ref, _ := e.Ref(w.endpoint.ID, 1)
		refs = append(refs, ref)
	}
	return refs, fault
}

// received returns the payloads in the order of their first requests.
func (w *ordered) received() (all []string) {
	for _, p := range w.Posts {
		if text := string(p.Event.Payload); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

func (w *ordered) sequence(key string) order.Sequence {
	w.T.Helper()

	s, err := w.Store.Sequence(w.T.Context(), world.Tenant, order.ID{Endpoint: w.endpoint.ID, Key: key})
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

func (w *ordered) orders() settle.Orders {
	return settle.Orders{Store: w.Store, Queue: w.Queue, Now: w.Clock.Now, Wait: world.NoWait}
}

// number returns the number of the event with the payload.
func (w *ordered) number(payload string) int64 {
	w.T.Helper()

	e, err := w.Store.Event(w.T.Context(), hook.KeyedEventID(world.Tenant, payload))
	if err != nil {
		w.T.Fatal(err)
	}
	return e.Numbers[w.endpoint.ID]
}

// eventOf returns the event of a delivery with a number.
func (w *ordered) eventOf(d hook.Delivery) hook.Event {
	return hook.Event{
		ID: d.ID.Event, Tenant: world.Tenant, Type: "order.paid", Payload: []byte("{}"), Nonce: "n", OrderingKey: d.OrderingKey,
		Numbers: map[hook.EndpointID]int64{w.endpoint.ID: d.Number}, AcceptedAt: w.Clock.Now(), ExpiresAt: w.Clock.Now().Add(world.Retention),
		Targets: []hook.Target{w.endpoint.Target()},
	}
}

// unstored returns new deliveries whose events are not stored.
func (w *ordered) unstored(n int) (all []hook.Delivery) {
	for i := range n {
		id := hook.DeliveryID{Event: hook.KeyedEventID(world.Tenant, fmt.Sprint("unstored", i))}
		all = append(all, hook.QueuedDelivery(w.eventOf(hook.Delivery{ID: id}), w.endpoint.Target()))
	}
	return all
}

func (w *ordered) want(what string, got, want any) {
	w.T.Helper()

	if got, want := fmt.Sprint(got), fmt.Sprint(want); got != want {
		w.T.Errorf("%s: %s; want %s", what, got, want)
	}
}

// change changes the stored endpoint.
func (w *ordered) change(change func(e *hook.Endpoint)) {
	w.T.Helper()

	e, err := w.Store.Endpoint(w.T.Context(), world.Tenant, w.endpoint.ID)
	if err == nil {
		change(&e)
		err = w.Store.UpdateEndpoint(w.T.Context(), e)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// tend is what happens within two hours without a post: the stream's records, and sweeps.
func (w *ordered) tend(refs ...hook.DeliveryRef) {
	w.T.Helper()

	for range 8 {
		w.RunFor(15 * time.Minute)
		b := w.Breaker()
		if err := b.Record(w.T.Context(), refs); err != nil {
			w.T.Fatal(err)
		}
		if err := b.Sweep(w.T.Context()); err != nil {
			w.T.Fatal(err)
		}
		w.Now()
	}
}

func TestOrders_OneAfterTheOther(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.post("a", "1", "2", "3")
	w.post("b", "4", "5")
	w.post("a", "6")
	w.want("before the first task", w.sequence("a").Head, 1)
	refs := w.post("a", "1") // again
	w.Run()
	w.want("posts", len(w.Posts), 6)
	var a, b []string
	for _, p := range w.Posts {
		text := fmt.Sprintf("%s=%d%v", p.Event.Payload, p.Event.Ordering.Number, p.Event.Ordering.Skipped)
		if p.Event.Ordering.Key == "a" {
			a = append(a, text)
		} else {
			b = append(b, text)
		}
	}
	w.want("key a", a, "[1=1[] 2=2[] 3=3[] 6=4[]]")
	w.want("key b", b, "[4=1[] 5=2[]]")
	w.want("a repeated post", w.Delivery(refs[0]).Number, 1)
	if s := w.sequence("a"); !s.Idle() || s.Last != 4 || s.Delivered != 4 {
		t.Errorf("the sequence is %+v; want idle after 4", s)
	}
}

func TestOrders_ADeadDeliveryBlocksOrIsSkipped(t *testing.T) {
	t.Parallel()

	for _, skip := range []bool{false, true} {
		t.Run(fmt.Sprintf("skip %t", skip), func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, func(e *hook.Endpoint) {
				if skip {
					e.OnFailure = hook.OnFailureSkip
				}
			})
			w.refuse["2"] = true
			refs := w.post("a", "1", "2", "3", "4")
			w.Run()
			if !skip {
				w.want("received", w.received(), "[1 2]")
				w.want("waiting", w.States(refs), "1 dead rejected, 1 delivered, 2 none")
				delete(w.refuse, "2")
				if _, err := w.Replayer().Delivery(w.T.Context(), world.Tenant, refs[1].DeliveryID, replay.Request{}); err != nil {
					t.Fatal(err)
				}
				w.Run()
			}
			w.want("received", w.received(), "[1 2 3 4]")
			for _, p := range w.Posts {
				want := "[]"
				if skip && string(p.Event.Payload) == "3" {
					want = "[2]"
				}
				w.want("skipped of "+string(p.Event.Payload), p.Event.Ordering.Skipped, want)
			}
		})
	}
}
