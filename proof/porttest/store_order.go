package porttest

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

func orderCases() []storeCase {
	return []storeCase{
		{name: "a sequence comes back as its next version", run: sequenceComesBack},
		{name: "of 20 racing saves of a sequence exactly one wins", run: sequenceRace},
		{name: "due sequences are listed by their looks", run: dueSequences},
		{name: "the next place is the first of a range", run: nextPlace},
		{name: "a place that is stored stays", run: placeStays},
		{name: "a task of an ordered delivery loads its sequence", run: sequenceLoaded},
	}
}

func sampleSequence() order.Sequence {
	return order.Sequence{
		ID: order.ID{Endpoint: hook.NewEndpointID(), Key: "customer#7"}, Tenant: "acme", Last: 9, Head: 7, Member: samplePlace(7).Delivery,
		TurnAt: storeEpoch(), Delivered: 4, MovedBy: 6, Retention: hook.MinRetention,
	}
}

func samplePlace(number int64) order.Place {
	id := hook.DeliveryID{Event: hook.KeyedEventID("acme", "order"), Endpoint: "ep_0123456789abcdef", Generation: 2}
	return order.Place{
		Number: number, Delivery: hook.DeliveryRef{DeliveryID: id, AcceptedAt: storeEpoch().UnixMilli(), Shard: 3}, Tenant: "acme",
		GivenAt: storeEpoch(), ExpiresAt: storeExpiry(),
	}
}

func sequenceComesBack(t *testing.T, s StoreUnderTest) {
	want := sampleSequence()
	got, err := s.Sequence(t.Context(), want.Tenant, want.ID)
	wantSame(t, "Sequence() without a record", order.New(want.ID, want.Tenant), got, err)
	for want.Version < 9 {
		check(t, s.SaveSequence(t.Context(), want))
		want.Version++
		got, err = s.Sequence(t.Context(), want.Tenant, want.ID)
		wantSame(t, "Sequence()", want, got, err)
		want.Last++
	}
	idle := got
	idle.Head, idle.Member = got.Last+1, hook.DeliveryRef{}
	check(t, s.SaveSequence(t.Context(), idle))
	idle.Version++
	got, err = s.Sequence(t.Context(), want.Tenant, want.ID)
	wantSame(t, "Sequence() of an idle one", idle, got, err)
}

func sequenceRace(t *testing.T, s StoreUnderTest) {
	for version := range int64(2) {
		won := race(t, 20, func(ctx context.Context, i int) error {
			q := sampleSequence()
			q.Endpoint, q.Last, q.Version = "ep_0123456789abcdef", int64(100+i), version
			return s.SaveSequence(ctx, q)
		})
		got, err := s.Sequence(t.Context(), "acme", order.ID{Endpoint: "ep_0123456789abcdef", Key: sampleSequence().Key})
		check(t, err)
		if len(won) != 1 || got.Last != int64(100+won[0]) || got.Version != version+1 {
			t.Errorf("of the saves of version %d, %v won, and %+v is stored; want one", version, won, got)
		}
	}
}

func dueSequences(t *testing.T, s StoreUnderTest) {
	var all []order.Sequence
	for _, at := range []time.Duration{0, 3 * time.Minute, time.Minute, 2 * time.Minute} {
		q := sampleSequence()
		if at > 0 {
			q.LookAt = storeEpoch().Add(at)
		}
		check(t, s.SaveSequence(t.Context(), q))
		q.Version++
		all = append(all, q)
	}
	for limit, want := range map[int][]order.Sequence{1: {all[2]}, 10: {all[2], all[3]}} {
		got, err := s.DueSequences(t.Context(), storeEpoch().Add(2*time.Minute), limit)
		wantSame(t, "DueSequences()", want, got, err)
	}
	idle := all[2]
	idle.LookAt = time.Time{}
	check(t, s.SaveSequence(t.Context(), idle))
	got, err := s.DueSequences(t.Context(), storeEpoch().Add(2*time.Minute), 10)
	wantSame(t, "DueSequences() without the one that needs no look", []order.Sequence{all[3]}, got, err)
}

func nextPlace(t *testing.T, s StoreUnderTest) {
	id := sampleSequence().ID
	other := id
	other.Key += "#"
	for _, number := range []int64{12, 1000, 9} {
		check(t, s.PutPlace(t.Context(), id, samplePlace(number)))
		check(t, s.PutPlace(t.Context(), other, samplePlace(number+1)))
	}
	for _, tt := range []struct{ from, to, want int64 }{{1, 8, 0}, {1, 9, 9}, {9, 2000, 9}, {10, 2000, 12}, {13, 999, 0}, {13, 1000, 1000}, {1001, 1001, 0}} {
		var want *order.Place
		if tt.want > 0 {
			want = new(samplePlace(tt.want))
		}
		got, err := s.NextPlace(t.Context(), id, tt.from, tt.to)
		wantSame(t, "NextPlace()", want, got, err)
	}
}

func placeStays(t *testing.T, s StoreUnderTest) {
	id := sampleSequence().ID
	check(t, s.PutPlace(t.Context(), id, samplePlace(3)))
	later := samplePlace(3)
	later.GivenAt = later.GivenAt.Add(time.Hour)
	check(t, s.PutPlace(t.Context(), id, later))
	got, err := s.NextPlace(t.Context(), id, 3, 3)
	wantSame(t, "NextPlace()", new(samplePlace(3)), got, err)
}

func sequenceLoaded(t *testing.T, s StoreUnderTest) {
	e := sampleEvent(t)
	q := sampleSequence()
	q.Endpoint = e.Targets[0].Endpoint
	e.OrderingKey, e.Numbers = q.Key, map[hook.EndpointID]int64{q.Endpoint: 7}
	check(t, s.PutEvent(t.Context(), e))
	check(t, s.SaveSequence(t.Context(), q))
	q.Version++
	task := hook.QueuedDelivery(e, e.Targets[0]).NextTask()
	got, err := s.Load(t.Context(), []hook.Task{task})
	wantSame(t, "Load()", map[order.ID]order.Sequence{q.ID: q}, got.Sequences, err)
	wantSame(t, "the event", &e, got.Events[e.ID], nil)
}
