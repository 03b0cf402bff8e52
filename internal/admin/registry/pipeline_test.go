package registry_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/admin/page"
	"surehook/internal/admin/registry"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/latency"
	"surehook/internal/rule/stats"
)

// queues are the depths of queues as they are.
type queues map[string]registry.Depth

func (q queues) Depths(context.Context) (map[string]registry.Depth, error) { return q, nil }

// stranger returns an endpoint of another tenant, as far as the pipeline knows it.
func stranger() hook.Endpoint { return hook.Endpoint{ID: hook.NewEndpointID(), Tenant: "globex"} }

// TestRegistry_Pipeline has endpoints of two tenants: one active now, one active
// in the hour before, one 24 hours ago, one long ago, and one to which nothing
// was ever sent, because it is paused, with parked deliveries.
func TestRegistry_Pipeline(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Queues = queues{
		"live": {Visible: 1, InFlight: 10, Delayed: 100}, "replay": {Visible: 2, InFlight: 20, Delayed: 200},
		"retry": {Visible: 3, InFlight: 30, Delayed: 300}, "dead_letters": {Visible: 4, InFlight: 40, Delayed: 400},
	}
	now, before, yesterday, longAgo, paused := stranger(), stranger(), stranger(), stranger(), stranger()
	now.Tenant, paused.Tenant = tenant, tenant
	sent := []stats.Attempt{
		{Class: hook.ClassDelivered, Number: 1, Duration: time.Second, State: hook.StateDelivered, Age: 2 * time.Second},
		{Class: hook.ClassTimeout, Number: 1, Duration: time.Second, State: hook.StateRetrying},
		{Class: hook.ClassRefused, Number: 2, Duration: time.Second, State: hook.StateDead},
	}
	b.count(t, now, b.now, sent...)
	b.count(t, before, b.now.Add(-time.Hour), stats.Attempt{Class: hook.ClassDelivered, Number: 3, State: hook.StateDelivered, Age: 4 * time.Second})
	b.count(t, yesterday, b.now.Add(-24*time.Hour), sent...)
	b.count(t, longAgo, b.now.Add(-25*time.Hour), sent...)

	b.deliver(t, now, hook.StateRetrying, b.now.Add(-time.Minute))
	b.deliver(t, before, hook.StateParked, b.now.Add(-2*time.Hour))
	b.deliver(t, before, hook.StateRetrying, b.now.Add(-3*time.Hour))
	b.deliver(t, yesterday, hook.StateRetrying, b.now.Add(-23*time.Hour))
	b.deliver(t, longAgo, hook.StateRetrying, b.now.Add(-240*time.Hour)) // nobody looks there
	b.deliver(t, now, hook.StateDead, b.now.Add(-480*time.Hour))
	oldest := b.deliver(t, paused, hook.StateParked, b.now.Add(-48*time.Hour))
	b.deliver(t, paused, hook.StateParked, b.now.Add(-47*time.Hour))

	for id, state := range map[hook.EndpointID]circuit.State{paused.ID: circuit.Closed, now.ID: circuit.Open, before.ID: circuit.HalfOpen} {
		r := gate.NewRecord(tenant, id)
		r.State, r.Waiting, r.AttendAt = state, true, b.now.Add(time.Minute)
		if err := b.store.SaveCircuit(t.Context(), r); err != nil {
			t.Fatalf("SaveCircuit = %v", err)
		}
	}
	p, err := b.Pipeline(t.Context())
	if err != nil {
		t.Fatalf("Pipeline = %v", err)
	}
	want := registry.Pipeline{
		At: b.now, Complete: true, Waiting: registry.Waiting{Retrying: 3, Parked: 3}, Oldest: oldest, OpenCircuits: 2,
		Queues: p.Queues, Hour: registry.Window{Since: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)},
	}
	for _, a := range append(sent, stats.Attempt{Class: hook.ClassDelivered, Number: 3, State: hook.StateDelivered, Age: 4 * time.Second}) {
		want.Hour.Count(a)
	}
	if diff := cmp.Diff(want, p, cmp.AllowUnexported(latency.Histogram{})); diff != "" {
		t.Errorf("Pipeline (-want +got):\n%s", diff)
	}
	if p.Queued() != 303 || p.InFlight() != 60 || p.Dead() != 444 || p.Hour.MeanAge() != 3*time.Second {
		t.Errorf("Queued, InFlight, Dead, MeanAge = %d, %d, %d, %v; want 303, 60, 444, 3s", p.Queued(), p.InFlight(), p.Dead(), p.Hour.MeanAge())
	}
}

func TestRegistry_Pipeline_ofNothing(t *testing.T) {
	t.Parallel()

	p, err := setup(t).Pipeline(t.Context())
	if err != nil || !p.Complete || !p.Oldest.CreatedAt.IsZero() || p.Queued() != 0 {
		t.Errorf("Pipeline = %+v, %v; want nothing, complete", p, err)
	}
}

// TestRegistry_Pipeline_bounds has as many endpoints as are looked at, and one more.
func TestRegistry_Pipeline_bounds(t *testing.T) {
	t.Parallel()

	const most = 500
	b := setup(t)
	one := stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered}
	for i := range most {
		b.count(t, stranger(), b.now.Add(-time.Duration(i%2)*time.Hour), one)
	}
	if p, err := b.Pipeline(t.Context()); err != nil || !p.Complete || p.Hour.Delivered != most {
		t.Errorf("Pipeline of %d endpoints = %d delivered, complete %t, %v; want all", most, p.Hour.Delivered, p.Complete, err)
	}
	b.count(t, stranger(), b.now.Add(-2*time.Hour), one)
	if p, err := b.Pipeline(t.Context()); err != nil || p.Complete || p.Hour.Delivered != most {
		t.Errorf("Pipeline of one more = %d delivered, complete %t, %v; want those active last, incomplete", p.Hour.Delivered, p.Complete, err)
	}
}

func TestRegistry_ListSlow(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var slow, others []string
	for i := range 4 {
		e, _ := b.create(t, nil)
		switch i {
		case 0: // of which there is no record
			others = append(others, string(e.ID))
		case 1:
			b.keep(t, e, waiting)
			others = append(others, string(e.ID))
		default:
			b.keep(t, e, func(r *gate.Record) { r.Review.Slow = true })
			slow = append(slow, string(e.ID))
		}
	}
	for want, all := range map[bool][]string{true: slow, false: others} {
		found := make(map[string]bool)
		p := page.Request{Limit: 1}
		for range 2 {
			l, err := b.ListSlow(t.Context(), tenant, want, p)
			if err != nil || len(l.Data) != 1 {
				t.Fatalf("ListSlow(%t) = %v, %v; want one", want, l, err)
			}
			found[string(l.Data[0].ID)] = true
			if p.Cursor = l.Next; len(found) == 2 && l.Next != "" {
				t.Errorf("ListSlow(%t) goes on after 2; want its end", want)
			}
		}
		if !found[all[0]] || !found[all[1]] {
			t.Errorf("ListSlow(%t) = %v; want %v", want, found, all)
		}
	}
}

func TestRegistry_Notices(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, func(f *registry.Fields) { f.UID = new("crm") })
	var want []hook.Notification
	for i := range 5 {
		n := hook.Notification{
			Type: hook.NotificationFailing, Tenant: tenant, Endpoint: e.ID, At: b.now.Add(time.Duration(-i) * time.Minute), Reason: "Failing.",
			Figures: map[string]float64{"dead_rate": 0.3}, Key: fmt.Sprint("k", i),
		}
		if err := b.store.PutNotification(t.Context(), n); err != nil {
			t.Fatalf("PutNotice = %v", err)
		}
		want = append(want, n)
	}
	var got []hook.Notification
	p := page.Request{Limit: 2}
	for {
		l, err := b.Notifications(t.Context(), tenant, "crm", p)
		if err != nil {
			t.Fatalf("Notices = %v", err)
		}
		if got = append(got, l.Data...); l.Next == "" {
			break
		}
		p.Cursor = l.Next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Notices (-want +got):\n%s", diff)
	}
	other, _ := b.create(t, nil)
	if _, err := b.Notifications(t.Context(), tenant, string(other.ID), p); hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("Notices of another endpoint with the cursor = %v; want CodeInvalid", err)
	}
	// No store takes these for keys.
	for _, position := range []string{"\xff", strings.Repeat("x", 513)} {
		p.Cursor = page.NewCursor("history\x00acme\x00"+string(e.ID), position)
		if _, err := b.Notifications(t.Context(), tenant, "crm", p); hook.CodeOf(err) != hook.CodeInvalid {
			t.Errorf("Notices after a forged %d bytes = %v; want CodeInvalid", len(position), err)
		}
	}
}
