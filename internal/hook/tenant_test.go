package hook_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

func TestValidateTenantLimits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		limits hook.TenantLimits
		want   []string
	}{
		{name: "no limit", limits: hook.TenantLimits{}, want: nil},
		{name: "the smallest", limits: hook.TenantLimits{EventsPerSecond: 1, DeliveriesPerEvent: 1, Endpoints: 1, ReplaysPerHour: 1, ChangesPerHour: 1}, want: nil},
		{name: "the largest", limits: hook.TenantLimits{EventsPerSecond: 10000, DeliveriesPerEvent: 1000, Endpoints: 10_000, ReplaysPerHour: 1_000_000, ChangesPerHour: 100_000}, want: nil},
		{name: "above the largest", limits: hook.TenantLimits{EventsPerSecond: 10001, DeliveriesPerEvent: 1001, Endpoints: 10_001, ReplaysPerHour: 1_000_001, ChangesPerHour: 100_001}, want: []string{"events_per_second", "deliveries_per_event", "endpoints", "replays_per_hour", "changes_per_hour"}},
		{name: "the shortest retention", limits: hook.TenantLimits{RetainFor: hook.MinRetention}, want: nil},
		{name: "the longest retention", limits: hook.TenantLimits{RetainFor: 90 * 24 * time.Hour}, want: nil},
		{name: "a retention that a delivery may outlive", limits: hook.TenantLimits{RetainFor: hook.MinRetention - 1}, want: []string{"retain_for"}},
		{name: "a retention above the environment's", limits: hook.TenantLimits{RetainFor: 90*24*time.Hour + 1}, want: []string{"retain_for"}},
		{name: "a retention below zero", limits: hook.TenantLimits{RetainFor: -1}, want: []string{"retain_for"}},
		{name: "below the smallest", limits: hook.TenantLimits{EventsPerSecond: -1, DeliveriesPerEvent: -1, Endpoints: -1, ReplaysPerHour: -1, ChangesPerHour: -1}, want: []string{"events_per_second", "deliveries_per_event", "endpoints", "replays_per_hour", "changes_per_hour"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var got []string
			for _, wrong := range hook.ValidateTenantLimits(tt.limits, 90*24*time.Hour) {
				got = append(got, wrong.Field)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ValidateTenantLimits(%+v) (-want +got):\n%s", tt.limits, diff)
			}
		})
	}
}

func TestTenantLimits_Retention(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ tenant, asked, want time.Duration }{
		{tenant: 0, asked: 0, want: 90},
		{tenant: 0, asked: 40, want: 40},
		{tenant: 40, asked: 0, want: 40},
		{tenant: 40, asked: 50, want: 40},
		{tenant: 50, asked: 40, want: 40},
		{tenant: 100, asked: 110, want: 90}, // a retention from before a change of the environment
	} {
		if got := (hook.TenantLimits{RetainFor: tt.tenant}).Retention(90, tt.asked); got != tt.want {
			t.Errorf("Retention() of %+v = %d; want %d", tt, got, tt.want)
		}
	}
}

func TestSpend_After(t *testing.T) {
	t.Parallel()

	const second, tenth = time.Second, 100 * time.Millisecond
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		name      string
		perSecond int
		events    int
		free      time.Duration // from now
		next      time.Duration // from now
		wait      time.Duration
	}{
		{name: "an idle tenant has room", perSecond: 10, events: 1, free: -time.Hour, next: tenth, wait: 0},
		{name: "exactly idle", perSecond: 10, events: 1, free: 0, next: tenth, wait: 0},
		{name: "the whole burst", perSecond: 10, events: 10, free: 0, next: second, wait: 0},
		{name: "the last unit of the burst", perSecond: 10, events: 1, free: second - tenth, next: second, wait: 0},
		{name: "no unit left", perSecond: 10, events: 1, free: second, next: second, wait: tenth},
		{name: "a nanosecond too early", perSecond: 10, events: 1, free: second - tenth + 1, next: second - tenth + 1, wait: 1},
		{name: "a batch that does not fit now", perSecond: 10, events: 5, free: 6 * tenth, next: 6 * tenth, wait: tenth},
		{name: "a batch above the limit needs an idle second", perSecond: 10, events: 100, free: 1, next: 1, wait: 1},
		{name: "a batch above the limit passes and pays", perSecond: 10, events: 100, free: 0, next: 10 * second, wait: 0},
		{name: "a rate that divides no second", perSecond: 3, events: 3, free: 0, next: second, wait: 0},
		{name: "the largest rate", perSecond: hook.MaxEventsPerSecond, events: 1, free: 0, next: 100 * time.Microsecond, wait: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			next, wait := hook.NewSpend(hook.SpentEvents, tt.events, tt.perSecond, time.Second, now).After(now.Add(tt.free))
			if next.Sub(now) != tt.next || wait != tt.wait {
				t.Errorf("After(now + %v) = now + %v, wait %v; want now + %v, wait %v", tt.free, next.Sub(now), wait, tt.next, tt.wait)
			}
		})
	}
}

// TestSpend_paces posts a thousand events as fast as possible: the accepted events are
// those of a burst of one second, and then the limit.
func TestSpend_paces(t *testing.T) {
	t.Parallel()

	begin := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	var free time.Time
	accepted := 0
	for tick := range 1000 { // 10 s, a post each 10 ms
		next, wait := hook.NewSpend(hook.SpentEvents, 1, 20, time.Second, begin.Add(time.Duration(tick)*10*time.Millisecond)).After(free)
		if free = next; wait == 0 {
			accepted++
		}
	}
	if want := 20 + 20*10 - 1; accepted < want-1 || accepted > want+1 {
		t.Errorf("%d events accepted in 10 s; want %d +- 1", accepted, want)
	}
}
