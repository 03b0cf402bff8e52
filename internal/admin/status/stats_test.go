package status_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// success is an attempt of the type at the number.
func success(eventType string, number int) stats.Attempt {
	return stats.Attempt{Type: eventType, Class: hook.ClassDelivered, Number: number, Duration: 100 * time.Millisecond, State: hook.StateDelivered, Age: time.Second}
}

// failure is a failed attempt of the type; the last one ends the delivery.
func failure(eventType string, number int, state hook.State) stats.Attempt {
	return stats.Attempt{Type: eventType, Class: hook.ClassTimeout, Number: number, Duration: 10 * time.Second, State: state}
}

// brief is a row of statistics as text.
func brief(r status.StatsRow) string {
	name := string(r.Endpoint) + r.Type
	if r.Other {
		name += "other"
	}
	hour := "total"
	if !r.Hour.IsZero() {
		hour = r.Hour.Format("02T15")
	}
	share := func(rate *float64) float64 {
		if rate == nil {
			return 0
		}
		return *rate
	}
	timed := r.Latency
	if timed == nil {
		timed = new(status.Latency)
	}
	at := append(slices.Clone(r.DeliveredAt), 0, 0, 0)[:3]
	return fmt.Sprintf("%s %s: %d attempts, %.2f %.2f %.2f, %d delivered at %v, %d dead, %d timed, p99 %v", hour, name,
		r.Attempts, share(r.Success), share(r.FirstSuccess), share(r.DeadRate), r.Delivered, at, r.Dead, timed.Samples, timed.P99.Round(100*time.Millisecond))
}

func wantRows(t *testing.T, b *bundle, q status.StatsQuery, want ...string) status.Statistics {
	t.Helper()

	got, err := b.Statistics(t.Context(), tenant, q)
	if err != nil {
		t.Fatalf("Statistics(%+v) = %v", q, err)
	}
	var rows []string
	for _, r := range got.Rows {
		rows = append(rows, brief(r))
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("Statistics(%+v) (-want +got):\n%s", q, diff)
	}
	return got
}

func TestReader_Statistics(t *testing.T) {
	t.Parallel()

	b := setup(t) // 09:30
	one, two := b.create(t), b.create(t)
	if one.ID > two.ID {
		one, two = two, one
	}
	b.count(t, one, b.now, success("order.paid", 1), success("order.paid", 1), failure("user.made", 1, hook.StateRetrying), success("user.made", 2))
	b.count(t, two, b.now.Add(-time.Hour), success("order.paid", 3), failure("user.made", 2, hook.StateDead))
	b.count(t, two, b.now.Add(-7*24*time.Hour), success("old", 1))
	b.count(t, two, b.now.Add(-7*24*time.Hour-time.Hour), success("older", 1))
	b.count(t, stranger(), b.now, success("order.paid", 1))

	const paid = "3 attempts, 1.00 1.00 0.00, 3 delivered at [2 0 1], 0 dead, 3 timed, p99 100ms"
	const made = "3 attempts, 0.33 0.00 0.50, 1 delivered at [0 1 0], 1 dead, 3 timed, p99 10.1s"
	wantRows(t, b, status.StatsQuery{}, "total : 6 attempts, 0.67 0.67 0.20, 4 delivered at [2 1 1], 1 dead, 6 timed, p99 10.4s")
	wantRows(t, b, status.StatsQuery{Group: "type"}, "total order.paid: "+paid, "total user.made: "+made)
	wantRows(t, b, status.StatsQuery{Group: "endpoint"},
		"total "+string(one.ID)+": 4 attempts, 0.75 0.67 0.00, 3 delivered at [2 1 0], 0 dead, 4 timed, p99 10.4s",
		"total "+string(two.ID)+": 2 attempts, 0.50 0.00 0.50, 1 delivered at [0 0 1], 1 dead, 2 timed, p99 10.4s")
	got := wantRows(t, b, status.StatsQuery{Hourly: true, Since: b.now.Add(-7 * 24 * time.Hour)},
		"14T09 : 1 attempts, 1.00 1.00 0.00, 1 delivered at [1 0 0], 0 dead, 1 timed, p99 100ms",
		"21T08 : 2 attempts, 0.50 0.00 0.50, 1 delivered at [0 0 1], 1 dead, 2 timed, p99 10.4s",
		"21T09 : 4 attempts, 0.75 0.67 0.00, 3 delivered at [2 1 0], 0 dead, 4 timed, p99 10.4s")
	if got.Endpoints != 2 || !got.Since.Equal(time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC)) || !got.Until.Equal(b.now) {
		t.Errorf("Statistics = %d endpoints from %v to %v; want 2 from 14T09 to now", got.Endpoints, got.Since, got.Until)
	}
	wantRows(t, b, status.StatsQuery{Endpoint: string(two.ID), Group: "type", Hourly: true, Until: b.now.Truncate(time.Hour)},
		"21T08 order.paid: 1 attempts, 1.00 0.00 0.00, 1 delivered at [0 0 1], 0 dead, 1 timed, p99 100ms",
		"21T08 user.made: 1 attempts, 0.00 0.00 1.00, 0 delivered at [0 0 0], 1 dead, 1 timed, p99 10.1s")
	wantRows(t, setup(t), status.StatsQuery{Group: "type"})
}

// TestReader_Statistics_bounds has more types than an hour counts, and more types than
// an hourly answer shows.
func TestReader_Statistics_bounds(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t)
	for i := range 25 {
		for range 25 - i {
			b.count(t, e, b.now.Add(-time.Duration(i/5)*time.Hour), success(fmt.Sprintf("type-%02d", i), 1))
		}
	}
	for i := range 9 {
		b.count(t, e, b.now.Add(-6*time.Hour), success(fmt.Sprintf("late-%02d", i), 1))
	}
	got, err := b.Statistics(t.Context(), tenant, status.StatsQuery{Group: "type", Hourly: true})
	if err != nil {
		t.Fatalf("Statistics = %v", err)
	}
	groups, other := make(map[string]bool), make(map[string]int)
	for i, r := range got.Rows {
		if groups[r.Type] = true; r.Other {
			other[r.Hour.Format("15")] = r.Attempts
		}
		if i > 0 && got.Rows[i-1].Other && got.Rows[i-1].Hour.Equal(r.Hour) {
			t.Errorf("%s is after the group other", brief(r))
		}
	}
	if diff := cmp.Diff(map[string]int{"05": 5 + 4 + 3 + 2 + 1, "03": 9}, other); diff != "" || len(groups) != 21 {
		t.Errorf("attempts of others by hour in %d groups (-want +got):\n%s", len(groups), diff)
	}
	total, err := b.Statistics(t.Context(), tenant, status.StatsQuery{Group: "type"})
	if err != nil || len(total.Rows) != 25+8+1 {
		t.Errorf("Statistics in total = %d rows, %v; want every counted type and other", len(total.Rows), err)
	}
}

func TestReader_Statistics_refuses(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t)
	for name, tt := range map[string]struct {
		q    status.StatsQuery
		want string
	}{
		"too early":            {q: status.StatsQuery{Since: b.now.Add(-7*24*time.Hour - 31*time.Minute)}, want: "at most 7 days ago"},
		"an empty span":        {q: status.StatsQuery{Since: b.now, Until: b.now.Truncate(time.Hour)}, want: "before until"},
		"a begin after now":    {q: status.StatsQuery{Since: b.now.Add(time.Hour), Until: b.now.Add(2 * time.Hour)}, want: "before until"},
		"no endpoint with ref": {q: status.StatsQuery{Endpoint: "unknown"}},
	} {
		_, err := b.Statistics(t.Context(), tenant, tt.q)
		if tt.want == "" {
			if hook.CodeOf(err) != hook.CodeNotFound {
				t.Errorf("%s: Statistics = %v; want CodeNotFound", name, err)
			}
			continue
		}
		known, ok := errors.AsType[*hook.Error](err)
		if !ok || len(known.Fields) != 1 || known.Fields[0].Field != "since" || !strings.Contains(known.Fields[0].Message, tt.want) {
			t.Errorf("%s: Statistics = %v; want since %q", name, err, tt.want)
		}
	}
	if _, err := b.Statistics(t.Context(), tenant, status.StatsQuery{Endpoint: string(e.ID), Since: b.now.Add(-7*24*time.Hour - 30*time.Minute)}); err != nil {
		t.Errorf("Statistics of the hour 7 days ago = %v", err)
	}
}

// countedStats counts the requests for hours.
type countedStats struct {
	status.Store

	requests atomic.Int64
}

func (c *countedStats) Hours(ctx context.Context, id hook.EndpointID, since time.Time) ([]stats.Hour, error) {
	c.requests.Add(1)
	return c.Store.Hours(ctx, id, since)
}

// TestReader_Statistics_requests reads 7 days of 73 endpoints, and of one more.
func TestReader_Statistics_requests(t *testing.T) {
	t.Parallel()

	b := setup(t)
	counted := &countedStats{Store: b.store}
	b.Store = counted
	week := status.StatsQuery{Since: b.now.Add(-7 * 24 * time.Hour)}
	for i := range 74 {
		if i == 73 {
			if got, err := b.Statistics(t.Context(), tenant, week); err != nil || got.Endpoints != i || counted.requests.Load() != int64(i) {
				t.Errorf("Statistics of %d endpoints = %d, %v with %d requests; want all, a request each", i, got.Endpoints, err, counted.requests.Load())
			}
		}
		if _, _, err := b.admin.Create(t.Context(), tenant, endpoint.Fields{URL: new(fmt.Sprintf("https://example.com/%d", i))}, ""); err != nil {
			t.Fatalf("Create = %v", err)
		}
	}
	_, err := b.Statistics(t.Context(), tenant, week)
	if fieldsOf(t, err)[0] != "since" || counted.requests.Load() != 73 {
		t.Errorf("Statistics of 7 days of 74 endpoints = %v after %d requests; want refused before any request", err, counted.requests.Load()-73)
	}
	// The error says what to send: the earliest time within the limit.
	_, text, _ := strings.Cut(err.Error(), "send ")
	text, _, _ = strings.Cut(text, " or later")
	earliest, parseErr := time.Parse(time.RFC3339, text)
	if parseErr != nil {
		t.Fatalf("Statistics of 7 days of 74 endpoints = %v; want the earliest time to send: %v", err, parseErr)
	}
	if _, err := b.Statistics(t.Context(), tenant, status.StatsQuery{Since: earliest}); err != nil {
		t.Errorf("Statistics since %s = %v; want success, as the error says", text, err)
	}
	if _, err := b.Statistics(t.Context(), tenant, status.StatsQuery{Since: earliest.Add(-time.Hour)}); hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("Statistics since an hour before %s = %v; want refused", text, err)
	}
}
