package drain_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/rule/drain"
)

var now = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const day = 24 * time.Hour

// parked returns n deliveries, created evenly until now from the age of the oldest, in some slices.
func parked(n int, oldest time.Duration, slices int) []drain.Slice {
	all := []drain.Slice{{Newest: now.Add(-oldest), N: 1}}
	for i := range slices {
		all = append(all, drain.Slice{
			Newest: now.Add(-oldest + oldest*time.Duration(i+1)/time.Duration(slices)),
			N:      (n-1)*(i+1)/slices - (n-1)*i/slices,
		})
	}
	return all
}

func TestOf(t *testing.T) {
	t.Parallel()

	const million = 1_000_000
	end := now.Add(50_000 * time.Second) // of a million at 20 a second
	tests := []struct {
		name   string
		slices []drain.Slice
		maxAge time.Duration
		rate   float64
		want   drain.Forecast
	}{
		{name: "nothing parked", maxAge: day, rate: 20, want: drain.Forecast{PerSecond: 20, DrainsBy: now}},
		{name: "a million at 20 a second, max_age 14 days", slices: parked(million, time.Hour, 8), maxAge: 14 * day, rate: 20, want: drain.Forecast{PerSecond: 20, DrainsBy: end}},
		{name: "a million at 20 a second, max_age 1 day", slices: parked(million, time.Hour, 8), maxAge: day, rate: 20, want: drain.Forecast{PerSecond: 20, DrainsBy: end}},
		{
			name: "a million at 20 a second, max_age 10 hours", slices: parked(million, 0, 8), maxAge: 10 * time.Hour, rate: 20,
			want: drain.Forecast{PerSecond: 20, DrainsBy: now.Add(10 * time.Hour), AtRisk: million - 20*36_000, FirstLoss: now.Add(10 * time.Hour)},
		},
		{
			name: "a million of a day's outage, max_age 1 day", slices: parked(million, day, 8), maxAge: day, rate: 10,
			want: drain.Forecast{PerSecond: 10, DrainsBy: now.Add(day), AtRisk: million - 10*86_400, FirstLoss: now},
		},
		{name: "an open circuit", slices: parked(million, time.Hour, 8), maxAge: day, want: drain.Forecast{AtRisk: million, FirstLoss: now.Add(day - time.Hour)}},
		{name: "one whose turn ends with its time", slices: parked(1, day-time.Second, 0), maxAge: day, rate: 1, want: drain.Forecast{PerSecond: 1, DrainsBy: now.Add(time.Second)}},
		{
			name: "one whose turn ends after its time", slices: parked(1, day-time.Second+time.Millisecond, 0), maxAge: day, rate: 1,
			want: drain.Forecast{PerSecond: 1, DrainsBy: now, AtRisk: 1, FirstLoss: now.Add(time.Second - time.Millisecond)},
		},
		{
			name: "one already past its time, one with time", slices: []drain.Slice{{Newest: now.Add(-25 * time.Hour), N: 1}, {Newest: now, N: 1}}, maxAge: day, rate: 1,
			want: drain.Forecast{PerSecond: 1, DrainsBy: now.Add(time.Second), AtRisk: 1, FirstLoss: now.Add(-time.Hour)},
		},
		{
			name:   "a burst behind a trickle is lost, what came later is not",
			slices: []drain.Slice{{Newest: now.Add(-20 * time.Hour), N: 1}, {Newest: now.Add(-20 * time.Hour), N: 99_999}, {Newest: now, N: 1000}}, maxAge: day, rate: 1,
			want: drain.Forecast{PerSecond: 1, DrainsBy: now.Add(15_400 * time.Second), AtRisk: 100_000 - 14_400, FirstLoss: now.Add(4 * time.Hour)},
		},
		{name: "a slice without deliveries", slices: []drain.Slice{{Newest: now.Add(-day), N: 0}, {Newest: now, N: 1}}, maxAge: day, rate: 1, want: drain.Forecast{PerSecond: 1, DrainsBy: now.Add(time.Second)}},
		{name: "a very low rate", slices: parked(million, 0, 8), maxAge: day, rate: 1e-9, want: drain.Forecast{PerSecond: 1e-9, DrainsBy: now, AtRisk: million, FirstLoss: now.Add(day)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tt.want, drain.Of(tt.slices, tt.maxAge, tt.rate, now)); diff != "" {
				t.Errorf("Of (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOf_asTheyLeave lets deliveries of random ages leave one by one, and compares what is lost.
func TestOf_asTheyLeave(t *testing.T) {
	t.Parallel()

	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 20))
		maxAge, every := time.Hour, time.Duration(1+random.IntN(60))*time.Second
		var slices []drain.Slice
		for at := now.Add(-time.Duration(random.IntN(3600)) * time.Second); at.Before(now) && len(slices) < 300; at = at.Add(time.Duration(random.IntN(60)) * time.Second) {
			slices = append(slices, drain.Slice{Newest: at, N: 1})
		}
		want := drain.Forecast{PerSecond: 1 / every.Seconds()}
		turn := now
		for _, s := range slices {
			if deadline := s.Newest.Add(maxAge); turn.Add(every).After(deadline) {
				want.AtRisk++
				if want.FirstLoss.IsZero() {
					want.FirstLoss = deadline
				}
			} else {
				turn = turn.Add(every)
			}
		}
		got := drain.Of(slices, maxAge, want.PerSecond, now)
		if got.DrainsBy = (time.Time{}); got != want {
			t.Errorf("seed %d: Of = %+v; want %+v, for %d deliveries every %v", seed, got, want, len(slices), every)
		}
	}
}

// TestOf_evenSlice compares a slice with its deliveries one by one.
func TestOf_evenSlice(t *testing.T) {
	t.Parallel()

	const n, every = 1000, 3 * time.Second
	oldest := drain.Slice{Newest: now.Add(-n * every), N: 1}
	single := []drain.Slice{oldest}
	for i := range n {
		single = append(single, drain.Slice{Newest: oldest.Newest.Add(time.Duration(i+1) * every), N: 1})
	}
	slice := []drain.Slice{oldest, {Newest: now, N: n}}
	for _, rate := range []float64{0, 0.01, 0.13, 0.27, 0.3, 0.5, 1} {
		if diff := cmp.Diff(drain.Of(single, time.Hour, rate, now), drain.Of(slice, time.Hour, rate, now)); diff != "" {
			t.Errorf("at %v a second (-single +slice):\n%s", rate, diff)
		}
	}
}
