package porttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook/internal/hook"
)

func noticeCases() []storeCase {
	return []storeCase{
		{name: "a notice comes back with its figures", run: noticeComesBack},
		{name: "a notice that is kept twice is one", run: noticeTwice},
		{name: "notices are listed newest first, page by page", run: noticePages},
		{name: "notices that come in meanwhile do not shift the pages", run: noticePagesStandStill},
		{name: "a limit of notices is at least 1 and at most 100", run: noticeLimits},
	}
}

func sampleNotice(endpoint hook.EndpointID, key string, at time.Time) hook.Notification {
	return hook.Notification{
		Type: hook.NotificationFailing, Tenant: "acme", Endpoint: endpoint, At: at, Reason: "of 40 deliveries – 62 % – gave up",
		Figures: map[string]float64{"dead_rate": 0.625, "settled": 40, "none": 0, "less": -1.5, "third": 1.0 / 3},
		Key:     key,
	}
}

// keepNotices keeps n notices of the endpoint, two in each millisecond, and
// returns them newest first.
func keepNotices(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, from time.Time, n int) []hook.Notification {
	t.Helper()

	var all []hook.Notification
	for i := range n {
		notice := sampleNotice(endpoint, fmt.Sprintf("failing#%03d", i), from.Add(time.Duration(i/2)*time.Millisecond))
		check(t, s.PutNotification(t.Context(), notice))
		all = append(all, notice)
	}
	slices.Reverse(all)
	return all
}

// noticePagesFrom reads the endpoint's notices to their end in pages of limit.
func noticePagesFrom(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, cursor string, limit int) [][]hook.Notification {
	t.Helper()

	var all [][]hook.Notification
	for {
		page, next, err := s.Notifications(t.Context(), endpoint, cursor, limit)
		check(t, err)
		if len(page) > limit || len(all) > 100 {
			t.Fatalf("Notices(page %d, limit %d) = %d notices; want an end", len(all)+1, limit, len(page))
		}
		all = append(all, page)
		if next == "" {
			return all
		}
		cursor = next
	}
}

func noticeComesBack(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	wantSame(t, "Notices(none)", [][]hook.Notification{nil}, noticePagesFrom(t, s, endpoint, "", 10), nil)

	want := sampleNotice(endpoint, "failing#1", storeEpoch())
	given := want
	given.At = given.At.Add(999 * time.Microsecond).In(time.FixedZone("", 3600)) // kept in UTC milliseconds
	given.Figures = map[string]float64{"dead_rate": 0.625, "settled": 40, "none": 0, "less": -1.5, "third": 1.0 / 3}
	check(t, s.PutNotification(t.Context(), given))
	given.Figures["settled"] = 99 // the caller's own

	least := hook.Notification{Type: hook.NotificationClosed, Tenant: "acme", Endpoint: endpoint, At: storeEpoch().Add(-time.Hour), Key: "closed#1"}
	check(t, s.PutNotification(t.Context(), least))
	check(t, s.PutNotification(t.Context(), sampleNotice(hook.NewEndpointID(), "failing#1", storeEpoch()))) // another's

	for range 2 { // what is returned is the caller's own
		got, next, err := s.Notifications(t.Context(), endpoint, "", 10)
		wantSame(t, "Notices()", []hook.Notification{want, least}, got, err)
		if next != "" || got[0].At.Location() != time.UTC {
			t.Errorf("Notices() ends with cursor %q, its times in %s; want none, in UTC", next, got[0].At.Location())
		}
		got[0].Figures["settled"] = 99
	}
}

func noticeTwice(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	n := sampleNotice(endpoint, "failing#1", storeEpoch())
	other := sampleNotice(endpoint, "failing#2", storeEpoch()) // at the same time
	for range 3 {
		check(t, s.PutNotification(t.Context(), n))
		check(t, s.PutNotification(t.Context(), other))
	}
	got, _, err := s.Notifications(t.Context(), endpoint, "", 10)
	wantSame(t, "Notices()", []hook.Notification{other, n}, got, err)
}

func noticePages(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := keepNotices(t, s, endpoint, storeEpoch(), 6)
	want = append(want, keepNotices(t, s, endpoint, time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC), 1)...)
	keepNotices(t, s, hook.NewEndpointID(), storeEpoch(), 3)

	for _, limit := range []int{1, 2, 3, 6, 7, 8, 100} {
		chunks := slices.Collect(slices.Chunk(want, limit)) // without an empty one after a full one
		got := noticePagesFrom(t, s, endpoint, "", limit)
		wantSame(t, fmt.Sprintf("pages of %d", limit), chunks, got, nil)
	}

	// A place that no call returned is one all the same.
	wantSame(t, "pages from the end of time", [][]hook.Notification{want}, noticePagesFrom(t, s, endpoint, strings.Repeat("~", 512), 100), nil)
	wantSame(t, "pages from before all time", [][]hook.Notification{nil}, noticePagesFrom(t, s, endpoint, "!", 100), nil)
}

func noticePagesStandStill(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := keepNotices(t, s, endpoint, storeEpoch(), 5)
	first, next, err := s.Notifications(t.Context(), endpoint, "", 2)
	wantSame(t, "first page", want[:2], first, err)

	keepNotices(t, s, endpoint, storeEpoch().Add(time.Minute), 3)
	wantSame(t, "pages after the first", [][]hook.Notification{want[2:4], want[4:]}, noticePagesFrom(t, s, endpoint, next, 2), nil)
}

func noticeLimits(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := keepNotices(t, s, endpoint, storeEpoch(), 101)
	for _, tt := range []struct{ limit, want int }{{limit: -1, want: 1}, {limit: 0, want: 1}, {limit: 1, want: 1}, {limit: 100, want: 100}, {limit: 101, want: 100}, {limit: 1 << 40, want: 100}} {
		got, next, err := s.Notifications(t.Context(), endpoint, "", tt.limit)
		if err != nil || len(got) != tt.want || next == "" || got[0].Key != want[0].Key {
			t.Errorf("Notices(limit %d) = %d notices, cursor %q, %v; want the newest %d and a cursor", tt.limit, len(got), next, err, tt.want)
		}
	}
}
