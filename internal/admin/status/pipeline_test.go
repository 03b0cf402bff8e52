package status_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// queues holds the depths of the queues.
type queues names.Queues[status.Depth]

func (q queues) Depths(context.Context) (names.Queues[status.Depth], error) {
	return names.Queues[status.Depth](q), nil
}

// stranger returns an endpoint of another tenant.
func stranger() hook.Endpoint { return hook.Endpoint{ID: hook.NewEndpointID(), Tenant: "globex"} }

// TestReader_Pipeline has endpoints of two tenants. The last attempts were now, in
// the hour before, 24 hours ago and long ago. A paused endpoint has parked
// deliveries and no attempts.
func TestReader_Pipeline(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Queues = queues{
		Live: status.Depth{Visible: 1, InFlight: 10, Delayed: 100}, Replay: status.Depth{Visible: 2, InFlight: 20, Delayed: 200},
		Retry: status.Depth{Visible: 3, InFlight: 30, Delayed: 300}, DeadLetters: status.Depth{Visible: 4, InFlight: 40, Delayed: 400},
		Slot: status.Depth{Visible: 5, InFlight: 50, Delayed: 500}, Overflow: status.Depth{Visible: 6, InFlight: 60, Delayed: 600},
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
	b.wait(t, before, hook.StateParked, hook.ReasonCircuit, b.now.Add(-2*time.Hour))
	b.deliver(t, before, hook.StateRetrying, b.now.Add(-3*time.Hour))
	b.deliver(t, yesterday, hook.StateRetrying, b.now.Add(-23*time.Hour))
	b.deliver(t, longAgo, hook.StateRetrying, b.now.Add(-240*time.Hour)) // outside the last 25 hours
	b.deliver(t, now, hook.StateDead, b.now.Add(-480*time.Hour))
	oldest := b.wait(t, paused, hook.StateParked, hook.ReasonPaused, b.now.Add(-48*time.Hour))
	b.wait(t, paused, hook.StateParked, hook.ReasonPaused, b.now.Add(-47*time.Hour))

	for id, state := range map[hook.EndpointID]circuit.State{paused.ID: circuit.Closed, now.ID: circuit.Open, before.ID: circuit.HalfOpen} {
		r := admission.NewRecord(tenant, id)
		r.State, r.Waiting, r.AttendAt = state, true, b.now.Add(time.Minute)
		if err := b.store.SaveCircuit(t.Context(), r); err != nil {
			t.Fatalf("SaveCircuit = %v", err)
		}
	}
	p, err := b.Pipeline(t.Context())
	if err != nil {
		t.Fatalf("Pipeline = %v", err)
	}
	want := status.Pipeline{
		At: b.now, Counted: backlog.Counted{Complete: true}, Oldest: status.Pending{ID: oldest.ID, State: oldest.State, CreatedAt: oldest.CreatedAt, Tenant: tenant, Age: 48 * time.Hour}, Dead: 1,
		OpenCircuits: 2, OpenByTenant: []status.TenantCount{{Tenant: tenant, Count: 2}}, Queued: 1414, InFlight: 170,
		Waiting: status.Waiting{Retrying: 3, Parked: 3, Reasons: map[hook.Reason]int{hook.ReasonDeleted: 3}},
		Queues:  p.Queues, LastHour: status.LastHour{Since: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Delivered: 2, Failed: 2, Dead: 1, MeanDelivery: new(3 * time.Second)},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("Pipeline (-want +got):\n%s", diff)
	}
}

// The messages set aside are in two queues, but the API has one number for them.
func TestReader_Pipeline_undeliverable(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Queues = queues{Undeliverable: status.Depth{Visible: 2, InFlight: 1, Delayed: 3}, UndeliverableRetry: status.Depth{Visible: 40, InFlight: 10, Delayed: 30}}
	p, err := b.Pipeline(t.Context())
	if want := (status.Depth{Visible: 42, InFlight: 11, Delayed: 33}); err != nil || p.Queues.Undeliverable != want {
		t.Errorf("Pipeline has the undeliverable messages %+v, %v; want %+v", p.Queues.Undeliverable, err, want)
	}
}

func TestReader_Pipeline_ofNothing(t *testing.T) {
	t.Parallel()

	p, err := setup(t).Pipeline(t.Context())
	if err != nil || !p.Complete || !p.Oldest.CreatedAt.IsZero() || p.Queued != 0 {
		t.Errorf("Pipeline = %+v, %v; want nothing, complete", p, err)
	}
}

// TestReader_Pipeline_bounds has the maximum number of endpoints, and one endpoint more.
func TestReader_Pipeline_bounds(t *testing.T) {
	t.Parallel()

	const most = 500
	b := setup(t)
	one := stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered}
	for i := range most {
		b.count(t, stranger(), b.now.Add(-time.Duration(i%2)*time.Hour), one)
	}
	if p, err := b.Pipeline(t.Context()); err != nil || !p.Complete || p.LastHour.Delivered != most {
		t.Errorf("Pipeline of %d endpoints = %d delivered, complete %t, %v; want all", most, p.LastHour.Delivered, p.Complete, err)
	}
	b.count(t, stranger(), b.now.Add(-2*time.Hour), one)
	if p, err := b.Pipeline(t.Context()); err != nil || p.Complete || p.LastHour.Delivered != most {
		t.Errorf("Pipeline of one more = %d delivered, complete %t, %v; want those active last, incomplete", p.LastHour.Delivered, p.Complete, err)
	}
}

// TestReader_PipelineStatistics has endpoints of two tenants, of which one has been deleted, in
// this hour, the hour before, 24 hours ago and before.
func TestReader_PipelineStatistics(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ours, theirs := stranger(), stranger()
	ours.Tenant = tenant
	b.count(t, ours, b.now, success("order.paid", 1), failure("order.paid", 1, hook.StateDead))
	b.count(t, ours, b.now.Add(-time.Hour), success("order.paid", 1))
	b.count(t, theirs, b.now.Add(-24*time.Hour), success("order.paid", 1))
	b.count(t, stranger(), b.now.Add(-25*time.Hour), success("order.paid", 1))
	tests := []struct {
		name string
		q    status.StatsQuery
		want []string
	}{
		{name: "total", want: []string{" 4 1"}},
		{name: "by the hour", q: status.StatsQuery{Hourly: true}, want: []string{"20T09 1 0", "21T08 1 0", "21T09 2 1"}},
		{name: "by tenant", q: status.StatsQuery{Group: "tenant"}, want: []string{string(tenant) + " 3 1", "globex 1 0"}},
		{name: "by tenant and hour", q: status.StatsQuery{Group: "tenant", Hourly: true}, want: []string{"20T09globex 1 0", "21T08" + string(tenant) + " 1 0", "21T09" + string(tenant) + " 2 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s, err := b.PipelineStatistics(t.Context(), tt.q)
			if err != nil || !s.Complete || s.Endpoints != 2 {
				t.Fatalf("PipelineStatistics(%+v) = %d endpoints, complete %t, %v; want 2, complete", tt.q, s.Endpoints, s.Complete, err)
			}
			var got []string
			for _, r := range s.Rows {
				hour := ""
				if !r.Hour.IsZero() {
					hour = r.Hour.Format("02T15")
				}
				got = append(got, fmt.Sprintf("%s%s %d %d", hour, r.Tenant, r.Attempts, r.Dead))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReader_PipelineStatistics_bounds has the maximum number of endpoints, and one endpoint more.
func TestReader_PipelineStatistics_bounds(t *testing.T) {
	t.Parallel()

	const most = 500
	b := setup(t)
	for range most {
		b.count(t, stranger(), b.now, success("order.paid", 1))
	}
	if s, err := b.PipelineStatistics(t.Context(), status.StatsQuery{}); err != nil || !s.Complete || s.Endpoints != most {
		t.Errorf("statistics of %d endpoints = %d, complete %t, %v; want all", most, s.Endpoints, s.Complete, err)
	}
	b.count(t, stranger(), b.now.Add(-2*time.Hour), success("order.paid", 1))
	s, err := b.PipelineStatistics(t.Context(), status.StatsQuery{})
	if err != nil || s.Complete || s.Endpoints != most || s.Rows[0].Attempts != most {
		t.Errorf("statistics of one more = %d, complete %t, %v; want those active last, incomplete", s.Endpoints, s.Complete, err)
	}
}
