package porttest

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

func countCases() []storeCase {
	return []storeCase{
		{name: "counts add up in a minute and over the window", run: countsAddUp},
		{name: "the window is ten whole minutes and ends with the current minute", run: countWindow},
		{name: "the current minute is counted apart", run: countMinute},
		{name: "the window extends into the hour before after a failure", run: countAcrossTheHour},
		{name: "counting nothing changes nothing", run: countNothing},
		{name: "50 racing counts all count", run: countRace},
		{name: "more counts join the hour's", run: countMore},
		{name: "an hour without counts gets no more", run: countNoMore},
	}
}

// wantCounts checks the counts of the window, without those of the current minute.
func wantCounts(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, add circuit.Counts, now time.Time, want circuit.Counts) {
	t.Helper()

	got, err := s.Count(t.Context(), "acme", endpoint, new(counted(add)), now)
	got.LastOK, got.LastFailed = 0, 0
	if err != nil || got != want {
		t.Errorf("Count(%+v, %s) = %+v, %v; want %+v", add, now.UTC().Format(time.RFC3339Nano), got, err, want)
	}
}

func countsAddUp(t *testing.T, s StoreUnderTest) {
	endpoint, at := hook.NewEndpointID(), time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	wantCounts(t, s, endpoint, circuit.Counts{OK: 2}, at, circuit.Counts{OK: 2})
	wantCounts(t, s, endpoint, circuit.Counts{Failed: 3}, at.Add(time.Minute-1), circuit.Counts{OK: 2, Failed: 3})
	wantCounts(t, s, endpoint, circuit.Counts{OK: 10, Failed: 20}, at.Add(time.Minute), circuit.Counts{OK: 12, Failed: 23})
	wantCounts(t, s, endpoint, circuit.Counts{OK: 1}, at.Add(9*time.Minute).In(time.FixedZone("", 5400)), circuit.Counts{OK: 13, Failed: 23})
	wantCounts(t, s, hook.NewEndpointID(), circuit.Counts{OK: 1}, at, circuit.Counts{OK: 1}) // another endpoint
}

func countMinute(t *testing.T, s StoreUnderTest) {
	endpoint, at := hook.NewEndpointID(), time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		after time.Duration
		want  circuit.Counts
	}{
		{0, circuit.Counts{OK: 2, Failed: 3, LastOK: 2, LastFailed: 3}},
		{time.Minute - 1, circuit.Counts{OK: 4, Failed: 6, LastOK: 4, LastFailed: 6}},
		{time.Minute, circuit.Counts{OK: 6, Failed: 9, LastOK: 2, LastFailed: 3}},
		{30 * time.Minute, circuit.Counts{OK: 2, Failed: 3, LastOK: 2, LastFailed: 3}}, // of another hour
	} {
		got, err := s.Count(t.Context(), "acme", endpoint, &stats.Counts{OK: 2, Failed: 3}, at.Add(tt.after))
		if err != nil || got != tt.want {
			t.Errorf("Count() after %s = %+v, %v; want %+v", tt.after, got, err, tt.want)
		}
	}
}

func countWindow(t *testing.T, s StoreUnderTest) {
	now := time.Date(2026, 1, 2, 3, 45, 59, 999e6, time.UTC)
	one := circuit.Counts{OK: 1, Failed: 1}
	for ago, in := range map[time.Duration]bool{
		0: true, 59 * time.Second: true, time.Minute: true, 9*time.Minute + 59*time.Second: true,
		10 * time.Minute: false, 11 * time.Minute: false, 20 * time.Minute: false,
	} {
		endpoint, want := hook.NewEndpointID(), one
		if in {
			want = circuit.Counts{OK: 2, Failed: 2}
		}
		wantCounts(t, s, endpoint, one, now.Add(-ago), one)
		wantCounts(t, s, endpoint, one, now, want)
	}

	// At the beginning of a minute, the window begins nine minutes ago.
	begins := now.Truncate(time.Minute)
	for ago, want := range map[time.Duration]int{9 * time.Minute: 2, 9*time.Minute + 1: 1} {
		endpoint := hook.NewEndpointID()
		wantCounts(t, s, endpoint, circuit.Counts{Failed: 1}, begins.Add(-ago), circuit.Counts{Failed: 1})
		wantCounts(t, s, endpoint, circuit.Counts{Failed: 1}, begins, circuit.Counts{Failed: want})
	}

	// The same minute of another hour or day is outside the window.
	for _, ago := range []time.Duration{time.Hour, 24 * time.Hour} {
		endpoint := hook.NewEndpointID()
		wantCounts(t, s, endpoint, one, now.Add(-ago), one)
		wantCounts(t, s, endpoint, one, now, one)
	}
}

func countAcrossTheHour(t *testing.T, s StoreUnderTest) {
	midnight := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	before, since := circuit.Counts{OK: 5, Failed: 7}, circuit.Counts{OK: 1, Failed: 2}
	for ago, in := range map[time.Duration]bool{
		time.Nanosecond: true, 5 * time.Minute: true, 5*time.Minute + 1: false, 59 * time.Minute: false,
	} {
		endpoint := hook.NewEndpointID()
		wantCounts(t, s, endpoint, before, midnight.Add(-ago), before)
		want := circuit.Counts{OK: 1, Failed: 12}
		if in {
			want = circuit.Counts{OK: 6, Failed: 19}
		}
		_, err := s.Count(t.Context(), "acme", endpoint, new(counted(since)), midnight)
		check(t, err)
		wantCounts(t, s, endpoint, circuit.Counts{Failed: 10}, midnight.Add(4*time.Minute), want) // from 23:55 on
	}
	endpoint := hook.NewEndpointID() // without counts in the hour before
	wantCounts(t, s, endpoint, since, midnight, since)
}

func countNothing(t *testing.T, s StoreUnderTest) {
	endpoint, at := hook.NewEndpointID(), time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	wantCounts(t, s, endpoint, circuit.Counts{}, at, circuit.Counts{})
	wantCounts(t, s, endpoint, circuit.Counts{OK: 1, Failed: 2}, at, circuit.Counts{OK: 1, Failed: 2})
	wantCounts(t, s, endpoint, circuit.Counts{}, at, circuit.Counts{OK: 1, Failed: 2})
}

func countRace(t *testing.T, s StoreUnderTest) {
	endpoint, at := hook.NewEndpointID(), time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	counts := make([]circuit.Counts, 50)
	race(t, len(counts), func(ctx context.Context, i int) (err error) {
		counts[i], err = s.Count(ctx, "acme", endpoint, &stats.Counts{OK: 1, Failed: 2}, at.Add(time.Duration(i%5)*time.Minute))
		return err
	})
	wantCounts(t, s, endpoint, circuit.Counts{}, at.Add(5*time.Minute), circuit.Counts{OK: 50, Failed: 100})
	for _, c := range counts {
		if c.OK < 1 || c.OK > 50 || c.Failed != 2*c.OK {
			t.Errorf("a racing Count() = %+v; want the sum of some racers, this call included", c)
		}
	}
}

// counted returns stats with the counts of the circuit only.
func counted(c circuit.Counts) stats.Counts { return stats.Counts{OK: c.OK, Failed: c.Failed} }

func countMore(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	countAt(t, s, "acme", endpoint, everything(1), start)
	check(t, s.CountMore(t.Context(), "acme", endpoint, new(typedCounts("order.late", 1)), start.Add(time.Minute)))
	want := everything(1)
	want.Add(new(typedCounts("order.late", 1)))
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: want})
	wantCounts(t, s, endpoint, circuit.Counts{OK: 1}, start.Add(time.Minute), circuit.Counts{OK: want.OK + 1, Failed: want.Failed})
}

// After the erasure of a tenant, late counts make no record.
func countNoMore(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	for _, add := range []stats.Counts{{OK: 1, Delivered: 1}, typedCounts("order.late", 1)} {
		check(t, s.CountMore(t.Context(), "acme", endpoint, &add, start))
	}
	wantHours(t, s, endpoint, time.Time{})
	countAt(t, s, "acme", endpoint, everything(1), start)
	check(t, s.CountMore(t.Context(), "acme", endpoint, &stats.Counts{OK: 1}, start.Add(time.Hour))) // the next hour has none
	wantHours(t, s, endpoint, time.Time{}, stats.Hour{Start: start, Counts: everything(1)})
}
