package porttest

import (
	"testing"
	"time"

	"surehook/internal/hook"
)

func replayCases() []storeCase {
	return []storeCase{
		{name: "a replayed delivery comes back with its replay request", run: replayedComesBack},
		{name: "a delivery comes back with its job, its job index and its note", run: jobOfDeliveryComesBack},
		{name: "tokens of replays load the previous generation, too", run: loadPredecessor},
		{name: "deliveries are read by their ids, missing deliveries are omitted", run: deliveriesByID},
		{name: "300 deliveries are read by their ids at once", run: manyDeliveriesByID},
	}
}

func newJobID(t *testing.T) hook.JobID {
	t.Helper()

	id, err := hook.NewJobID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func replayedComesBack(t *testing.T, s StoreUnderTest) {
	requests := []hook.ReplayRequest{
		{By: hook.NewKeyID(), Job: newJobID(t), JobIndex: 123_456, Force: true},
		{By: hook.NewKeyID()},
		{Redrive: true},
		{},
	}
	for i, request := range requests {
		d := sampleDelivery(newEventID(t), hook.NewEndpointID(), i+1)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		d = saved(d)
		given := d
		d.Replayed = hook.Replayed{ReplayRequest: request, Generation: i + 2, At: storeEpoch().Add(time.Hour)}
		given.Replayed = d.Replayed
		given.Replayed.At = d.Replayed.At.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
		check(t, s.SaveDelivery(t.Context(), given, nil))
		got, err := s.Delivery(t.Context(), d.ID)
		wantSame(t, "Delivery(replayed)", saved(d), got, err)
	}
}

func jobOfDeliveryComesBack(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 2)
	d.State, d.Reason = hook.StateDiscarded, hook.ReasonManual
	d.Job, d.JobIndex, d.By, d.Note = newJobID(t), 99_999, hook.NewKeyID(), `the shop "Zoë's" is closed <é> 😀`
	check(t, s.SaveDelivery(t.Context(), d, nil))
	got, err := s.Delivery(t.Context(), d.ID)
	wantSame(t, "Delivery(discarded)", saved(d), got, err)
}

func loadPredecessor(t *testing.T, s StoreUnderTest) {
	e, endpoint := sampleEvent(t), sampleEndpoint("acme")
	check(t, s.PutEvent(t.Context(), e))
	check(t, s.CreateEndpoint(t.Context(), endpoint))
	endpoint.Version = 1
	want := emptySnapshot()
	want.Events[e.ID], want.Endpoints[endpoint.ID] = e, endpoint

	for generation := 1; generation <= 4; generation++ {
		d := sampleDelivery(e.ID, endpoint.ID, generation)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		if generation >= 3 {
			want.Deliveries[d.ID] = saved(d)
		}
	}
	newest := hook.DeliveryID{Event: e.ID, Endpoint: endpoint.ID, Generation: 4}
	queued := hook.DeliveryID{Event: e.ID, Endpoint: endpoint.ID, Generation: 5}
	tokens := []hook.Token{hook.NewToken("acme", newest, 2)}
	got, err := s.Load(t.Context(), tokens)
	wantSame(t, "Load(generation 4 of 4)", want, got, err)

	tokens = append(tokens, hook.NewToken("acme", queued, 1)) // 4 is the previous generation
	got, err = s.Load(t.Context(), tokens)
	wantSame(t, "Load(generations 4 and 5 of 4)", want, got, err)
}

func deliveriesByID(t *testing.T, s StoreUnderTest) {
	event, endpoint := newEventID(t), hook.NewEndpointID()
	want := make(map[hook.DeliveryID]hook.Delivery)
	for _, generation := range []int{1, 2, 3} {
		d := sampleDelivery(event, endpoint, generation)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		if generation != 2 {
			want[d.ID] = saved(d)
		}
	}
	one := hook.DeliveryID{Event: event, Endpoint: endpoint, Generation: 1}
	three := hook.DeliveryID{Event: event, Endpoint: endpoint, Generation: 3}
	unknown := hook.DeliveryID{Event: event, Endpoint: endpoint, Generation: 4}
	wantByID(t, s, []hook.DeliveryID{unknown, three, one, three}, want)
	wantByID(t, s, []hook.DeliveryID{unknown}, nil)
	wantByID(t, s, nil, nil)
}

func manyDeliveriesByID(t *testing.T, s StoreUnderTest) {
	var ids []hook.DeliveryID
	want := make(map[hook.DeliveryID]hook.Delivery)
	for range 300 {
		d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		ids = append(ids, d.ID)
		want[d.ID] = saved(d)
	}
	wantByID(t, s, ids, want)
}

// wantByID reads the ids and compares the deliveries: each once, in any order.
func wantByID(t *testing.T, s StoreUnderTest, ids []hook.DeliveryID, want map[hook.DeliveryID]hook.Delivery) {
	t.Helper()

	list, err := s.DeliveriesByID(t.Context(), ids)
	got := make(map[hook.DeliveryID]hook.Delivery)
	for _, d := range list {
		got[d.ID] = d
	}
	wantSame(t, "DeliveriesByID", want, got, err)
	if len(list) != len(want) {
		t.Errorf("DeliveriesByID(%d ids) has %d deliveries; want %d", len(ids), len(list), len(want))
	}
}
