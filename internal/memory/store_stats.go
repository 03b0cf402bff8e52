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

func (s *Store) countHour(tenant hook.TenantID, endpoint hook.EndpointID, add stats.Counts, now time.Time) {
	hour := now.UTC().Truncate(time.Hour)
	add.Waited = add.Waited.Truncate(time.Millisecond)
	if s.hours[endpoint] == nil {
		s.hours[endpoint] = make(map[time.Time]*stats.Counts)
	}
	if s.hours[endpoint][hour] == nil {
		s.hours[endpoint][hour] = &stats.Counts{}
	}
	s.hours[endpoint][hour].Add(add)
	if s.active[hour] == nil {
		s.active[hour] = make(map[hook.CircuitCheck]bool)
	}
	s.active[hour][hook.CircuitCheck{Tenant: tenant, Endpoint: endpoint}] = true
}

// Hours returns what was counted for the endpoint in the hours that began at or
// after since, in order; hours without anything are left out.
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

// Active returns the endpoints for which something was counted in the hour that
// at is in, in the order of tenant and id, at most limit (1 to 1000), after the
// one given; the zero Look: from the first.
func (s *Store) Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error) {
	if err := available(ctx, "list active endpoints"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	looks := slices.SortedFunc(maps.Keys(s.active[at.UTC().Truncate(time.Hour)]), compareLooks)
	looks = slices.DeleteFunc(looks, func(l hook.CircuitCheck) bool { return after.Endpoint != "" && compareLooks(l, after) <= 0 })
	return looks[:min(len(looks), listLimit(limit))], nil
}

func compareLooks(a, b hook.CircuitCheck) int {
	return cmp.Or(strings.Compare(string(a.Tenant), string(b.Tenant)), strings.Compare(string(a.Endpoint), string(b.Endpoint)))
}

// PutNotification keeps the notice under its time and key.
func (s *Store) PutNotification(ctx context.Context, n hook.Notification) error {
	if err := available(ctx, "keep notice of endpoint "+string(n.Endpoint)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	n.At, n.Figures = storedTime(n.At), maps.Clone(n.Figures)
	if s.notices[n.Endpoint] == nil {
		s.notices[n.Endpoint] = make(map[string]hook.Notification)
	}
	s.notices[n.Endpoint][noticeOrder(n)] = n
	return nil
}

// Notifications returns notices of the endpoint, the newest first, at most limit (1
// to 100), after the cursor that an earlier call returned; empty: from the
// newest. next is empty at the end.
func (s *Store) Notifications(ctx context.Context, endpoint hook.EndpointID, cursor string, limit int) (page []hook.Notification, next string, err error) {
	if err := available(ctx, "list notices of endpoint "+string(endpoint)); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, order := range slices.Backward(slices.Sorted(maps.Keys(s.notices[endpoint]))) {
		if cursor != "" && order >= cursor {
			continue
		}
		if len(page) == min(max(limit, 1), 100) {
			return page, noticeOrder(page[len(page)-1]), nil
		}
		n := s.notices[endpoint][order]
		n.Figures = maps.Clone(n.Figures)
		page = append(page, n)
	}
	return page, "", nil
}

// noticeOrder sorts notices by their time.
func noticeOrder(n hook.Notification) string {
	return n.At.UTC().Format("2006-01-02T15:04:05.000Z") + "#" + n.Key
}
