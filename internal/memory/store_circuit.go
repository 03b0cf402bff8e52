package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// Circuit returns gate.NewRecord for an endpoint without a record.
func (s *Store) Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (gate.Record, error) {
	if err := available(ctx, "read circuit "+string(endpoint)); err != nil {
		return gate.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if r, ok := s.circuits[endpoint]; ok {
		return r, nil
	}
	return gate.NewRecord(tenant, endpoint), nil
}

// SaveCircuit also updates the order of due circuits.
func (s *Store) SaveCircuit(ctx context.Context, r gate.Record) error {
	op := "save circuit " + string(r.Endpoint)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	stored := s.circuits[r.Endpoint]
	if stored.Version != r.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the circuit was changed meanwhile"))
	}
	r.Version++
	for _, at := range []*time.Time{&r.OpenedAt, &r.ProbeAt, &r.LeaseUntil, &r.ClosedAt, &r.ThrottledUntil, &r.EmptySince, &r.SpeedAt, &r.SeenAt, &r.LookFrom, &r.LookAt, &r.AttendAt} {
		*at = storedTime(*at)
	}
	s.circuits[r.Endpoint] = r
	if !stored.AttendAt.IsZero() {
		s.due.remove(stored)
	}
	if !r.AttendAt.IsZero() {
		s.due.add(r)
	}
	return nil
}

// maxDue is the maximum number of circuits of DueCircuits.
const maxDue = 10_000

// DueCircuits cuts limit to 1 to 10,000. The result never lags.
func (s *Store) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	if err := available(ctx, "list due circuits"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var checks []hook.CircuitCheck
	for r := range s.due.all() {
		if r.AttendAt.After(now) || len(checks) == min(max(limit, 1), maxDue) {
			break
		}
		checks = append(checks, hook.CircuitCheck{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave})
	}
	return checks, nil
}

// DueLooks cuts limit to 1 to 1000. The result never lags.
func (s *Store) DueLooks(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	if err := available(ctx, "list due looks"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var due []gate.Record
	for _, r := range s.circuits {
		if r.AttendAt.IsZero() && !r.LookAt.IsZero() && !r.LookAt.After(now) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b gate.Record) int {
		return cmp.Or(a.LookAt.Compare(b.LookAt), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	var checks []hook.CircuitCheck
	for _, r := range due[:min(len(due), listLimit(limit))] {
		checks = append(checks, hook.CircuitCheck{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave})
	}
	return checks, nil
}

// Attended cuts limit to 1 to 1000. The result never lags.
func (s *Store) Attended(ctx context.Context, limit int) ([]gate.Record, error) {
	if err := available(ctx, "list attended circuits"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var records []gate.Record
	for r := range s.due.all() {
		if len(records) == listLimit(limit) {
			break
		}
		records = append(records, s.circuits[r.Endpoint])
	}
	return records, nil
}

// minutes holds an endpoint's counts by start of the minute in UTC.
type minutes map[time.Time]circuit.Counts

// Count adds exactly, and always returns the sums of the whole window.
func (s *Store) Count(
	ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, now time.Time,
) (circuit.Counts, error) {
	if err := available(ctx, "count attempts of endpoint "+string(endpoint)); err != nil {
		return circuit.Counts{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.count(tenant, endpoint, add, now), nil
}

func (s *Store) count(tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, now time.Time) circuit.Counts {
	all := s.counts[endpoint]
	if all == nil {
		all = make(minutes)
		s.counts[endpoint] = all
	}
	at := now.UTC().Truncate(time.Minute)
	all[at] = sum(all[at], circuit.Counts{OK: add.OK, Failed: add.Failed})
	s.countHour(tenant, endpoint, add, now)
	var window circuit.Counts
	for range int(circuit.Window / time.Minute) {
		window = sum(window, all[at])
		at = at.Add(-time.Minute)
	}
	return window
}

// CountMore asks for the hour and counts in one step.
func (s *Store) CountMore(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, at time.Time) error {
	if err := available(ctx, "count more attempts of endpoint "+string(endpoint)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.hours[endpoint][at.UTC().Truncate(time.Hour)] != nil {
		s.count(tenant, endpoint, add, at)
	}
	return nil
}

func sum(a, b circuit.Counts) circuit.Counts {
	return circuit.Counts{OK: a.OK + b.OK, Failed: a.Failed + b.Failed}
}
