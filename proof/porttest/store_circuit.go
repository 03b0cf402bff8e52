package porttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/review"
)

func circuitCases() []storeCase {
	return []storeCase{
		{name: "a circuit comes back as its next version", run: circuitComesBack},
		{name: "a minimal circuit comes back with zero times", run: smallCircuitComesBack},
		{name: "a circuit without a record is new", run: circuitIsNew},
		{name: "a circuit of another version conflicts and nothing is written", run: circuitConflict},
		{name: "of 50 racing saves of a circuit exactly one wins", run: circuitRace},
		{name: "50 racers that each add a failure are all counted", run: failuresRace},
		{name: "due circuits are listed earliest first", run: circuitsDue},
		{name: "looks are due at their time, the earliest first, without attended circuits", run: looksDue},
		{name: "150 circuits of as many endpoints are listed earliest first, at most limit", run: manyCircuits},
		{name: "a circuit is due from its time on", run: circuitDueFrom},
		{name: "a rescheduled circuit is due at its new time only", run: circuitRescheduled},
		{name: "circuits are read by their ids, missing circuits are omitted", run: circuitsOf},
	}
}

// sampleRecord returns an unsaved circuit record with all fields set.
func sampleRecord(endpoint hook.EndpointID) admission.Record {
	return admission.Record{
		Circuit: circuit.Circuit{
			State:      circuit.HalfOpen,
			Generation: 3,
			Failures:   4,
			FailedIn:   7,
			Threshold:  14,
			StrainedAt: storeEpoch().Add(7 * time.Minute), Successes: 3,
			Cooldown:   7*time.Minute + time.Nanosecond,
			OpenedAt:   storeEpoch(),
			ProbeAt:    storeEpoch().Add(time.Millisecond),
			Holder:     "dlv_1",
			LeaseUntil: storeEpoch().Add(2 * time.Minute),
			ClosedAt:   storeEpoch().Add(6 * time.Minute),
		},
		Endpoint:       endpoint,
		Tenant:         "acme",
		ThrottledUntil: storeEpoch().Add(3 * time.Minute),
		Pace:           admission.Pace{Rate: 10.0 / 3, Since: storeEpoch().Add(8 * time.Minute), Refused: true},
		Waiting:        true,
		EmptySince:     storeEpoch().Add(4 * time.Minute),
		Wave:           5,
		Review:         review.Flags{Slow: true, Fragile: true, Timeout: 6*time.Second + time.Nanosecond, Warned: review.WarnedTwice, WarnedAt: storeEpoch(), Certificate: "2026-12-31T12:00:00Z/30"},
		Speed:          admission.Slow,
		SpeedAt:        storeEpoch().Add(7 * time.Minute),
		SeenAt:         storeEpoch().Add(8 * time.Minute),
		ProbeType:      "order.paid",
		ProbedFrom:     storeEpoch().Add(9 * time.Minute),
		ProbeSentAt:    storeEpoch().Add(12 * time.Minute),
		Untold: admission.Untold{
			Earlier: admission.Transition{State: circuit.Open, Generation: 2, At: storeEpoch(), Failures: 5, Failed: 6, Attempts: 7, Cooldown: 8 * time.Second},
			Last:    admission.Transition{State: circuit.Closed, Generation: 3, At: storeEpoch().Add(time.Second), OpenedAt: storeEpoch()},
		},
		LookFrom: storeEpoch().Add(10 * time.Minute),
		LookAt:   storeEpoch().Add(11 * time.Minute),
		AttendAt: storeEpoch().Add(5 * time.Minute),
	}
}

// wantRecord compares records by ==, like the gate.
func wantRecord(t *testing.T, s StoreUnderTest, want admission.Record) {
	t.Helper()

	got, err := s.Circuit(t.Context(), want.Tenant, want.Endpoint)
	wantSame(t, "Circuit()", want, got, err)
	if got != want {
		t.Errorf("Circuit() = %#v; want %#v, the same by ==", got, want)
	}
}

// saveRecord saves the record and returns the stored record.
func saveRecord(t *testing.T, s StoreUnderTest, r admission.Record) admission.Record {
	t.Helper()

	check(t, s.SaveCircuit(t.Context(), r))
	r.Version++
	return r
}

func circuitComesBack(t *testing.T, s StoreUnderTest) {
	r := sampleRecord(hook.NewEndpointID())
	for range 3 {
		given := r
		for _, at := range []*time.Time{
			&given.OpenedAt, &given.ProbeAt, &given.LeaseUntil, &given.ClosedAt, &given.StrainedAt, &given.ThrottledUntil, &given.Pace.Since, &given.EmptySince, &given.SpeedAt, &given.SeenAt, &given.AttendAt,
		} {
			*at = at.Add(999 * time.Microsecond).In(time.FixedZone("", 3600)) // kept in UTC milliseconds
		}
		check(t, s.SaveCircuit(t.Context(), given))
		r.Version++
		wantRecord(t, s, r)
	}
	wantRecord(t, s, admission.NewRecord("acme", hook.NewEndpointID()))
}

func smallCircuitComesBack(t *testing.T, s StoreUnderTest) {
	full := saveRecord(t, s, sampleRecord(hook.NewEndpointID()))
	least := admission.NewRecord("acme", full.Endpoint)
	least.Version = full.Version
	wantRecord(t, s, saveRecord(t, s, least)) // no old field is left
	wantRecord(t, s, saveRecord(t, s, admission.NewRecord("acme", hook.NewEndpointID())))
}

func circuitIsNew(t *testing.T, s StoreUnderTest) {
	saveRecord(t, s, sampleRecord(hook.NewEndpointID()))
	wantRecord(t, s, admission.NewRecord("globex", hook.NewEndpointID()))
}

func circuitConflict(t *testing.T, s StoreUnderTest) {
	r := sampleRecord(hook.NewEndpointID())
	r.Version = 1
	wantCode(t, "SaveCircuit(version 1, none stored)", s.SaveCircuit(t.Context(), r), hook.CodeConflict)
	wantRecord(t, s, admission.NewRecord("acme", r.Endpoint))

	r.Version = 0
	r = saveRecord(t, s, saveRecord(t, s, r))
	for _, version := range []int64{0, 1, 3} {
		stale := r
		stale.Version, stale.Failures = version, 99
		wantCode(t, fmt.Sprintf("SaveCircuit(version %d, 2 stored)", version), s.SaveCircuit(t.Context(), stale), hook.CodeConflict)
	}
	wantRecord(t, s, r)
}

func circuitRace(t *testing.T, s StoreUnderTest) {
	r := admission.NewRecord("acme", hook.NewEndpointID())
	for range 3 { // at first without a record
		writer := func(i int) admission.Record {
			w := r
			w.Failures = i
			return w
		}
		winners := race(t, 50, func(ctx context.Context, i int) error { return s.SaveCircuit(ctx, writer(i)) })
		r = writer(wantOne(t, winners))
		r.Version++
		wantRecord(t, s, r)
	}
}

func failuresRace(t *testing.T, s StoreUnderTest) {
	want := admission.NewRecord("acme", hook.NewEndpointID())
	race(t, 50, func(ctx context.Context, _ int) error {
		for {
			r, err := s.Circuit(ctx, want.Tenant, want.Endpoint)
			if err != nil {
				return err
			}
			r.Failures++
			if err := s.SaveCircuit(ctx, r); hook.CodeOf(err) != hook.CodeConflict {
				return err
			}
		}
	})
	want.Failures, want.Version = 50, 50
	wantRecord(t, s, want)
}

func checkOf(r admission.Record) hook.CircuitCheck {
	return hook.CircuitCheck{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave}
}

// plan saves a record with the given AttendAt.
func plan(t *testing.T, s StoreUnderTest, at time.Time, wave int) admission.Record {
	t.Helper()

	r := sampleRecord(hook.NewEndpointID())
	r.Tenant = hook.TenantID("tenant-" + string(r.Endpoint)[3:])
	r.AttendAt, r.Wave = at, wave
	return saveRecord(t, s, r)
}

func circuitsDue(t *testing.T, s StoreUnderTest) {
	none, err := s.DueCircuits(t.Context(), storeEpoch(), 10)
	wantSame(t, "DueCircuits(none)", []hook.CircuitCheck(nil), none, err)

	var want []hook.CircuitCheck
	for i := range 7 { // the latest first
		want = append(want, checkOf(plan(t, s, storeEpoch().Add(-time.Duration(i)*time.Hour), i%3)))
	}
	slices.Reverse(want)
	same := []hook.CircuitCheck{
		checkOf(plan(t, s, storeEpoch().Add(-24*time.Hour), 0)),
		checkOf(plan(t, s, storeEpoch().Add(-24*time.Hour), 0)),
	}
	slices.SortFunc(same, func(a, b hook.CircuitCheck) int { return strings.Compare(string(a.Endpoint), string(b.Endpoint)) })
	want = append(same, want...)
	plan(t, s, time.Time{}, 0) // never
	plan(t, s, storeEpoch().Add(time.Millisecond), 0)

	for _, limit := range []int{1, 2, 9, 100, 1 << 40} {
		got, err := s.DueCircuits(t.Context(), storeEpoch(), limit)
		wantSame(t, fmt.Sprintf("DueCircuits(limit %d)", limit), want[:min(limit, len(want))], got, err)
	}
}

// looksDue plans looks: a circuit with an AttendAt has no look.
func looksDue(t *testing.T, s StoreUnderTest) {
	none, err := s.DueLooks(t.Context(), storeEpoch(), 10)
	wantSame(t, "DueLooks(none)", []hook.CircuitCheck(nil), none, err)
	look := func(at, attend time.Time) admission.Record {
		r := sampleRecord(hook.NewEndpointID())
		r.LookFrom, r.LookAt, r.AttendAt = storeEpoch().Add(-24*time.Hour), at, attend
		return saveRecord(t, s, r)
	}
	second, first := look(storeEpoch(), time.Time{}), look(storeEpoch().Add(-time.Hour), time.Time{})
	look(storeEpoch().Add(time.Millisecond), time.Time{})
	attended := look(storeEpoch().Add(-2*time.Hour), storeEpoch().Add(time.Hour))
	want := []hook.CircuitCheck{checkOf(first), checkOf(second)}
	for _, limit := range []int{1, 2, 100} {
		got, err := s.DueLooks(t.Context(), storeEpoch(), limit)
		wantSame(t, fmt.Sprintf("DueLooks(limit %d)", limit), want[:min(limit, 2)], got, err)
	}
	attended.AttendAt = time.Time{}
	attended = saveRecord(t, s, attended)
	got, err := s.DueLooks(t.Context(), storeEpoch(), 10)
	wantSame(t, "DueLooks(no longer attended)", append([]hook.CircuitCheck{checkOf(attended)}, want...), got, err)
	attended.LookAt = time.Time{}
	saveRecord(t, s, attended)
	got, err = s.DueLooks(t.Context(), storeEpoch(), 10)
	wantSame(t, "DueLooks(no further look)", want, got, err)
}

// manyCircuits lists more circuits than a request of a store reads, over all keys
// that a store may spread the circuits over.
func manyCircuits(t *testing.T, s StoreUnderTest) {
	records := make([]admission.Record, 150)
	race(t, len(records), func(ctx context.Context, i int) error {
		r := sampleRecord(hook.NewEndpointID())
		r.AttendAt = storeEpoch().Add(time.Duration(i%50-24) * time.Minute) // three of each time; half of the times are due
		records[i] = r
		records[i].Version = 1
		return s.SaveCircuit(ctx, r)
	})
	slices.SortFunc(records, func(a, b admission.Record) int {
		return cmp.Or(a.AttendAt.Compare(b.AttendAt), strings.Compare(string(a.Endpoint), string(b.Endpoint)))
	})
	var due []hook.CircuitCheck
	for _, r := range records {
		if !r.AttendAt.After(storeEpoch()) {
			due = append(due, checkOf(r))
		}
	}
	if len(due) != 75 {
		t.Fatalf("%d circuits are due; want 75", len(due))
	}
	for _, limit := range []int{0, 1, 16, 40, 74, 75, 76, 1000} {
		got, err := s.DueCircuits(t.Context(), storeEpoch(), limit)
		wantSame(t, fmt.Sprintf("DueCircuits(limit %d)", limit), due[:min(max(limit, 1), len(due))], got, err)
	}
	for _, limit := range []int{0, 1, 100, 149, 150, 1000, 1 << 40} {
		got, err := s.Attended(t.Context(), limit)
		wantSame(t, fmt.Sprintf("Attended(limit %d)", limit), records[:min(max(limit, 1), len(records))], got, err)
	}
}

func circuitDueFrom(t *testing.T, s StoreUnderTest) {
	r := plan(t, s, storeEpoch(), 1)
	for offset, due := range map[time.Duration]bool{
		-time.Hour: false, -time.Millisecond: false, -time.Nanosecond: false,
		0: true, time.Nanosecond: true, time.Millisecond: true, 1000 * time.Hour: true,
	} {
		var want []hook.CircuitCheck
		if due {
			want = []hook.CircuitCheck{checkOf(r)}
		}
		got, err := s.DueCircuits(t.Context(), storeEpoch().Add(offset).In(time.FixedZone("", -7200)), 10)
		wantSame(t, "DueCircuits("+offset.String()+" after the AttendAt)", want, got, err)
	}
}

func circuitRescheduled(t *testing.T, s StoreUnderTest) {
	r := plan(t, s, storeEpoch(), 1)
	later := storeEpoch().Add(time.Hour)
	for _, tt := range []struct {
		at       time.Time
		now, end bool // due at storeEpoch, and an hour later
	}{{at: later, now: false, end: true}, {at: storeEpoch().Add(-time.Hour), now: true, end: true}, {at: time.Time{}, now: false, end: false}, {at: storeEpoch(), now: true, end: true}} {
		r.AttendAt = tt.at
		r.Wave++
		r = saveRecord(t, s, r)
		for at, due := range map[time.Time]bool{storeEpoch(): tt.now, later: tt.end} {
			var want []hook.CircuitCheck
			if due {
				want = []hook.CircuitCheck{checkOf(r)}
			}
			got, err := s.DueCircuits(t.Context(), at, 10)
			wantSame(t, fmt.Sprintf("DueCircuits(%s, scheduled for %s)", at, tt.at), want, got, err)
		}
	}
}

func circuitsOf(t *testing.T, s StoreUnderTest) {
	want := make(map[hook.EndpointID]admission.Record)
	var ids []hook.EndpointID
	for range 101 { // more than one request
		r := sampleRecord(hook.NewEndpointID())
		r.Review.Slow, r.Review.Timeout = true, 3*time.Second
		want[r.Endpoint] = saveRecord(t, s, r)
		ids = append(ids, r.Endpoint)
	}
	saveRecord(t, s, sampleRecord(hook.NewEndpointID())) // not requested
	got, err := s.CircuitsOf(t.Context(), append(ids, ids[0], hook.NewEndpointID()))
	wantSame(t, "CircuitsOf(103)", want, got, err)
	got, err = s.CircuitsOf(t.Context(), nil)
	wantSame(t, "CircuitsOf(none)", map[hook.EndpointID]admission.Record{}, got, err)
}
