package porttest

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func replayCases() []storeCase {
	return []storeCase{
		{name: "a replayed delivery comes back with its replay request", run: replayedComesBack},
		{name: "a delivery comes back with its job, its job index and its note", run: jobOfDeliveryComesBack},
		{name: "tasks of replays load the previous generation, too", run: loadPredecessor},
		{name: "deliveries are read by their places, missing deliveries are omitted", run: deliveriesByRef},
		{name: "300 deliveries are read by their places at once", run: manyDeliveriesByRef},
	}
}

func newJobID(t *testing.T) hook.JobID {
	t.Helper()

	id := hook.NewJobID()
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
		got, err := s.Delivery(t.Context(), d.Ref())
		wantSame(t, "Delivery(replayed)", saved(d), got, err)
	}
}

func jobOfDeliveryComesBack(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 2)
	d.State, d.Reason = hook.StateDiscarded, hook.ReasonManual
	d.Job, d.JobIndex, d.By, d.Note = newJobID(t), 99_999, hook.NewKeyID(), `the shop "Zoë's" is closed <é> 😀`
	check(t, s.SaveDelivery(t.Context(), d, nil))
	got, err := s.Delivery(t.Context(), d.Ref())
	wantSame(t, "Delivery(discarded)", saved(d), got, err)
}

func loadPredecessor(t *testing.T, s StoreUnderTest) {
	e, endpoint := sampleEvent(t), sampleEndpoint("acme")
	check(t, s.PutEvent(t.Context(), e))
	check(t, s.CreateEndpoint(t.Context(), endpoint))
	endpoint.Version = 1
	want := emptySnapshot()
	want.Events[e.ID], want.Endpoints[endpoint.ID] = &e, &endpoint

	for generation := 1; generation <= 4; generation++ {
		d := sampleDelivery(e.ID, endpoint.ID, generation)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		if generation >= 3 {
			want.Deliveries[d.Ref()] = new(saved(d))
		}
	}
	newest := placeOf(e.ID, endpoint.ID, 4)
	queued := placeOf(e.ID, endpoint.ID, 5)
	tasks := []hook.Task{hook.NewTask("acme", newest, 2)}
	got, err := s.Load(t.Context(), tasks)
	wantSame(t, "Load(generation 4 of 4)", want, got, err)

	tasks = append(tasks, hook.NewTask("acme", queued, 1)) // 4 is the previous generation
	got, err = s.Load(t.Context(), tasks)
	wantSame(t, "Load(generations 4 and 5 of 4)", want, got, err)
}

func deliveriesByRef(t *testing.T, s StoreUnderTest) {
	event, endpoint := newEventID(t), hook.NewEndpointID()
	want := make(map[hook.DeliveryRef]hook.Delivery)
	for _, generation := range []int{1, 2, 3} {
		d := sampleDelivery(event, endpoint, generation)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		if generation != 2 {
			want[d.Ref()] = saved(d)
		}
	}
	one := placeOf(event, endpoint, 1)
	three := placeOf(event, endpoint, 3)
	unknown := placeOf(event, endpoint, 4)
	wantByRef(t, s, []hook.DeliveryRef{unknown, three, one, three}, want)
	wantByRef(t, s, []hook.DeliveryRef{unknown}, nil)
	wantByRef(t, s, nil, nil)
}

func manyDeliveriesByRef(t *testing.T, s StoreUnderTest) {
	var refs []hook.DeliveryRef
	want := make(map[hook.DeliveryRef]hook.Delivery)
	for range 300 {
		d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		refs = append(refs, d.Ref())
		want[d.Ref()] = saved(d)
	}
	wantByRef(t, s, refs, want)
}

// wantByRef reads the refs and compares the deliveries.
func wantByRef(t *testing.T, s StoreUnderTest, refs []hook.DeliveryRef, want map[hook.DeliveryRef]hook.Delivery) {
	t.Helper()

	got, err := s.DeliveriesByRef(t.Context(), refs)
	wantSame(t, "DeliveriesByRef", want, got, err)
}
