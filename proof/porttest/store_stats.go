package porttest

import (
	stdcmp "cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/stats"
)

func statsCases() []storeCase {
	return []storeCase{
		{name: "all counts come back with their hour", run: hoursComeBack},
		{name: "hours at or after a time are read in order", run: hoursSince},
		{name: "20 racing counts of everything add up", run: hoursRace},
		{name: "deaths are taken back", run: hoursTakenBack},
		{name: "an hour knows its first failure, and the successes since the last", run: hoursPassed},
		{name: "counts by event type come back", run: typesComeBack},
		{name: "an hour has counts of its first types, and of the others together", run: typesBounded},
		{name: "20 racing counts of 20 types lose nothing", run: typesRace},
		{name: "active endpoints of an hour are listed by tenant and id", run: activeListed},
		{name: "active endpoints are listed page by page", run: activePages},
		{name: "120 active endpoints are listed page by page, each once", run: manyActive},
	}
}

// hourStart is the first hour of the suite, on the last day of a year.
func hourStart() time.Time { return time.Date(2025, 12, 31, 22, 0, 0, 0, time.UTC) }

// everything returns counts with all fields set, times n.
func everything(n int) stats.Counts {
	c := stats.Counts{OK: n, Failed: 2 * n, Delivered: 3 * n, First: 4 * n, Waited: time.Duration(n) * 5001 * time.Millisecond, Dead: 6 * n}
	c.Queued = time.Duration(n) * 3001 * time.Millisecond
	for i := range c.Classes {
		c.Classes[i] = n * (10 + i)
	}
	for i := range c.Numbers {
		c.Numbers[i] = n * (100 + i)
	}
	for bucket := range latency.BucketCount {
		c.Latency.AddN(bucket, n*(1000+bucket))
	}
	return c
}

func countAt(t *testing.T, s StoreUnderTest, tenant hook.TenantID, endpoint hook.EndpointID, add stats.Counts, at time.Time) {
	t.Helper()

	_, err := s.Count(t.Context(), tenant, endpoint, &add, at)
	check(t, err)
}

// wantHours compares all but the times of the first failures; see hoursPassed.
func wantHours(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, since time.Time, want ...stats.Hour) {
	t.Helper()

	got, err := s.Hours(t.Context(), endpoint, since)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(stats.Hour{}, "FailedAt"), cmp.AllowUnexported(latency.Histogram{}, latency.Coarse{})); diff != "" || err != nil {
		t.Errorf("Hours(since %s) = %v, differs (-want +got):\n%s", since, err, diff)
	}
	for _, h := range got {
		if h.Start.Location() != time.UTC {
			t.Errorf("Hours(since %s) has an hour beginning at %s; want UTC", since, h.Start)
		}
	}
}

func hoursComeBack(t *testing.T, s StoreUnderTest) {
	endpoint, other, start := hook.NewEndpointID(), hook.NewEndpointID(), hourStart()
	wantHours(t, s, endpoint, time.Time{})

	countAt(t, s, "acme", endpoint, everything(1), start)
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: everything(1)})

	more := everything(2)
	more.Waited += time.Millisecond - 1 // truncated
	countAt(t, s, "acme", endpoint, more, start.Add(9*time.Minute))
	more.Waited = everything(2).Waited + time.Millisecond - 1 // each addition is truncated
	countAt(t, s, "acme", endpoint, more, start.Add(time.Hour-1).In(time.FixedZone("", 5400)))
	countAt(t, s, "acme", other, everything(7), start)
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: everything(5)})

	// A small count adds to its fields only.
	want := everything(5)
	little := stats.Counts{OK: 1}
	little.Count(stats.Attempt{Class: hook.ClassDelivered, Number: 1, Duration: time.Second, State: hook.StateDelivered, Age: 2 * time.Second})
	want.Add(&little)
	countAt(t, s, "acme", endpoint, little, start.Add(30*time.Minute))
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: want})
}

func hoursSince(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	var want []stats.Hour // to four hours into the new year, without hour 2
	for _, i := range []int{5, 0, 1, 3, 4} {
		countAt(t, s, "acme", endpoint, everything(i+1), start.Add(time.Duration(i)*time.Hour+17*time.Minute))
		want = append(want, stats.Hour{Start: start.Add(time.Duration(i) * time.Hour), Counts: everything(i + 1)})
	}
	slices.SortFunc(want, func(a, b stats.Hour) int { return a.Start.Compare(b.Start) })

	for offset, from := range map[time.Duration]int{
		-24 * time.Hour: 0, -1: 0, 0: 0,
		1: 1, 30 * time.Minute: 1, time.Hour - 1: 1, time.Hour: 1,
		time.Hour + 1: 2, 2 * time.Hour: 2, 3 * time.Hour: 2,
		5 * time.Hour: 4, 5*time.Hour + 1: 5, 48 * time.Hour: 5,
	} {
		wantHours(t, s, endpoint, start.Add(offset).In(time.FixedZone("", -5400)), want[from:]...)
	}
	wantHours(t, s, endpoint, time.Time{}, want...)
	wantHours(t, s, hook.NewEndpointID(), time.Time{})
}

func hoursPassed(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	answers := map[hook.Class]int{hook.ClassDelivered: 200, hook.ClassRefused: 401}
	batch := func(classes ...hook.Class) (add stats.Counts) {
		for _, class := range classes {
			add.Count(stats.Attempt{Class: class, Status: answers[class], Number: 1})
		}
		return add
	}
	const ok, refused, timeout = hook.ClassDelivered, hook.ClassRefused, hook.ClassTimeout
	steps := []struct {
		add        stats.Counts
		failedAt   int // minutes; 0: never
		failedWith int // the status
		passed     int
	}{
		{batch(ok, ok), 0, 0, 2},
		{batch(ok, refused, ok), 2, 401, 1},
		{stats.Counts{Dead: 1}, 2, 401, 1},
		{batch(ok, ok), 2, 401, 3},
		{batch(refused, timeout), 2, 0, 0},
		{batch(refused), 2, 401, 0},
		{batch(ok), 2, 401, 1},
	}
	for i, step := range steps {
		countAt(t, s, "acme", endpoint, step.add, start.Add(time.Duration(i+1)*time.Minute))
		got, err := s.Hours(t.Context(), endpoint, start)
		check(t, err)
		want := time.Time{}
		if step.failedAt > 0 {
			want = start.Add(time.Duration(step.failedAt) * time.Minute)
		}
		if len(got) != 1 || !got[0].FailedAt.Equal(want) || got[0].FailedWith != step.failedWith || got[0].Passed != step.passed {
			t.Errorf("after %d counts, Hours = %d passed, the first failure at %s, the last with %d; want %d, %s, %d",
				i+1, got[0].Passed, got[0].FailedAt, got[0].FailedWith, step.passed, want, step.failedWith)
		}
	}
}

func hoursTakenBack(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	countAt(t, s, "acme", endpoint, stats.Counts{Dead: 3, OK: 1}, start)
	countAt(t, s, "acme", endpoint, stats.Counts{Dead: -1}, start.Add(time.Minute))
	countAt(t, s, "acme", endpoint, stats.Counts{Dead: -1}, start.Add(time.Hour))
	wantHours(t, s, endpoint, start,
		stats.Hour{Start: start, Counts: stats.Counts{Dead: 2, OK: 1}},
		stats.Hour{Start: start.Add(time.Hour), Counts: stats.Counts{Dead: -1}})
}

// typedCounts returns the counts of n deliveries of the type at the second attempt, and
// of a death.
func typedCounts(eventType string, n int) stats.Counts {
	c := *stats.Deaths(eventType, 1)
	for range n {
		c.Count(stats.Attempt{Type: eventType, Class: hook.ClassTimeout, Number: 1, Duration: 10 * time.Second, State: hook.StateRetrying})
		c.Count(stats.Attempt{Type: eventType, Class: hook.ClassDelivered, Number: 2, Duration: 100 * time.Millisecond, State: hook.StateDelivered})
	}
	return c
}

func typesComeBack(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	var want stats.Counts
	for i, eventType := range []string{"order.paid", "a", strings.Repeat("x", 128), "A-_.z", "order.paid", ""} {
		countAt(t, s, "acme", endpoint, typedCounts(eventType, i+1), start.Add(time.Duration(i)*time.Minute))
		want.Add(new(typedCounts(eventType, i+1)))
	}
	countAt(t, s, "acme", endpoint, *stats.Deaths("a", -1), start)
	want.Add(stats.Deaths("a", -1))
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: want})

	all := typedCounts("order.paid", 1) // several types at once
	all.Add(new(typedCounts("new", 2)))
	countAt(t, s, "acme", endpoint, all, start.Add(time.Hour-1))
	want.Add(&all)
	next := typedCounts("next", 1)
	countAt(t, s, "acme", endpoint, next, start.Add(time.Hour))
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: want}, stats.Hour{Start: start.Add(time.Hour), Counts: next})
}

func typesBounded(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	var want stats.Counts
	for i := range stats.MaxTypes + 3 {
		eventType := fmt.Sprintf("type-%02d", (i*7)%11)
		countAt(t, s, "acme", endpoint, typedCounts(eventType, 1), start)
		want.Add(new(typedCounts(eventType, 1)))
	}
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: want})
	known, late := want.Types.Named[3].Type, typedCounts("zzz", 2)
	late.Add(new(typedCounts(known, 3)))
	countAt(t, s, "acme", endpoint, late, start.Add(time.Minute))
	want.Add(&late)
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: want})
}

func typesRace(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	race(t, 20, func(ctx context.Context, i int) error {
		_, err := s.Count(ctx, "acme", endpoint, new(typedCounts(fmt.Sprintf("type-%02d", i), 1)), start)
		return err
	})
	hours, err := s.Hours(t.Context(), endpoint, start)
	check(t, err)
	if len(hours) != 1 || hours[0].Types.Len() != stats.MaxTypes || hours[0].Types.Other.Attempts() != 2*(20-stats.MaxTypes) || hours[0].Attempts() != 40 {
		t.Errorf("20 racing types = %+v; want %d types, and the rest as other", hours, stats.MaxTypes)
	}
}

func hoursRace(t *testing.T, s StoreUnderTest) {
	endpoint, start := hook.NewEndpointID(), hourStart()
	race(t, 20, func(ctx context.Context, i int) error {
		_, err := s.Count(ctx, "acme", endpoint, new(everything(1)), start.Add(time.Duration(i%7)*time.Minute))
		return err
	})
	wantHours(t, s, endpoint, start, stats.Hour{Start: start, Counts: everything(20)})
}

// makeActive counts for two endpoints of several tenants, and returns the endpoints
// in order. Some tenants are prefixes of others.
func makeActive(t *testing.T, s StoreUnderTest, at time.Time) []hook.CircuitCheck {
	t.Helper()

	var all []hook.CircuitCheck
	for _, tenant := range []hook.TenantID{"A", "a", "a-b", "a.b", "a0", "aB", "a_b", "ab", "b"} {
		for range 2 {
			all = append(all, hook.CircuitCheck{Tenant: tenant, Endpoint: hook.NewEndpointID()})
		}
	}
	for _, l := range slices.Backward(all) {
		countAt(t, s, l.Tenant, l.Endpoint, stats.Counts{OK: 1}, at)
		countAt(t, s, l.Tenant, l.Endpoint, stats.Counts{Failed: 1}, at.Add(time.Minute))
	}
	slices.SortFunc(all, func(a, b hook.CircuitCheck) int {
		return stdcmp.Or(strings.Compare(string(a.Tenant), string(b.Tenant)), strings.Compare(string(a.Endpoint), string(b.Endpoint)))
	})
	return all
}

func activeListed(t *testing.T, s StoreUnderTest) {
	start := hourStart()
	want := makeActive(t, s, start.Add(20*time.Minute))
	both := want[3] // active in the next hour, too
	countAt(t, s, both.Tenant, both.Endpoint, stats.Counts{OK: 1}, start.Add(time.Hour))

	for offset, want := range map[time.Duration][]hook.CircuitCheck{
		-1: nil, 0: want, 30 * time.Minute: want, time.Hour - 1: want,
		time.Hour: {both}, 2*time.Hour - 1: {both}, 2 * time.Hour: nil, 24 * time.Hour: nil,
	} {
		got, err := s.Active(t.Context(), start.Add(offset).In(time.FixedZone("", 5400)), hook.CircuitCheck{}, 1000)
		wantSame(t, "Active("+offset.String()+" after the hour began)", want, got, err)
	}
}

func activePages(t *testing.T, s StoreUnderTest) {
	start := hourStart()
	want := makeActive(t, s, start)
	for _, limit := range []int{1, 2, 5, len(want), 1000, 1 << 40} {
		var got []hook.CircuitCheck
		for after, more := (hook.CircuitCheck{}), true; more; {
			page, err := s.Active(t.Context(), start, after, limit)
			check(t, err)
			if len(page) > limit || len(got) > len(want) {
				t.Fatalf("Active(after %d, limit %d) = %d endpoints; want an end", len(got), limit, len(page))
			}
			got = append(got, page...)
			if more = len(page) > 0; more {
				after = page[len(page)-1]
			}
		}
		wantSame(t, fmt.Sprintf("Active() in pages of %d", limit), want, got, nil)
	}
	for _, limit := range []int{-1, 0} {
		got, err := s.Active(t.Context(), start, hook.CircuitCheck{}, limit)
		wantSame(t, fmt.Sprintf("Active(limit %d)", limit), want[:1], got, err)
	}

	// The page may begin after an endpoint without counts.
	between := hook.CircuitCheck{Tenant: "a-", Endpoint: hook.NewEndpointID(), Wave: 3}
	got, err := s.Active(t.Context(), start, between, 1)
	wantSame(t, "Active(after an inactive endpoint)", want[4:5], got, err)
}

// manyActive lists more endpoints than a request of a store reads, over all keys
// that a store may spread the endpoints over.
func manyActive(t *testing.T, s StoreUnderTest) {
	tenants := []hook.TenantID{
		"a", "a+b", "a-b", "a.b", "a:b", "a@b", "a|b", "a|", "auth0|5f7c", "org:acme@example.com+eu", hook.TenantID(strings.Repeat("t", 128)),
	}
	start := hourStart()
	want := make([]hook.CircuitCheck, 120)
	race(t, len(want), func(ctx context.Context, i int) error {
		want[i] = hook.CircuitCheck{Tenant: tenants[i%len(tenants)], Endpoint: hook.NewEndpointID()}
		_, err := s.Count(ctx, want[i].Tenant, want[i].Endpoint, &stats.Counts{OK: 1}, start)
		return err
	})
	slices.SortFunc(want, func(a, b hook.CircuitCheck) int {
		return stdcmp.Or(strings.Compare(string(a.Tenant), string(b.Tenant)), strings.Compare(string(a.Endpoint), string(b.Endpoint)))
	})
	for _, limit := range []int{7, 40, 119, 120, 121, 1000} {
		var got []hook.CircuitCheck
		var after hook.CircuitCheck
		for {
			page, err := s.Active(t.Context(), start, after, limit)
			check(t, err)
			if len(page) == 0 {
				break
			}
			if len(page) > limit || len(got) > len(want) {
				t.Fatalf("Active(after %d, limit %d) = %d endpoints; want an end", len(got), limit, len(page))
			}
			got, after = append(got, page...), page[len(page)-1]
		}
		wantSame(t, fmt.Sprintf("Active() in pages of %d", limit), want, got, nil)
	}
	for _, i := range []int{0, 17, 59, 118, 119} { // from the middle of the list
		got, err := s.Active(t.Context(), start, want[i], 40)
		wantSame(t, fmt.Sprintf("Active(after %d, limit 40)", i), want[i+1:min(i+41, len(want))], got, err)
	}
}
