package status_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

// ordered is an ordered endpoint with events of one ordering key, numbered from 1.
type ordered struct {
	*bundle

	endpoint hook.Endpoint
	refs     []hook.DeliveryRef // by number
}

func newOrdered(t *testing.T, n int) ordered {
	t.Helper()

	o := ordered{bundle: setup(t), refs: make([]hook.DeliveryRef, n+1)}
	o.endpoint = o.create(t)
	for number := 1; number <= n; number++ {
		e := hook.Event{
			ID: hook.KeyedEventID(tenant, strconv.Itoa(number)), Tenant: tenant, Type: "order.paid", Payload: []byte("{}"), AcceptedAt: o.now, ExpiresAt: o.now.Add(15 * 24 * time.Hour),
			Targets: []hook.Target{o.endpoint.Target()}, OrderingKey: "cart-7", Numbers: map[hook.EndpointID]int64{o.endpoint.ID: int64(number)},
		}
		if err := o.store.PutEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		o.refs[number], _ = e.Ref(o.endpoint.ID, 1)
	}
	return o
}

// turn stores the sequence with its head, which may be unknown.
func (o ordered) turn(t *testing.T, head int64, member hook.DeliveryRef) {
	t.Helper()

	s, err := o.store.Sequence(t.Context(), tenant, order.ID{Endpoint: o.endpoint.ID, Key: "cart-7"})
	if err == nil {
		s.Last, s.Head, s.Member, s.TurnAt = int64(len(o.refs)-1), head, member, o.now
		err = o.store.SaveSequence(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// end stores the delivery in the state.
func (o ordered) end(t *testing.T, number int, state hook.State) hook.Delivery {
	t.Helper()

	d := o.find(t, o.refs[number]).Delivery
	d.State, d.Attempts, d.UpdatedAt = state, 1, o.now.Add(time.Minute)
	if state == hook.StateDead {
		d.Reason = hook.ReasonExhausted
	}
	if err := o.store.SaveDelivery(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
	return o.find(t, o.refs[number]).Delivery
}

func (o ordered) find(t *testing.T, ref hook.DeliveryRef) status.DeliveryDetail {
	t.Helper()

	detail, err := o.Delivery(t.Context(), tenant, ref.DeliveryID)
	if err != nil {
		t.Fatal(err)
	}
	return detail
}

func (o ordered) blocking(t *testing.T) (all []status.Blocking) {
	t.Helper()

	list, err := o.Blocking(t.Context(), tenant, status.DeliveryFilter{Endpoint: string(o.endpoint.ID)}, page.Request{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return list.Data
}

func TestReader_Delivery_inOrder(t *testing.T) {
	t.Parallel()

	o := newOrdered(t, 5)
	since := o.now.Add(time.Minute)
	check := func(what string, number int, want status.Standing) {
		t.Helper()
		got := o.find(t, o.refs[number])
		if diff := cmp.Diff(want, got.Standing); diff != "" {
			t.Errorf("%s: standing of number %d (-want +got):\n%s", what, number, diff)
		}
		if want.WaitsFor != nil && !got.GivesUpAt.IsZero() {
			t.Errorf("%s: number %d gives up at %s; want no time before its turn", what, number, got.GivesUpAt)
		}
	}
	check("without a record of the sequence", 3, status.Standing{})

	o.end(t, 1, hook.StateDelivered)
	o.turn(t, 2, hook.DeliveryRef{})
	check("delivered", 1, status.Standing{})
	check("a head that nobody knows", 3, status.Standing{WaitsFor: &status.WaitsFor{Number: 2, State: hook.StateQueued, Since: o.now}})
	check("a head that nobody knows, by itself", 2, status.Standing{Head: true, Behind: 3})

	o.turn(t, 2, o.refs[2])
	check("a queued head", 5, status.Standing{WaitsFor: &status.WaitsFor{Number: 2, ID: o.refs[2].DeliveryID, State: hook.StateQueued, Since: o.now}})

	dead := o.end(t, 2, hook.StateDead)
	check("a dead head", 2, status.Standing{Head: true, Behind: 3})
	check("behind a dead head", 5, status.Standing{WaitsFor: &status.WaitsFor{Number: 2, ID: o.refs[2].DeliveryID, State: hook.StateDead, Reason: hook.ReasonExhausted, Since: since}})

	o.end(t, 4, hook.StateDead)
	check("dead before its turn", 4, status.Standing{})

	replayed, err := dead.Replay(hook.ReplayRequest{By: "key_1"}, since)
	if err == nil {
		err = o.store.SaveDelivery(t.Context(), replayed, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	next := replayed.Successor()
	check("replayed", 2, status.Standing{})
	check("behind a replay", 3, status.Standing{WaitsFor: &status.WaitsFor{Number: 2, ID: next.DeliveryID, State: hook.StateQueued, Since: o.now}})
}

func TestReader_Blocking(t *testing.T) {
	t.Parallel()

	o := newOrdered(t, 5)
	o.end(t, 1, hook.StateDead) // and passed
	dead := o.end(t, 2, hook.StateDead)
	o.turn(t, 2, o.refs[2])
	got := o.blocking(t)
	if len(got) != 1 || got[0].ID != dead.ID || got[0].Standing != (status.Standing{Head: true, Behind: 3}) {
		t.Fatalf("Blocking = %+v; want number 2 with three behind it", got)
	}
	o.turn(t, 3, o.refs[3])
	if got := o.blocking(t); len(got) != 0 {
		t.Errorf("Blocking of a sequence that moved on = %+v; want none", got)
	}
	o.turn(t, 2, o.refs[2])
	replayed, err := dead.Replay(hook.ReplayRequest{By: "key_1"}, o.now)
	if err == nil {
		err = o.store.SaveDelivery(t.Context(), replayed, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := o.blocking(t); len(got) != 0 {
		t.Errorf("Blocking after the replay = %+v; want none", got)
	}
}
