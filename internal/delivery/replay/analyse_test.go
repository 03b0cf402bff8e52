package replay_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

func TestAnalyse(t *testing.T) {
	t.Parallel()

	w := setup(t)
	a, b := w.Endpoint(nil), w.Endpoint(nil)
	w.past(a, hook.StateDead, 7)
	w.past(a, hook.StateDelivered, 5)
	w.past(b, hook.StateDead, 2)
	d := w.Delivery(w.one(b, hook.StateDead, "order.paid", start.Add(-13*24*time.Hour)))
	d.UpdatedAt = start.Add(-time.Hour) // created long ago, and dead for an hour
	w.Save(d)
	d = w.Delivery(w.one(b, hook.StateDead, "order.paid", start.Add(-26*time.Hour)))
	d.UpdatedAt = start.Add(-25 * time.Hour)
	w.Save(d)

	tests := []struct {
		name   string
		tenant hook.TenantID
		period time.Duration
		want   int
	}{
		{name: "a day", tenant: "acme", period: 24 * time.Hour, want: 10},
		{name: "26 hours", tenant: "acme", period: 26 * time.Hour, want: 11},
		{name: "another tenant", tenant: "other", period: 24 * time.Hour, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := w.Replayer().Analyse(w.Context(), tt.tenant, tt.period)
			if err != nil || got.Total != tt.want || !got.Complete || got.Period != tt.period {
				t.Errorf("Analyse(%s) = %d, complete %t, %v; want all %d", tt.period, got.Total, got.Complete, err, tt.want)
			}
			sum := 0
			for _, g := range got.Groups {
				sum += g.Count
			}
			if sum != tt.want {
				t.Errorf("Analyse(%s) has %d in its groups; want %d", tt.period, sum, tt.want)
			}
		})
	}
	for _, period := range []time.Duration{-time.Hour, 0, replay.MinPeriod - 1, replay.MaxPeriod + 1} {
		if _, err := w.Replayer().Analyse(w.Context(), "acme", period); hook.CodeOf(err) != hook.CodeInvalid {
			t.Errorf("Analyse(%s) = %v; want invalid", period, err)
		}
	}
}

func TestAnalyse_ReadsAtMostMaxAnalysed(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name     string
		n        int
		complete bool
	}{
		{name: "MaxAnalysed deliveries", n: replay.MaxAnalysed, complete: true},
		{name: "one delivery more", n: replay.MaxAnalysed + 1, complete: false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.past(w.Endpoint(nil), hook.StateDead, tt.n)
			got, err := w.Replayer().Analyse(w.Context(), "acme", 24*time.Hour)
			if err != nil || got.Total != replay.MaxAnalysed || got.Complete != tt.complete {
				t.Errorf("Analyse() of %d = %d, complete %t, %v; want %d, %t", tt.n, got.Total, got.Complete, err, replay.MaxAnalysed, tt.complete)
			}
		})
	}
}
