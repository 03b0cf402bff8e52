package dynamo

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// circuitItem is in the index by_state only while the circuit has an AttendAt or a LookAt. If it
// has both, AttendAt counts.
type circuitItem struct {
	admission.Record

	StatePK string `stored:"state_pk"` // names.ByStateHash
	StateSK string `stored:"state_sk"` // names.ByStateRange
}

func toCircuitItem(r admission.Record) circuitItem {
	it := circuitItem{Record: r}
	switch {
	case !r.AttendAt.IsZero():
		it.StatePK, it.StateSK = circuitShard(r.Endpoint), circuitRange(r)
	case !r.LookAt.IsZero():
		it.StatePK, it.StateSK = shard(lookList, hook.ShardOf(r.Endpoint, endpointShards)), lookRange(r)
	}
	return it
}

// Circuit reads one item.
func (s *Store) Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (admission.Record, error) {
	return readOr(ctx, s, circuitKey(endpoint), "circuit", string(endpoint), admission.NewRecord(tenant, endpoint))
}

// SaveCircuit makes one conditional write.
func (s *Store) SaveCircuit(ctx context.Context, r admission.Record) error {
	return s.saveNext(ctx, "save circuit "+string(r.Endpoint), circuitKey(r.Endpoint), r.Version, toCircuitItem(r))
}

// maxDue is the maximum number of circuits of DueCircuits.
const maxDue = 10_000

// DueCircuits queries the 16 shards, usually with one request for each and one
// batch read per 100 circuits; at most 5 requests for each. limit is cut to 1 to
// 10,000. A circuit saved just now may be absent.
func (s *Store) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	return s.dueChecks(ctx, circuitList, now, min(limit, maxDue), circuitRange)
}

// DueLooks makes the requests of DueCircuits. limit is cut to 1 to 1000. A circuit saved
// just now may be absent.
func (s *Store) DueLooks(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	return s.dueChecks(ctx, lookList, now, min(limit, maxRows), lookRange)
}

func (s *Store) dueChecks(
	ctx context.Context, list string, now time.Time, limit int, position func(admission.Record) string,
) ([]hook.CircuitCheck, error) {
	later := now.Add(time.Millisecond).UTC().Format(indexTime)
	due, err := pageThrough(ctx, s, s.shardQueries(list, endpointShards, below, later), limit, position)
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
	records, err := pageThrough(ctx, s, s.shardQueries(circuitList, endpointShards, ""), min(limit, maxRows), circuitRange)
	return records, translate(err, "list attended circuits")
}

// lookRange returns the range key of a circuit without an AttendAt in the index by_state;
// empty for another circuit.
func lookRange(r admission.Record) string {
	if !r.AttendAt.IsZero() {
		return ""
	}
	return attendRange(r.LookAt, r.Endpoint)
}

// circuitRange returns the range key of the circuit in the index by_state.
func circuitRange(r admission.Record) string { return attendRange(r.AttendAt, r.Endpoint) }

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
