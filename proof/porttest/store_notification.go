package porttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func notificationCases() []storeCase {
	return []storeCase{
		{name: "a notification comes back with its figures", run: notificationComesBack},
		{name: "a notification put twice is listed once", run: notificationTwice},
		{name: "notifications are listed newest first, page by page", run: notificationPages},
		{name: "new notifications do not shift the pages", run: notificationPagesAreStable},
		{name: "a limit of notifications is at least 1 and at most 100", run: notificationLimits},
		{name: "a notification about a delivery comes back with the delivery", run: notificationOfDelivery},
	}
}

func sampleNotification(endpoint hook.EndpointID, key string, at time.Time) hook.Notification {
	return hook.Notification{
		Type: hook.NotificationFailing, Tenant: "acme", Endpoint: endpoint, At: at, Reason: "of 40 deliveries – 62 % – gave up",
		Figures: map[string]float64{"dead_rate": 0.625, "settled": 40, "none": 0, "less": -1.5, "third": 1.0 / 3},
		Key:     key,
	}
}

// putNotifications puts n notifications of the endpoint, two per millisecond, and
// returns the notifications newest first.
func putNotifications(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, from time.Time, n int) []hook.Notification {
	t.Helper()

	var all []hook.Notification
	for i := range n {
		notification := sampleNotification(endpoint, fmt.Sprintf("failing#%03d", i), from.Add(time.Duration(i/2)*time.Millisecond))
		check(t, s.PutNotification(t.Context(), notification))
		all = append(all, notification)
	}
	slices.Reverse(all)
	return all
}

// notificationPagesFrom reads all notifications of the endpoint in pages of limit.
func notificationPagesFrom(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, cursor string, limit int) [][]hook.Notification {
	t.Helper()

	var all [][]hook.Notification
	for {
		page, next, err := s.Notifications(t.Context(), endpoint, cursor, limit)
		check(t, err)
		if len(page) > limit || len(all) > 100 {
			t.Fatalf("Notifications(page %d, limit %d) = %d notifications; want an end", len(all)+1, limit, len(page))
		}
		all = append(all, page)
		if next == "" {
			return all
		}
		cursor = next
	}
}

func notificationComesBack(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	wantSame(t, "Notifications(none)", [][]hook.Notification{nil}, notificationPagesFrom(t, s, endpoint, "", 10), nil)

	want := sampleNotification(endpoint, "failing#1", storeEpoch())
	given := want
	given.At = given.At.Add(999 * time.Microsecond).In(time.FixedZone("", 3600)) // kept in UTC milliseconds
	given.Figures = map[string]float64{"dead_rate": 0.625, "settled": 40, "none": 0, "less": -1.5, "third": 1.0 / 3}
	check(t, s.PutNotification(t.Context(), given))
	given.Figures["settled"] = 99 // the argument, not the stored copy

	least := hook.Notification{Type: hook.NotificationClosed, Tenant: "acme", Endpoint: endpoint, At: storeEpoch().Add(-time.Hour), Key: "closed#1"}
	check(t, s.PutNotification(t.Context(), least))
	check(t, s.PutNotification(t.Context(), sampleNotification(hook.NewEndpointID(), "failing#1", storeEpoch()))) // of another endpoint

	for range 2 { // results are copies
		got, next, err := s.Notifications(t.Context(), endpoint, "", 10)
		wantSame(t, "Notifications()", []hook.Notification{want, least}, got, err)
		if next != "" || got[0].At.Location() != time.UTC {
			t.Errorf("Notifications() ends with cursor %q and times in %s; want no cursor, UTC", next, got[0].At.Location())
		}
		got[0].Figures["settled"] = 99
	}
}

func notificationTwice(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	n := sampleNotification(endpoint, "failing#1", storeEpoch())
	other := sampleNotification(endpoint, "failing#2", storeEpoch()) // at the same time
	for range 3 {
		check(t, s.PutNotification(t.Context(), n))
		check(t, s.PutNotification(t.Context(), other))
	}
	got, _, err := s.Notifications(t.Context(), endpoint, "", 10)
	wantSame(t, "Notifications()", []hook.Notification{other, n}, got, err)
}

func notificationPages(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := putNotifications(t, s, endpoint, storeEpoch(), 6)
	want = append(want, putNotifications(t, s, endpoint, time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC), 1)...)
	putNotifications(t, s, hook.NewEndpointID(), storeEpoch(), 3)

	for _, limit := range []int{1, 2, 3, 6, 7, 8, 100} {
		chunks := slices.Collect(slices.Chunk(want, limit)) // no empty page after a full page
		got := notificationPagesFrom(t, s, endpoint, "", limit)
		wantSame(t, fmt.Sprintf("pages of %d", limit), chunks, got, nil)
	}

	// A cursor not returned by any call is valid, too.
	wantSame(t, "pages from the end of time", [][]hook.Notification{want}, notificationPagesFrom(t, s, endpoint, strings.Repeat("~", 512), 100), nil)
	wantSame(t, "pages from before all time", [][]hook.Notification{nil}, notificationPagesFrom(t, s, endpoint, "!", 100), nil)
}

func notificationPagesAreStable(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := putNotifications(t, s, endpoint, storeEpoch(), 5)
	first, next, err := s.Notifications(t.Context(), endpoint, "", 2)
	wantSame(t, "first page", want[:2], first, err)

	putNotifications(t, s, endpoint, storeEpoch().Add(time.Minute), 3)
	wantSame(t, "pages after the first", [][]hook.Notification{want[2:4], want[4:]}, notificationPagesFrom(t, s, endpoint, next, 2), nil)
}

func notificationLimits(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := putNotifications(t, s, endpoint, storeEpoch(), 101)
	for _, tt := range []struct{ limit, want int }{{limit: -1, want: 1}, {limit: 0, want: 1}, {limit: 1, want: 1}, {limit: 100, want: 100}, {limit: 101, want: 100}, {limit: 1 << 40, want: 100}} {
		got, next, err := s.Notifications(t.Context(), endpoint, "", tt.limit)
		if err != nil || len(got) != tt.want || next == "" || got[0].Key != want[0].Key {
			t.Errorf("Notifications(limit %d) = %d notifications, cursor %q, %v; want the newest %d and a cursor", tt.limit, len(got), next, err, tt.want)
		}
	}
}

func notificationOfDelivery(t *testing.T, s StoreUnderTest) {
	about := sampleDelivery(sampleEvent(t).ID, hook.NewEndpointID(), 1).ID
	want := hook.Notification{
		Type: hook.NotificationDisabled, Tenant: "acme", Endpoint: about.Endpoint, Delivery: about, At: storeEpoch(), Reason: "it is gone", Key: "gone",
	}
	check(t, s.PutNotification(t.Context(), want))
	got, _, err := s.Notifications(t.Context(), about.Endpoint, "", 1)
	wantSame(t, "Notifications()", []hook.Notification{want}, got, err)
}
