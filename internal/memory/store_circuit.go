package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"surehook/internal/circuit"
	"surehook/internal/gate"
	"surehook/internal/hook"
)

// Circuit returns the endpoint's record; gate.NewRecord if there is none.
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

// SaveCircuit writes the record as version r.Version+1; CodeConflict if the
// stored version is not r.Version (0: no record), and nothing is written.
func (s *Store) SaveCircuit(ctx context.Context, r gate.Record) error {
	op := "save circuit " + string(r.Endpoint)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.circuits[r.Endpoint].Version != r.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the circuit was changed meanwhile"))
	}
	r.Version++
	for _, at := range []*time.Time{&r.OpenedAt, &r.ProbeAt, &r.LeaseUntil, &r.ClosedAt, &r.ThrottledUntil, &r.EmptySince, &r.AttendAt} {
		*at = storedTime(*at)
	}
	s.circuits[r.Endpoint] = r
	return nil
}

// DueCircuits returns the endpoints whose AttendAt is not after now, the
// longest due first, at most limit (1 to 1000).
func (s *Store) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.Look, error) {
	if err := available(ctx, "list due circuits"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var due []gate.Record
	for _, r := range s.circuits {
		if !r.AttendAt.IsZero() && !r.AttendAt.After(now) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b gate.Record) int {
		return cmp.Or(a.AttendAt.Compare(b.AttendAt), strings.Compare(string(a.Endpoint), string(b.Endpoint)))
	})
	var looks []hook.Look
	for _, r := range due[:min(len(due), listLimit(limit))] {
		looks = append(looks, hook.Look{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave})
	}
	return looks, nil
}

// Parked returns parked deliveries of the endpoint, the oldest first, at most
// limit (1 to 1000).
func (s *Store) Parked(ctx context.Context, endpoint hook.EndpointID, limit int) ([]hook.Delivery, error) {
	if err := available(ctx, "list parked deliveries of endpoint "+string(endpoint)); err != nil {
		return nil, err
	}
	parked := s.find(func(d hook.Delivery) bool { return d.ID.Endpoint == endpoint && d.State == hook.StateParked })
	slices.SortFunc(parked, func(a, b hook.Delivery) int { return strings.Compare(position(a), position(b)) })
	return parked[:min(len(parked), listLimit(limit))], nil
}

// listLimit bounds how many are listed at once.
func listLimit(limit int) int { return min(max(limit, 1), 1000) }

// Limits returns what the endpoint has given out; the zero Limits if nothing was.
func (s *Store) Limits(ctx context.Context, endpoint hook.EndpointID) (gate.Limits, error) {
	if err := available(ctx, "read limits "+string(endpoint)); err != nil {
		return gate.Limits{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	l := s.limits[endpoint]
	l.Leases = maps.Clone(l.Leases)
	return l, nil
}

// SaveLimits writes the limits as version l.Version+1; CodeConflict if the
// stored version is not l.Version (0: no record), and nothing is written.
func (s *Store) SaveLimits(ctx context.Context, endpoint hook.EndpointID, l gate.Limits) error {
	op := "save limits " + string(endpoint)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.limits[endpoint].Version != l.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the limits were changed meanwhile"))
	}
	l.Version++
	l.Slot = l.Slot.UTC().Round(0) // without a monotonic reading
	leases := make(map[string]time.Time, len(l.Leases))
	for holder, until := range l.Leases {
		leases[holder] = storedTime(until)
	}
	l.Leases = leases
	s.limits[endpoint] = l
	return nil
}

// minute is one minute of an endpoint.
type minute struct {
	endpoint hook.EndpointID
	start    time.Time // UTC
}

// Count adds to the counts of the minute that now is in and returns those of
// the circuit.Window of whole minutes that ends with it.
func (s *Store) Count(
	ctx context.Context, endpoint hook.EndpointID, add circuit.Counts, now time.Time,
) (circuit.Counts, error) {
	if err := available(ctx, "count attempts of endpoint "+string(endpoint)); err != nil {
		return circuit.Counts{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	at := minute{endpoint, now.UTC().Truncate(time.Minute)}
	s.counts[at] = sum(s.counts[at], add)
	var window circuit.Counts
	for range int(circuit.Window / time.Minute) {
		window = sum(window, s.counts[at])
		at.start = at.start.Add(-time.Minute)
	}
	return window, nil
}

func sum(a, b circuit.Counts) circuit.Counts {
	return circuit.Counts{OK: a.OK + b.OK, Failed: a.Failed + b.Failed}
}
