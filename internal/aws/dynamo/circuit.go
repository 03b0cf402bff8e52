package dynamo

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/review"
)

// circuitItem is in the index by_state only while the circuit has an AttendAt or a LookAt. If it
// has both, AttendAt counts.
type circuitItem struct {
	key
	StatePK        string          `stored:"state_pk"` // names.ByStateHash
	StateSK        string          `stored:"state_sk"` // names.ByStateRange
	Endpoint       hook.EndpointID `stored:"id"`
	Tenant         hook.TenantID   `stored:"tenant"`
	State          string          `stored:"state"`
	Generation     int64           `stored:"generation"`
	Failures       int             `stored:"failures"`
	FailedIn       int64           `stored:"failed_in"`
	Row            int             `stored:"row"`
	Shed           int             `stored:"shed"`
	ShedAt         int64           `stored:"shed_at"`
	Successes      int             `stored:"successes"`
	Cooldown       time.Duration   `stored:"cooldown_ns"`
	OpenedAt       int64           `stored:"opened_at"`
	ProbeAt        int64           `stored:"probe_at"`
	Holder         string          `stored:"holder"`
	LeaseUntil     int64           `stored:"lease_until"`
	ClosedAt       int64           `stored:"closed_at"`
	ThrottledUntil int64           `stored:"throttled_until"`
	Waiting        bool            `stored:"waiting"`
	EmptySince     int64           `stored:"empty_since"`
	Wave           int             `stored:"wave"`
	Slow           bool            `stored:"slow"`
	Fragile        bool            `stored:"fragile"`
	Timeout        time.Duration   `stored:"timeout_ns"`
	Warned         int             `stored:"warned"`
	WarnedAt       int64           `stored:"warned_at"`
	Certificate    string          `stored:"certificate"`
	Speed          string          `stored:"speed"`
	SpeedAt        int64           `stored:"speed_at"`
	SeenAt         int64           `stored:"seen_at"`
	ProbeType      string          `stored:"probe_type"`
	ProbedFrom     int64           `stored:"probed_from"`
	AnnounceAt     int64           `stored:"announce_at"`
	LookFrom       int64           `stored:"look_from"`
	LookAt         int64           `stored:"look_at"`
	AttendAt       int64           `stored:"attend_at"`
	Version        int64           `stored:"version"`
}

// toCircuitItem returns the next version of r.
func toCircuitItem(r admission.Record) circuitItem {
	it := circuitItem{
		key:        circuitKey(r.Endpoint),
		Endpoint:   r.Endpoint,
		Tenant:     r.Tenant,
		State:      word(r.State),
		Generation: r.Generation,
		Failures:   r.Failures,
		FailedIn:   r.FailedIn,
		Row:        r.Row,
		Shed:       r.Shed, ShedAt: millis(r.ShedAt), Successes: r.Successes,
		Cooldown:       r.Cooldown,
		OpenedAt:       millis(r.OpenedAt),
		ProbeAt:        millis(r.ProbeAt),
		Holder:         r.Holder,
		LeaseUntil:     millis(r.LeaseUntil),
		ClosedAt:       millis(r.ClosedAt),
		ThrottledUntil: millis(r.ThrottledUntil),
		Waiting:        r.Waiting,
		EmptySince:     millis(r.EmptySince),
		Wave:           r.Wave,
		Slow:           r.Review.Slow,
		Fragile:        r.Review.Fragile,
		Timeout:        r.Review.Timeout,
		Warned:         r.Review.Warned,
		WarnedAt:       millis(r.Review.WarnedAt),
		Certificate:    r.Review.Certificate,
		Speed:          word(r.Speed),
		SpeedAt:        millis(r.SpeedAt),
		SeenAt:         millis(r.SeenAt),
		ProbeType:      r.ProbeType,
		ProbedFrom:     millis(r.ProbedFrom),
		AnnounceAt:     millis(r.AnnounceAt),
		LookFrom:       millis(r.LookFrom),
		LookAt:         millis(r.LookAt),
		AttendAt:       millis(r.AttendAt),
		Version:        r.Version + 1,
	}
	switch {
	case !r.AttendAt.IsZero():
		it.StatePK, it.StateSK = circuitShard(r.Endpoint), circuitRange(r)
	case !r.LookAt.IsZero():
		it.StatePK, it.StateSK = shard(lookList, hook.ShardOf(r.Endpoint, endpointShards)), lookRange(r)
	}
	return it
}

func fromCircuitItem(it circuitItem) (admission.Record, error) {
	state, err := parse[circuit.State](it.State)
	if err != nil {
		return admission.Record{}, err
	}
	class, err := parse[admission.Class](it.Speed)
	if err != nil {
		return admission.Record{}, err
	}
	return admission.Record{
		Circuit: circuit.Circuit{
			State:      state,
			Generation: it.Generation,
			Failures:   it.Failures,
			FailedIn:   it.FailedIn,
			Row:        it.Row,
			Shed:       it.Shed, ShedAt: fromMillis(it.ShedAt), Successes: it.Successes,
			Cooldown:   it.Cooldown,
			OpenedAt:   fromMillis(it.OpenedAt),
			ProbeAt:    fromMillis(it.ProbeAt),
			Holder:     it.Holder,
			LeaseUntil: fromMillis(it.LeaseUntil),
			ClosedAt:   fromMillis(it.ClosedAt),
			Version:    it.Version,
		},
		Endpoint:       it.Endpoint,
		Tenant:         it.Tenant,
		ThrottledUntil: fromMillis(it.ThrottledUntil),
		Waiting:        it.Waiting,
		EmptySince:     fromMillis(it.EmptySince),
		Wave:           it.Wave,
		Review: review.Flags{
			Slow: it.Slow, Fragile: it.Fragile, Timeout: it.Timeout, Warned: it.Warned, WarnedAt: fromMillis(it.WarnedAt), Certificate: it.Certificate,
		},
		Speed:      class,
		SpeedAt:    fromMillis(it.SpeedAt),
		SeenAt:     fromMillis(it.SeenAt),
		ProbeType:  it.ProbeType,
		ProbedFrom: fromMillis(it.ProbedFrom),
		AnnounceAt: fromMillis(it.AnnounceAt),
		LookFrom:   fromMillis(it.LookFrom),
		LookAt:     fromMillis(it.LookAt),
		AttendAt:   fromMillis(it.AttendAt),
	}, nil
}

// Circuit reads one item.
func (s *Store) Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (admission.Record, error) {
	var it circuitItem
	err := s.get(ctx, circuitKey(endpoint), &it, "circuit", string(endpoint))
	if hook.CodeOf(err) == hook.CodeNotFound {
		return admission.NewRecord(tenant, endpoint), nil
	}
	if err != nil {
		return admission.Record{}, err
	}
	r, err := fromCircuitItem(it)
	return r, translate(err, "read circuit "+string(endpoint))
}

// SaveCircuit makes one conditional write.
func (s *Store) SaveCircuit(ctx context.Context, r admission.Record) error {
	return translate(s.saveNext(ctx, toCircuitItem(r), r.Version), "save circuit "+string(r.Endpoint))
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
	due, err := pageThrough(ctx, s, shardQueries(list, endpointShards, "state_sk < :value", later), limit, fromCircuitItem, position)
	if err != nil {
		return nil, translate(err, "list due circuits")
	}
	checks := make([]hook.CircuitCheck, len(due))
	for i, r := range due {
		checks[i] = hook.CircuitCheck{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave}
	}
	return checks, nil
}

// Attended makes the requests of DueCircuits. limit is cut to 1 to 1000. A circuit
// saved just now may be absent.
func (s *Store) Attended(ctx context.Context, limit int) ([]admission.Record, error) {
	records, err := pageThrough(ctx, s, shardQueries(circuitList, endpointShards, ""), min(limit, maxRows), fromCircuitItem, circuitRange)
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
