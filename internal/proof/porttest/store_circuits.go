package porttest

import (
	"testing"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

func circuitsCases() []storeCase {
	return []storeCase{
		{name: "circuits are read many at a time, without those that are not there", run: circuitsOf},
		{name: "a notice about a delivery comes back with it", run: noticeOfDelivery},
	}
}

func circuitsOf(t *testing.T, s StoreUnderTest) {
	want := make(map[hook.EndpointID]gate.Record)
	var ids []hook.EndpointID
	for range 101 { // more than one request reads
		r := sampleRecord(hook.NewEndpointID())
		r.Review.Slow, r.Review.Timeout = true, 3*time.Second
		want[r.Endpoint] = saveRecord(t, s, r)
		ids = append(ids, r.Endpoint)
	}
	saveRecord(t, s, sampleRecord(hook.NewEndpointID())) // that nobody asks for
	got, err := s.CircuitsOf(t.Context(), append(ids, ids[0], hook.NewEndpointID()))
	wantSame(t, "CircuitsOf(103)", want, got, err)
	got, err = s.CircuitsOf(t.Context(), nil)
	wantSame(t, "CircuitsOf(none)", map[hook.EndpointID]gate.Record{}, got, err)
}

func noticeOfDelivery(t *testing.T, s StoreUnderTest) {
	about := sampleDelivery(sampleEvent(t).ID, hook.NewEndpointID(), 1).ID
	want := hook.Notification{
		Type: hook.NotificationDisabled, Tenant: "acme", Endpoint: about.Endpoint, Delivery: about, At: storeEpoch(), Reason: "it is gone", Key: "gone",
	}
	check(t, s.PutNotification(t.Context(), want))
	got, _, err := s.Notifications(t.Context(), about.Endpoint, "", 1)
	wantSame(t, "Notices()", []hook.Notification{want}, got, err)
}
