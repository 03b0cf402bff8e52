package status_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// count counts attempts of the endpoint at the time.
func (b *bundle) count(t *testing.T, e hook.Endpoint, at time.Time, attempts ...stats.Attempt) {
	t.Helper()

	var c stats.Counts
	for _, a := range attempts {
		c.Count(a)
	}
	if _, err := b.store.Count(t.Context(), e.Tenant, e.ID, &c, at); err != nil {
		t.Fatalf("Count = %v", err)
	}
}

// deliver records a delivery to the endpoint in the state, created at the time.
func (b *bundle) deliver(t *testing.T, e hook.Endpoint, state hook.State, at time.Time) {
	t.Helper()

	b.wait(t, e, state, hook.ReasonNone, at)
}

// wait is deliver with a reason for the state. It returns the recorded delivery.
func (b *bundle) wait(t *testing.T, e hook.Endpoint, state hook.State, reason hook.Reason, at time.Time) hook.Delivery {
	t.Helper()

	event := hook.NewEventID()
	d := hook.Delivery{
		ID:     hook.DeliveryID{Event: event, Endpoint: e.ID, Generation: 1},
		Tenant: e.Tenant, EventType: "a", State: state, Reason: reason, CreatedAt: at, UpdatedAt: at, ExpiresAt: at.Add(90 * 24 * time.Hour),
	}
	if err := b.store.SaveDelivery(t.Context(), d, nil); err != nil {
		t.Fatalf("SaveDelivery = %v", err)
	}
	d.Version = 1
	return d
}

// exact returns the percentile of the durations by nearest rank.
func exact(all []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[int(math.Ceil(p/100*float64(len(sorted))))-1]
}

// TestReader_Health_percentilesOfBothWindows counts attempts of known durations in every hour of
// two days, and compares the percentiles of both windows with the exact ones.
func TestReader_Health_percentilesOfBothWindows(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t)
	random := rand.New(rand.NewPCG(6, 95))
	var hour, day []time.Duration
	for ago := range 48 {
		at := b.now.Add(-time.Duration(ago) * time.Hour)
		for range 100 {
			// Each hour is slower than the following hour, so a wrong window has wrong percentiles.
			took := time.Duration(float64(50*time.Millisecond) * math.Exp(random.NormFloat64()+float64(ago)/20))
			took = min(max(took, time.Millisecond), time.Minute)
			b.count(t, e, at, stats.Attempt{Class: hook.ClassDelivered, Number: 1, Duration: took, State: hook.StateDelivered, Age: took})
			if ago < 2 {
				hour = append(hour, took)
			}
			if ago < 24 {
				day = append(day, took)
			}
		}
	}
	h, err := b.Health(t.Context(), tenant, string(e.ID))
	if err != nil {
		t.Fatalf("Health = %v", err)
	}
	for _, w := range []struct {
		name  string
		got   status.Window
		want  []time.Duration
		since time.Time
	}{
		{name: "1h", got: h.Windows.Hour, want: hour, since: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)},
		{name: "24h", got: h.Windows.Day, want: day, since: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)},
	} {
		if !w.got.Since.Equal(w.since) || w.got.Attempts != len(w.want) {
			t.Errorf("%s: %d attempts since %v; want %d since %v", w.name, w.got.Attempts, w.got.Since, len(w.want), w.since)
		}
		for p, got := range map[float64]time.Duration{50: w.got.Latency.P50, 95: w.got.Latency.P95, 99: w.got.Latency.P99} {
			want := exact(w.want, p)
			if off := math.Abs(float64(got-want)) / float64(want); off > 0.05 {
				t.Errorf("p%v of %s = %v; want %v within 5%%, not %.1f%%", p, w.name, got, want, 100*off)
			}
		}
	}
}

func TestReader_Health_dayHas25HoursAtAWholeHour(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	e := b.create(t)
	for ago := range 48 {
		b.count(t, e, b.now.Add(-time.Duration(ago)*time.Hour), stats.Attempt{Class: hook.ClassConnect, Number: 1, State: hook.StateRetrying})
	}
	h, err := b.Health(t.Context(), tenant, string(e.ID))
	if err != nil || h.Windows.Hour.Attempts != 2 || h.Windows.Day.Attempts != 25 || !h.Windows.Day.Since.Equal(b.now.Add(-24*time.Hour)) {
		t.Errorf("Health = %d and %d attempts, since %v, %v; want 2 and 25", h.Windows.Hour.Attempts, h.Windows.Day.Attempts, h.Windows.Day.Since, err)
	}
}

func TestReader_Health_countsUnsettledAndDeadDeliveries(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t)
	other := b.create(t)
	for state, n := range map[hook.State]int{
		hook.StateRetrying: 3, hook.StateParked: 2, hook.StateDead: 4, hook.StateDelivered: 5, hook.StateDiscarded: 6, hook.StateCancelled: 7,
	} {
		for range n {
			b.deliver(t, e, state, b.now.Add(-80*24*time.Hour))
		}
		b.deliver(t, other, state, b.now)
	}
	record := b.keepOpen(t, e, func(r *admission.Record) {
		r.Review = review.Flags{Slow: true, Fragile: true, Timeout: 3 * time.Second, Warned: review.WarnedOnce}
	})
	h, err := b.Health(t.Context(), tenant, string(e.ID))
	if err != nil {
		t.Fatalf("Health = %v", err)
	}
	hour, day := status.Window{Since: h.Windows.Hour.Since}, status.Window{Since: h.Windows.Day.Since}
	hour.ByNumber, day.ByNumber = []int{}, []int{}
	first := b.now.Add(hook.DefaultMaxAge - 80*24*time.Hour)
	want := status.Health{
		Endpoint: e.ID, At: b.now, Status: hook.StatusActive, Speed: "slow", Slow: true, Fragile: true, Warned: review.WarnedOnce, Timeout: 3 * time.Second, Circuit: (&endpoint.Status{Endpoint: e, Gate: record}).Circuit(), Windows: status.Windows{Hour: hour, Day: day},
		Condition:  condition.Condition{State: condition.Paused, Since: record.OpenedAt, Reason: hook.ReasonManual},
		Deliveries: status.Deliveries{Retrying: 3, Parked: 2, Reasons: map[hook.Reason]int{hook.ReasonCircuit: 2}, Dead: 4}, Counted: backlog.Counted{Complete: true},
		Backlog: &drain.Forecast{AtRisk: 5, FirstLoss: first},
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("Health (-want +got):\n%s", diff)
	}
}

// Waits of 3 hours in all, in the window of an hour and a half, mean 2 queued deliveries on average.
// The wait in the hour before the window does not count.
func TestReader_Health_queuedIsTheMeanOfTheWindow(t *testing.T) {
	t.Parallel()

	b := setup(t) // 09:30
	e := b.create(t)
	for hour, wait := range []time.Duration{time.Hour, 2 * time.Hour, 100 * time.Hour} {
		b.count(t, e, b.now.Add(-time.Duration(hour)*time.Hour), stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Queued: wait})
	}
	if h, err := b.Health(t.Context(), tenant, string(e.ID)); err != nil || h.Deliveries.Queued != 2 {
		t.Errorf("Health = %v queued, %v; want 2", h.Deliveries.Queued, err)
	}
}

func TestReader_Health_hidesOtherTenants(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t)
	if _, err := b.Health(t.Context(), "globex", string(e.ID)); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("Health for another tenant = %v; want CodeNotFound", err)
	}
	if _, err := b.admin.Notifications(t.Context(), "globex", string(e.ID), page.Request{Limit: 1}); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("Notifications for another tenant = %v; want CodeNotFound", err)
	}
}

// index answers when the context ends, or fails with err.
type index struct {
	*memory.Store
	err error
}

func (i index) Oldest(ctx context.Context, _ replay.Selection) ([]backlog.Row, bool, error) {
	if i.err == nil {
		<-ctx.Done()
		return nil, false, ctx.Err()
	}
	return nil, false, i.err
}

func TestReader_Pipeline_limitsTheTimeOfCounting(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		e := b.create(t)
		b.count(t, e, b.now, failure("a", 1, hook.StateRetrying), success("a", 1))
		b.Store = index{Store: b.store}
		began := time.Now()
		p, err := b.Pipeline(t.Context())
		if err != nil || p.Complete || p.LastHour.Delivered != 1 {
			t.Errorf("Pipeline = complete %t, %d delivered, %v; want what was read, incomplete", p.Complete, p.LastHour.Delivered, err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("Pipeline took %v; want 10s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Pipeline(ctx); err == nil {
			t.Error("Pipeline of a request that ended = nil; want an error")
		}
	})
}

func TestReader_IndexDown(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t)
	b.count(t, e, b.now, failure("a", 1, hook.StateRetrying))
	b.Store = index{Store: b.store, err: errDown}
	for name, look := range map[string]func() error{
		"Health":       func() error { _, err := b.Health(t.Context(), tenant, string(e.ID)); return err },
		"TenantHealth": func() error { _, err := b.TenantHealth(t.Context(), tenant, ""); return err },
		"Pipeline":     func() error { _, err := b.Pipeline(t.Context()); return err },
		"Attention": func() error {
			_, err := b.Attention(t.Context(), tenant, page.Request{Limit: 1})
			return err
		},
	} {
		if err := look(); hook.CodeOf(err) != hook.CodeUnavailable {
			t.Errorf("%s with an index that is down = %v; want its error", name, err)
		}
	}
}
