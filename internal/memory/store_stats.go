package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/stats"
)

func (s *Store) countHour(tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, now time.Time) {
	hour := now.UTC().Truncate(time.Hour)
	if s.hours[endpoint] == nil {
		s.hours[endpoint] = make(map[time.Time]*stats.Counts)
	}
	if s.hours[endpoint][hour] == nil {
		s.hours[endpoint][hour] = &stats.Counts{}
	}
	counts := s.hours[endpoint][hour]
	waited, queued := counts.Waited, counts.Queued
	counts.Add(add)
	counts.Waited, counts.Queued = waited+add.Waited.Truncate(time.Millisecond), queued+add.Queued.Truncate(time.Millisecond)
	if s.active[hour] == nil {
		s.active[hour] = make(map[hook.CircuitCheck]bool)
	}
	s.active[hour][hook.CircuitCheck{Tenant: tenant, Endpoint: endpoint}] = true
}

// Hours omits hours without counts.
func (s *Store) Hours(ctx context.Context, endpoint hook.EndpointID, since time.Time) ([]stats.Hour, error) {
	if err := available(ctx, "read hours of endpoint "+string(endpoint)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var hours []stats.Hour
	for start, counts := range s.hours[endpoint] {
		if !start.Before(since) {
			hours = append(hours, stats.Hour{Start: start, Counts: *counts})
		}
	}
	slices.SortFunc(hours, func(a, b stats.Hour) int { return a.Start.Compare(b.Start) })
	return hours, nil
}

// Active cuts limit to 1 to 1000. The result never lags.
func (s *Store) Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error) {
	if err := available(ctx, "list active endpoints"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	checks := slices.SortedFunc(maps.Keys(s.active[at.UTC().Truncate(time.Hour)]), compareChecks)
	checks = slices.DeleteFunc(checks, func(c hook.CircuitCheck) bool { return after.Endpoint != "" && compareChecks(c, after) <= 0 })
	return checks[:min(len(checks), listLimit(limit))], nil
}

func compareChecks(a, b hook.CircuitCheck) int {
	return cmp.Or(strings.Compare(string(a.Tenant), string(b.Tenant)), strings.Compare(string(a.Endpoint), string(b.Endpoint)))
}

// PutNotification stores a copy of the notification by time and key.
func (s *Store) PutNotification(ctx context.Context, n hook.Notification) error {
	if err := available(ctx, "put notification of endpoint "+string(n.Endpoint)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	n.At, n.Figures = storedTime(n.At), maps.Clone(n.Figures)
	if s.notifications[n.Endpoint] == nil {
		s.notifications[n.Endpoint] = make(map[string]hook.Notification)
	}
	s.notifications[n.Endpoint][notificationOrder(n)] = n
	return nil
}

// Notifications cuts limit to 1 to 100.
func (s *Store) Notifications(ctx context.Context, endpoint hook.EndpointID, cursor string, limit int) (page []hook.Notification, next string, err error) {
	if err := available(ctx, "list notifications of endpoint "+string(endpoint)); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, order := range slices.Backward(slices.Sorted(maps.Keys(s.notifications[endpoint]))) {
		if cursor != "" && order >= cursor {
			continue
		}
		if len(page) == min(max(limit, 1), 100) {
			return page, notificationOrder(page[len(page)-1]), nil
		}
		n := s.notifications[endpoint][order]
		n.Figures = maps.Clone(n.Figures)
		page = append(page, n)
	}
	return page, "", nil
}

// notificationOrder returns the sort key of a notification. Keys sort by time.
func notificationOrder(n hook.Notification) string {
	return n.At.UTC().Format("2006-01-02T15:04:05.000Z") + "#" + n.Key
}
