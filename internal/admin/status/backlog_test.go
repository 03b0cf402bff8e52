package status_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
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
		counted int // by the last review, in slices of the same age
		want    *drain.Forecast
	}{
		{name: "nothing parked", fields: rate, record: fast},
		{name: "no limit", record: waiting(fast), parked: 50},
		{name: "no limit, more than a look counts", record: waiting(fast), parked: 200, counted: 200},
		{
			name: "a rate, all in time", fields: rate, record: fast, parked: 100,
			want: &drain.Forecast{PerSecond: 0.05, DrainsBy: at(2000 * time.Second)},
		},
		{ // the newest one expires in an hour less a second, which has 179 turns
			name: "a rate, more than a look counts, some too late", fields: rate, record: fast, parked: 300, counted: 300,
			want: &drain.Forecast{PerSecond: 0.05, DrainsBy: at(179 * 20 * time.Second), AtRisk: 121, FirstLoss: at(3474 * time.Second)},
		},
		{
			name: "an open circuit", fields: rate, record: waiting(func(r *admission.Record) { r.State = circuit.Open }), parked: 300, counted: 300,
			want: &drain.Forecast{AtRisk: 300, FirstLoss: at(time.Hour - 300*time.Second)},
		},
		{
			name: "a 429", record: waiting(func(r *admission.Record) { r.ThrottledUntil = at(time.Minute) }), parked: 10,
			want: &drain.Forecast{AtRisk: 10, FirstLoss: at(time.Hour - 10*time.Second)},
		},
		{name: "slots, no answer", fields: endpoint.Fields{MaxInFlight: new(2)}, record: waiting(fast), parked: 10},
		{
			name: "slots over the mean answer", fields: endpoint.Fields{MaxInFlight: new(2)}, record: waiting(fast), answers: []stats.Attempt{answered(time.Minute)}, parked: 10,
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
			if tt.counted > 0 {
				r.Tally = tally(b.now, tt.counted)
			}
			if err := b.store.SaveCircuit(t.Context(), r); err != nil {
				t.Fatalf("SaveCircuit = %v", err)
			}
			b.count(t, e, b.now, tt.answers...)
			b.park(t, e, tt.parked)
			h, err := b.Health(t.Context(), tenant, string(e.ID))
			if err != nil || h.Deliveries.Parked != tt.parked || !h.Complete {
				t.Fatalf("Health = %d parked, complete %t, %v; want %d", h.Deliveries.Parked, h.Complete, err, tt.parked)
			}
			near := cmp.Comparer(func(a, b float64) bool { return a == b || a > 0.97*b && a < 1.03*b }) // a mean has the error of its buckets
			soon := cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < 10*time.Second })
			if diff := cmp.Diff(tt.want, h.Backlog, near, soon); diff != "" {
				t.Errorf("Backlog (-want +got):\n%s", diff)
			}
		})
	}
}

// tally is of so many parked deliveries, one a second, the newest a second ago.
func tally(now time.Time, parked int) drain.Tally {
	t := drain.Tally{At: now, Oldest: now.Add(-time.Duration(parked) * time.Second), Newest: now.Add(-time.Second)}
	for i := range t.Parked {
		t.Parked[i] = parked*(i+1)/drain.Spans - parked*i/drain.Spans
	}
	return t
}

// Up to 100 deliveries of a state are counted at once. Of more, the last review's count stands, with its
// time; before it there is a lower bound, and so it is if the review counted less than a look sees.
func TestReader_Health_asOf(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name                   string
		parked, retrying, dead int
		kept                   func(*drain.Tally)
		want                   status.Waiting
		wantDead               int
		asOf, incomplete       bool
	}{
		{name: "few", parked: 100, retrying: 3, dead: 2, want: status.Waiting{Parked: 100, Retrying: 3}, wantDead: 2},
		{name: "few, and an old count", parked: 3, kept: func(t *drain.Tally) { *t = tally(t.At, 900) }, want: status.Waiting{Parked: 3}},
		{name: "many, no review yet", parked: 101, dead: 130, want: status.Waiting{Parked: 100}, wantDead: 100, incomplete: true},
		{name: "many, counted", parked: 101, retrying: 4, kept: func(t *drain.Tally) { *t = tally(t.At, 900) }, want: status.Waiting{Parked: 900, Retrying: 4}, asOf: true},
		{name: "many dead, counted", dead: 101, kept: func(t *drain.Tally) { t.Dead = 5000 }, wantDead: 5000, asOf: true},
		{name: "many retrying, counted", retrying: 101, kept: func(t *drain.Tally) { t.Retrying = 700 }, want: status.Waiting{Retrying: 700}, asOf: true},
		{name: "many, the count was cut", parked: 101, kept: func(t *drain.Tally) { *t = tally(t.At, 900); t.Partial = true }, want: status.Waiting{Parked: 900}, asOf: true, incomplete: true},
		{name: "many, and fewer at the review", parked: 101, dead: 101, kept: func(t *drain.Tally) { t.Dead = 500 }, want: status.Waiting{Parked: 100}, wantDead: 500, asOf: true, incomplete: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e := b.create(t)
			b.park(t, e, tt.parked)
			for state, n := range map[hook.State]int{hook.StateRetrying: tt.retrying, hook.StateDead: tt.dead} {
				for range n {
					b.deliver(t, e, state, b.now)
				}
			}
			var asOf time.Time
			b.keepOpen(t, e, func(r *admission.Record) {
				if r.AttendAt = b.now; tt.kept != nil {
					r.Tally.At = at(-10 * time.Minute)
					tt.kept(&r.Tally)
				}
			})
			if tt.asOf {
				asOf = at(-10 * time.Minute)
			}
			want := backlog.Counted{AsOf: asOf, Complete: !tt.incomplete}
			b.count(t, e, b.now, failure("a", 1, hook.StateRetrying))
			h, err := b.Health(t.Context(), tenant, string(e.ID))
			if err != nil || h.Deliveries.Parked != tt.want.Parked || h.Deliveries.Retrying != tt.want.Retrying || h.Deliveries.Dead != tt.wantDead || h.Counted != want {
				t.Errorf("Health = %+v, %+v, %v; want %+v, %d dead, %+v", h.Deliveries, h.Counted, err, tt.want, tt.wantDead, want)
			}
			if sum := h.Deliveries.Reasons[hook.ReasonCircuit]; sum != h.Deliveries.Parked {
				t.Errorf("Reasons = %v; want all of %d", h.Deliveries.Reasons, h.Deliveries.Parked)
			}
			if all := tt.want.Parked + tt.want.Retrying; all > 0 && h.Backlog.AtRisk != all || all == 0 && h.Backlog != nil {
				t.Errorf("Backlog = %+v; want all of %d at risk", h.Backlog, all)
			}
			p, err := b.Pipeline(t.Context())
			if err != nil || p.Parked != tt.want.Parked || p.Retrying != tt.want.Retrying || p.Dead != tt.wantDead || p.Counted != want {
				t.Errorf("Pipeline = %+v, %v; want the same", p, err)
			}
			l, err := b.Attention(t.Context(), tenant, page.Request{Limit: 1})
			if err != nil || len(l.Data) != 1 || l.Data[0].Waiting != tt.want.Parked+tt.want.Retrying || l.Data[0].Dead != tt.wantDead || l.Data[0].Counted != want {
				t.Errorf("Attention = %+v, %v; want the same", l.Data, err)
			}
			of, err := b.TenantHealth(t.Context(), tenant, "")
			if err != nil || of.Waiting.Parked != tt.want.Parked || of.Waiting.Retrying != tt.want.Retrying || of.Waiting.Counted != want {
				t.Errorf("TenantHealth = %+v, %+v, %v; want the same", of.Waiting, of.Waiting.Counted, err)
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
		{"strained", func(_ *hook.Endpoint, r *admission.Record) { r.StrainedAt = b.now }, hook.ReasonInFlight},
		{"paced", func(_ *hook.Endpoint, r *admission.Record) { r.Pace = admission.Pace{Rate: 5, Since: b.now} }, hook.ReasonRate},
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
		if want := map[hook.Reason]int{tt.want: 2}; err != nil || !maps.Equal(h.Deliveries.Reasons, want) {
			t.Errorf("%s: Reasons = %v, %v; want %v", tt.name, h.Deliveries.Reasons, err, want)
		}
	}
}
