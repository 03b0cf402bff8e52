package dynamo

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// circuitRow is the row of a circuit with an AttendAt or a LookAt. If it has both, AttendAt counts.
func circuitRow(r admission.Record) stateRow {
	list, at := circuitList, r.AttendAt
	if at.IsZero() {
		list, at = lookList, r.LookAt
	}
	return rowAt(list, at, string(r.Endpoint))
}

// Circuit reads one item.
func (s *Store) Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (admission.Record, error) {
	return readOr(ctx, s, circuitKey(endpoint), "circuit", string(endpoint), admission.NewRecord(tenant, endpoint))
}

// SaveCircuit makes one conditional write.
func (s *Store) SaveCircuit(ctx context.Context, r admission.Record) error {
	return s.saveNext(ctx, "save circuit "+string(r.Endpoint), circuitKey(r.Endpoint), r.Version, r, circuitRow(r))
}

// maxDue is the maximum number of circuits of DueCircuits.
const maxDue = 10_000

// DueCircuits queries the 16 shards, usually with one request for each and one
// batch read per 100 circuits; at most 5 requests for each. limit is cut to 1 to
// 10,000. A circuit saved just now may be absent.
func (s *Store) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	return s.dueChecks(ctx, circuitList, now, min(limit, maxDue))
}

// DueLooks makes the requests of DueCircuits. limit is cut to 1 to 1000. A circuit saved
// just now may be absent.
func (s *Store) DueLooks(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	return s.dueChecks(ctx, lookList, now, min(limit, maxRows))
}

func (s *Store) dueChecks(ctx context.Context, list string, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	due, err := listed(ctx, s, list, endpointShards, limit, circuitRow, below, dueBy(now))
	if err != nil {
		return nil, translate(err, "list due circuits")
	}
	checks := make([]hook.CircuitCheck, len(due))
	for i, r := range due {
		checks[i] = r.Check()
	}
	return checks, nil
}

// Attended makes the requests of DueCircuits. limit is cut to 1 to 1000. A circuit
// saved just now may be absent.
func (s *Store) Attended(ctx context.Context, limit int) ([]admission.Record, error) {
	records, err := listed(ctx, s, circuitList, endpointShards, min(limit, maxRows), circuitRow, "")
	return records, translate(err, "list attended circuits")
}

// CircuitsOf makes one batch read per 100 endpoints.
func (s *Store) CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]admission.Record, error) {
	items, err := s.batchGet(ctx, keysFor(endpoints, circuitKey))
	if err != nil {
		return nil, translate(err, "read circuits")
	}
	records := make(map[hook.EndpointID]admission.Record, len(items))
	for _, r := range readable[admission.Record](ctx, s, items) {
		records[r.Endpoint] = r
	}
	return records, nil
}
