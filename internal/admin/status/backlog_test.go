package status_test

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/stats"
)

// limited stores an endpoint with the limits and a max_age of an hour.
func (b *bundle) limited(t *testing.T, f endpoint.Fields) hook.Endpoint {
	t.Helper()

	f.URL, f.MaxAge = new("https://example.com/hooks"), new(time.Hour)
	e, _, err := b.admin.Create(t.Context(), tenant, f, "")
	if err != nil {
		t.Fatalf("Create = %v", err)
	}
	return e
}

// park parks n deliveries, one a second, the newest a second ago.
func (b *bundle) park(t *testing.T, e hook.Endpoint, n int) {
	t.Helper()

	for i := range n {
		b.wait(t, e, hook.StateParked, hook.ReasonRate, b.now.Add(-time.Duration(n-i)*time.Second))
	}
}

// reads counts the requests to the index.
type reads struct {
	*memory.Store
	n atomic.Int32
}

func (r *reads) Select(ctx context.Context, s replay.Selection) ([]hook.Delivery, string, error) {
	r.n.Add(1)
	return r.Store.Select(ctx, s)
}

func (r *reads) CountSelected(ctx context.Context, s replay.Selection) (int, error) {
	r.n.Add(1)
	return r.Store.CountSelected(ctx, s)
}

func (r *reads) Newest(ctx context.Context, s replay.Selection) (time.Time, error) {
	r.n.Add(1)
	return r.Store.Newest(ctx, s)
}

func TestReader_Health_backlog(t *testing.T) {
	t.Parallel()

	waiting := func(edit func(*admission.Record)) func(*admission.Record) {
		return func(r *admission.Record) { r.Waiting = true; edit(r) }
	}
	fast := func(r *admission.Record) { r.Speed = admission.Fast }
	answered := func(took time.Duration) stats.Attempt {
		return stats.Attempt{Class: hook.ClassDelivered, Number: 1, Duration: took, State: hook.StateDelivered}
	}
	rate := endpoint.Fields{RatePerSecond: new(0.05)} // 180 deliveries in an hour
	tests := []struct {
		name    string
		fields  endpoint.Fields
		record  func(*admission.Record)
		answers []stats.Attempt
		parked  int
		reads   int // with those of retrying and dead deliveries
		want    *drain.Forecast
	}{
		{name: "nothing parked", fields: rate, record: fast, reads: 3},
		{name: "no limit", record: waiting(fast), parked: 50, reads: 3},
		{name: "no limit, more than a page", record: waiting(fast), parked: 200, reads: 4},
		{
			name: "a rate, all in time", fields: rate, record: fast, parked: 100, reads: 3,
			want: &drain.Forecast{PerSecond: 0.05, DrainsBy: at(2000 * time.Second)},
		},
		{ // the newest one expires in an hour less a second, which has 179 turns
			name: "a rate, more than a page, some too late", fields: rate, record: fast, parked: 300, reads: 12,
			want: &drain.Forecast{PerSecond: 0.05, DrainsBy: at(179 * 20 * time.Second), AtRisk: 121, FirstLoss: at(3474 * time.Second)},
		},
		{
			name: "an open circuit", fields: rate, record: waiting(func(r *admission.Record) { r.State = circuit.Open }), parked: 300, reads: 4,
			want: &drain.Forecast{AtRisk: 300, FirstLoss: at(time.Hour - 300*time.Second)},
		},
		{
			name: "a 429", record: waiting(func(r *admission.Record) { r.ThrottledUntil = at(time.Minute) }), parked: 10, reads: 3,
			want: &drain.Forecast{AtRisk: 10, FirstLoss: at(time.Hour - 10*time.Second)},
		},
		{name: "slots, no answer", fields: endpoint.Fields{MaxInFlight: new(2)}, record: waiting(fast), parked: 10, reads: 3},
		{
			name: "slots over the mean answer", fields: endpoint.Fields{MaxInFlight: new(2)}, record: waiting(fast), answers: []stats.Attempt{answered(time.Minute)}, parked: 10, reads: 3,
			want: &drain.Forecast{PerSecond: 2 / 57.1, DrainsBy: at(285 * time.Second)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e := b.limited(t, tt.fields)
			r := admission.NewRecord(tenant, e.ID)
			tt.record(&r)
			if err := b.store.SaveCircuit(t.Context(), r); err != nil {
				t.Fatalf("SaveCircuit = %v", err)
			}
			b.count(t, e, b.now, tt.answers...)
			b.park(t, e, tt.parked)
			counted := &reads{Store: b.store}
			b.Index = counted
			h, err := b.Health(t.Context(), tenant, string(e.ID))
			if err != nil || h.Waiting.Parked != tt.parked || !h.Complete {
				t.Fatalf("Health = %d parked, complete %t, %v; want %d", h.Waiting.Parked, h.Complete, err, tt.parked)
			}
			if n := int(counted.n.Load()); n != tt.reads {
				t.Errorf("Health made %d reads; want %d", n, tt.reads)
			}
			near := cmp.Comparer(func(a, b float64) bool { return a == b || a > 0.97*b && a < 1.03*b }) // a mean has the error of its buckets
			soon := cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < 10*time.Second })
			if diff := cmp.Diff(tt.want, h.Backlog, near, soon); diff != "" {
				t.Errorf("Backlog (-want +got):\n%s", diff)
			}
		})
	}
}

// at returns the time after the bundle's clock.
func at(d time.Duration) time.Time { return time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC).Add(d) }

// An endpoint has one reason for all its parked deliveries, whatever their records say.
func TestReader_Health_reason(t *testing.T) {
	t.Parallel()

	b := setup(t)
	tests := []struct {
		name   string
		change func(e *hook.Endpoint, r *admission.Record)
		want   hook.Reason
	}{
		{"paused with an open circuit", func(e *hook.Endpoint, r *admission.Record) { e.Status, r.State = hook.StatusPaused, circuit.Open }, hook.ReasonPaused},
		{"disabled", func(e *hook.Endpoint, _ *admission.Record) { e.Status = hook.StatusDisabled }, hook.ReasonDisabled},
		{"half-open", func(_ *hook.Endpoint, r *admission.Record) { r.State = circuit.HalfOpen }, hook.ReasonCircuit},
		{"throttled", func(_ *hook.Endpoint, r *admission.Record) { r.ThrottledUntil = b.now.Add(time.Minute) }, hook.ReasonThrottled},
		{"throttled before", func(_ *hook.Endpoint, r *admission.Record) { r.ThrottledUntil = b.now.Add(-time.Minute) }, hook.ReasonInFlight},
		{"shedding", func(_ *hook.Endpoint, r *admission.Record) { r.Shed, r.ShedAt = 50, b.now }, hook.ReasonFailureRate},
		{"with a rate", func(e *hook.Endpoint, _ *admission.Record) { e.RatePerSecond = 5 }, hook.ReasonRate},
		{"with slots", func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 5 }, hook.ReasonInFlight},
	}
	for _, tt := range tests {
		e := b.create(t)
		b.wait(t, e, hook.StateParked, hook.ReasonNone, b.now)
		b.wait(t, e, hook.StateParked, hook.ReasonRate, b.now)
		r := admission.NewRecord(tenant, e.ID)
		r.Waiting, r.AttendAt = true, b.now
		tt.change(&e, &r)
		if err := errors.Join(b.store.UpdateEndpoint(t.Context(), e), b.store.SaveCircuit(t.Context(), r)); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		h, err := b.Health(t.Context(), tenant, string(e.ID))
		if want := map[hook.Reason]int{tt.want: 2}; err != nil || !maps.Equal(h.Waiting.Reasons, want) {
			t.Errorf("%s: Reasons = %v, %v; want %v", tt.name, h.Waiting.Reasons, err, want)
		}
	}
}
