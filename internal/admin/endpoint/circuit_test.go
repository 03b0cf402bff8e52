package endpoint_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/sign"
)

// message is a message of the circuits queue.
type message struct {
	Wave  int
	Delay time.Duration
}

// circuitQueue records the messages, or returns err.
type circuitQueue struct {
	mu       sync.Mutex
	err      error
	checks   []hook.CircuitCheck
	messages []message
}

func (q *circuitQueue) Enqueue(_ context.Context, check hook.CircuitCheck, delay time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return q.err
	}
	q.checks = append(q.checks, check)
	q.messages = append(q.messages, message{check.Wave, delay})
	return nil
}

// circuits is a store with another writer before each of the first writes, or a failing store.
type circuits struct {
	*memory.Store
	writes              int
	reads, saves, grant error
}

func (c *circuits) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (admission.Record, error) {
	if c.reads != nil {
		return admission.Record{}, c.reads
	}
	return c.Store.Circuit(ctx, tenant, id)
}

func (c *circuits) SaveCircuit(ctx context.Context, r admission.Record) error {
	if c.saves != nil {
		return c.saves
	}
	if c.writes > 0 {
		c.writes--
		other, err := c.Store.Circuit(ctx, r.Tenant, r.Endpoint)
		if err != nil {
			return err
		}
		other.Waiting, other.Generation = true, other.Generation+1
		if err := c.Store.SaveCircuit(ctx, other); err != nil {
			return err
		}
	}
	return c.Store.SaveCircuit(ctx, r)
}

func (c *circuits) Limits(ctx context.Context, id hook.EndpointID) (admission.Limits, error) {
	if c.grant != nil {
		return admission.Limits{}, c.grant
	}
	return c.Store.Limits(ctx, id)
}

// keep stores a record for the endpoint and returns the stored record.
func (b *bundle) keep(t *testing.T, e hook.Endpoint, edit func(*admission.Record)) admission.Record {
	t.Helper()

	r := admission.NewRecord(tenant, e.ID)
	if edit != nil {
		edit(&r)
		if err := b.store.SaveCircuit(t.Context(), r); err != nil {
			t.Fatalf("SaveCircuit = %v", err)
		}
	}
	return b.record(t, e)
}

func (b *bundle) record(t *testing.T, e hook.Endpoint) admission.Record {
	t.Helper()

	r, err := b.store.Circuit(t.Context(), tenant, e.ID)
	if err != nil {
		t.Fatalf("Circuit = %v", err)
	}
	return r
}

// Records as edits of a new record; opened is 30 minutes before the bundle's clock.
var opened = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func failing(r *admission.Record) { r.Generation, r.Failures = 3, 4 }

func waiting(r *admission.Record) { r.Waiting = true }

func open(r *admission.Record) {
	r.State, r.Generation, r.Cooldown, r.OpenedAt, r.ProbeAt = circuit.Open, 3, 20*time.Minute, opened, opened.Add(40*time.Minute)
}

func halfOpen(r *admission.Record) {
	open(r)
	r.State, r.Holder, r.LeaseUntil = circuit.HalfOpen, "dlv_1", opened.Add(31*time.Minute)
}

func throttled(r *admission.Record) { r.ThrottledUntil = opened.Add(time.Hour) }

func all(edits ...func(*admission.Record)) func(*admission.Record) {
	return func(r *admission.Record) {
		for _, edit := range edits {
			edit(r)
		}
	}
}

func TestAdmin_ResetCircuit(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		from    func(*admission.Record)
		waiting bool
	}{
		{name: "without a record", from: nil, waiting: false},
		{name: "closed, with failures", from: failing, waiting: false},
		{name: "open", from: open, waiting: false},
		{name: "open, with parked deliveries", from: all(open, waiting), waiting: true},
		{name: "half-open, with parked deliveries", from: all(halfOpen, waiting), waiting: true},
		{name: "closed, with parked deliveries", from: waiting, waiting: true},
		{name: "open, throttled by the endpoint", from: all(open, throttled), waiting: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			before := b.keep(t, e, tt.from)
			want := admission.NewRecord(tenant, e.ID)
			want.Generation, want.Version = before.Generation+1, before.Version+1
			want.ClosedAt = b.now
			if before.State != circuit.Closed { // it must prove its speed again
				want.SpeedAt = b.now
			}
			want.Waiting, want.Wave, want.AttendAt = true, 1, b.now.Add(admission.AttendAfter)
			if !tt.waiting { // the index knows better than the record
				want.EmptySince = b.now
			}
			messages := []message{{Wave: 1, Delay: 0}}
			got, err := b.ResetCircuit(t.Context(), tenant, string(e.ID))
			if err != nil {
				t.Fatalf("ResetCircuit = %v", err)
			}
			if diff := cmp.Diff(want, b.record(t, e)); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			status := endpoint.Status{Endpoint: e, Gate: want, Passes: true, SignedBy: sign.SignedByNew}
			if tt.waiting {
				status.Width = 1 // an endpoint begins with one slot after an outage
			}
			if diff := cmp.Diff(status, got); diff != "" {
				t.Errorf("ResetCircuit (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(messages, b.queue.messages); diff != "" {
				t.Errorf("enqueued (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdmin_OpenCircuit(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		from func(*admission.Record)
	}{
		{name: "without a record", from: nil},
		{name: "closed, with failures", from: failing},
		{name: "open", from: all(open, waiting)},
		{name: "half-open", from: all(halfOpen, waiting)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, func(f *endpoint.Fields) { f.Circuit.Cooldown = new(7 * time.Minute) })
			before := b.keep(t, e, tt.from)
			want := admission.NewRecord(tenant, e.ID)
			want.State, want.Generation, want.Version = circuit.Open, before.Generation+1, before.Version+1
			want.Cooldown, want.OpenedAt, want.ProbeAt = 7*time.Minute, b.now, b.now.Add(7*time.Minute)
			want.AttendAt, want.Waiting, want.LeaseUntil = want.ProbeAt, before.Waiting, before.LeaseUntil
			want.SpeedAt = b.now // the endpoint must prove its speed again

			got, err := b.OpenCircuit(t.Context(), tenant, string(e.ID))
			if err != nil {
				t.Fatalf("OpenCircuit = %v", err)
			}
			if diff := cmp.Diff(want, b.record(t, e)); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, got.Gate); diff != "" || !got.Gate.NextProbe().Equal(want.ProbeAt) {
				t.Errorf("OpenCircuit, next probe at %v (-want +got):\n%s", got.Gate.NextProbe(), diff)
			}
			if diff := cmp.Diff([]hook.CircuitCheck{{Tenant: tenant, Endpoint: e.ID}}, b.queue.checks); diff != "" || b.queue.messages[0].Delay != 7*time.Minute {
				t.Errorf("enqueued %v; want one check in 7m (-want +got):\n%s", b.queue.messages, diff)
			}
		})
	}
}

// TestAdmin_release checks the circuit checks enqueued for parked deliveries.
func TestAdmin_release(t *testing.T) {
	t.Parallel()

	resume := func(b *bundle, ctx context.Context, ref string) error {
		_, err := b.Resume(ctx, tenant, ref)
		return err
	}
	enable := func(b *bundle, ctx context.Context, ref string) error {
		_, err := b.Enable(ctx, tenant, ref)
		return err
	}
	remove := func(b *bundle, ctx context.Context, ref string) error { return b.Delete(ctx, tenant, ref, 0) }
	const (
		active   = hook.StatusActive
		paused   = hook.StatusPaused
		disabled = hook.StatusDisabled
	)
	soon := func(b *bundle) time.Time { return b.now.Add(admission.AttendAfter) }
	probe := func(*bundle) time.Time { return opened.Add(40 * time.Minute) }
	now := func(b *bundle) time.Time { return b.now }
	change := func(f endpoint.Fields) func(*bundle, context.Context, string) error {
		return func(b *bundle, ctx context.Context, ref string) error {
			_, err := b.Change(ctx, tenant, ref, 0, f)
			return err
		}
	}
	tests := []struct {
		name   string
		status hook.Status
		from   func(*admission.Record)
		do     func(*bundle, context.Context, string) error
		wave   int
		attend func(*bundle) time.Time // nil: nothing is asked or written
	}{
		{name: "resume without parked deliveries", status: paused, from: nil, do: resume, wave: 1, attend: soon},
		{name: "resume without parked deliveries and an open circuit", status: paused, from: open, do: resume, wave: 0, attend: now},
		{name: "resume with parked deliveries", status: paused, from: waiting, do: resume, wave: 1, attend: soon},
		{name: "resume with parked deliveries and an open circuit", status: paused, from: all(open, waiting), do: resume, wave: 0, attend: now},
		{name: "resume ends the hold of a 429", status: paused, from: all(waiting, throttled), do: resume, wave: 1, attend: soon},
		{name: "resume again", status: active, from: waiting, do: resume, wave: 1, attend: soon},
		{name: "resume while a release goes on", status: active, from: all(waiting, func(r *admission.Record) { r.Wave = 5 }), do: resume, wave: 1, attend: soon},
		{name: "enable without parked deliveries", status: disabled, from: nil, do: enable, wave: 1, attend: soon},
		{name: "enable with parked deliveries", status: disabled, from: waiting, do: enable, wave: 1, attend: soon},
		{name: "enable with parked deliveries and an open circuit", status: disabled, from: all(open, waiting), do: enable, wave: 0, attend: now},
		{name: "enable ends the hold of a 429", status: disabled, from: all(waiting, throttled), do: enable, wave: 1, attend: soon},
		{name: "another URL", status: active, from: all(open, waiting, throttled), do: change(endpoint.Fields{URL: new("https://example.com/other")}), wave: 0, attend: now},
		{name: "other headers", status: active, from: all(open, waiting), do: change(endpoint.Fields{Headers: &map[string]string{"X-Key": "k"}}), wave: 0, attend: now},
		{name: "another description", status: active, from: all(open, waiting), do: change(endpoint.Fields{Description: new("x")}), wave: 0, attend: nil},
		{name: "enable again", status: active, from: waiting, do: enable, wave: 1, attend: soon},
		{name: "delete without parked deliveries", status: active, from: nil, do: remove, wave: 0, attend: nil},
		{name: "delete without known parked deliveries", status: active, from: failing, do: remove, wave: 1, attend: soon},
		{name: "delete with parked deliveries", status: paused, from: waiting, do: remove, wave: 1, attend: soon},
		{name: "delete with parked deliveries and an open circuit", status: active, from: all(open, waiting), do: remove, wave: 0, attend: probe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			e.Status = tt.status
			if err := b.store.UpdateEndpoint(t.Context(), e); err != nil {
				t.Fatalf("UpdateEndpoint = %v", err)
			}
			want := b.keep(t, e, tt.from)
			var checks []hook.CircuitCheck
			if tt.attend != nil {
				want.Wave, want.AttendAt, want.Version = tt.wave, tt.attend(b), want.Version+1
				if want.State == circuit.Open {
					want.ProbeAt = want.AttendAt
				}
				want.ThrottledUntil = time.Time{}
				if !want.Waiting { // the breaker may have forgotten a parked delivery
					want.Waiting, want.EmptySince = true, b.now
				}
				checks = []hook.CircuitCheck{{Tenant: tenant, Endpoint: e.ID, Wave: tt.wave}}
			}
			if err := tt.do(b, t.Context(), string(e.ID)); err != nil {
				t.Fatalf("%s = %v", tt.name, err)
			}
			if diff := cmp.Diff(want, b.record(t, e)); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(checks, b.queue.checks); diff != "" {
				t.Errorf("enqueued (-want +got):\n%s", diff)
			}
			for _, asked := range b.queue.messages {
				if asked.Delay != 0 {
					t.Errorf("enqueued a check with delay %v; want 0s", asked.Delay)
				}
			}
		})
	}
}

// Changed limits apply to the parked deliveries at once: another change releases nothing.
func TestAdmin_Change_releasesUnderOtherLimits(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		fields  endpoint.Fields
		release bool
	}{
		"a rate":       {fields: endpoint.Fields{RatePerSecond: new(1000.0)}, release: true},
		"the same":     {fields: endpoint.Fields{RatePerSecond: new(0.5), MaxInFlight: new(3)}},
		"in flight":    {fields: endpoint.Fields{MaxInFlight: new(9)}, release: true},
		"other fields": {fields: endpoint.Fields{Description: new("x")}},
	} {
		b := setup(t)
		e, _ := b.create(t, func(f *endpoint.Fields) { f.RatePerSecond, f.MaxInFlight = new(0.5), new(3) })
		b.keep(t, e, waiting)
		if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, tt.fields); err != nil {
			t.Fatal(err)
		}
		if got := len(b.queue.messages) == 1 && b.record(t, e).Wave == 1; got != tt.release {
			t.Errorf("%s: %d checks, wave %d; want a release: %t", name, len(b.queue.messages), b.record(t, e).Wave, tt.release)
		}
	}
}

// A shorter longest wait ends the hold of a 429 that lasts longer; a longer one leaves it.
func TestAdmin_Change_shortensTheHold(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		fields endpoint.Fields
		want   time.Duration
	}{
		"a lower cap":                   {fields: endpoint.Fields{MaxRetryAfter: new(10 * time.Second)}, want: 10 * time.Second},
		"a higher cap":                  {fields: endpoint.Fields{MaxRetryAfter: new(3 * time.Hour)}, want: 40 * time.Minute},
		"a lower cap beyond the hold":   {fields: endpoint.Fields{MaxRetryAfter: new(50 * time.Minute)}, want: 40 * time.Minute},
		"a max_age that halves to less": {fields: endpoint.Fields{MaxAge: new(20 * time.Minute)}, want: 10 * time.Minute},
	} {
		b := setup(t)
		e, _ := b.create(t, nil)
		b.keep(t, e, all(waiting, func(r *admission.Record) { r.ThrottledUntil = b.now.Add(40 * time.Minute) }))
		if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, tt.fields); err != nil {
			t.Fatal(err)
		}
		if r := b.record(t, e); !r.ThrottledUntil.Equal(b.now.Add(tt.want)) {
			t.Errorf("%s: held for %s; want %s", name, r.ThrottledUntil.Sub(b.now), tt.want)
		}
	}
}

// TestAdmin_releaseLost checks a release with a lost message: the caller gets the
// error, the record makes the tick start the release, and another Resume enqueues
// the message.
func TestAdmin_releaseLost(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	if _, err := b.Pause(t.Context(), tenant, string(e.ID)); err != nil {
		t.Fatalf("Pause = %v", err)
	}
	b.keep(t, e, waiting)
	b.queue.err = errDown
	if _, err := b.Resume(t.Context(), tenant, string(e.ID)); hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Resume = %v; want the fault of the queue", err)
	}
	if r := b.record(t, e); r.Wave != 1 || !r.AttendAt.Equal(b.now.Add(admission.AttendAfter)) {
		t.Errorf("stored wave %d to be attended at %v; want 1 in %v", r.Wave, r.AttendAt, admission.AttendAfter)
	}
	b.queue.err = nil
	if got, err := b.Resume(t.Context(), tenant, string(e.ID)); err != nil || got.Status != hook.StatusActive || len(b.queue.messages) != 1 {
		t.Errorf("Resume again = %v, %v, enqueued %v; want active and one check", got.Status, err, b.queue.messages)
	}
}

func TestAdmin_Status(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		maxInFlight int
		from        func(*admission.Record)
		later       time.Duration
		probe       time.Time
		throttled   bool
		inFlight    int
	}{
		{name: "of a new endpoint", maxInFlight: 0, from: nil, later: 0, probe: time.Time{}, throttled: false, inFlight: 0},
		{name: "open", maxInFlight: 0, from: open, later: 0, probe: opened.Add(40 * time.Minute), throttled: false, inFlight: 0},
		{name: "half-open", maxInFlight: 0, from: halfOpen, later: 0, probe: opened.Add(31 * time.Minute), throttled: false, inFlight: 0},
		{name: "throttled", maxInFlight: 0, from: throttled, later: 30*time.Minute - time.Millisecond, probe: time.Time{}, throttled: true, inFlight: 0},
		{name: "after the end of throttling", maxInFlight: 0, from: throttled, later: 30 * time.Minute, probe: time.Time{}, throttled: false, inFlight: 0},
		{name: "with two in flight", maxInFlight: 2, from: nil, later: admission.LeaseFor - time.Millisecond, probe: time.Time{}, throttled: false, inFlight: 2},
		{name: "with two expired leases", maxInFlight: 2, from: nil, later: admission.LeaseFor, probe: time.Time{}, throttled: false, inFlight: 0},
		{name: "without max_in_flight any more", maxInFlight: 0, from: nil, later: 0, probe: time.Time{}, throttled: false, inFlight: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, func(f *endpoint.Fields) { f.UID, f.MaxInFlight = new("crm"), new(tt.maxInFlight) })
			want := endpoint.Status{Endpoint: e, Gate: b.keep(t, e, tt.from), InFlight: tt.inFlight, SignedBy: sign.SignedByNew}
			if want.Gate.State == circuit.Closed && !tt.throttled {
				want.Passes = true
			}
			if !tt.throttled {
				want.Gate.ThrottledUntil = time.Time{}
			}
			lease := admission.Lease{Nonce: "n", Until: b.now.Add(admission.LeaseFor)}
			limits := admission.Limits{Most: 2, Leases: map[string]admission.Lease{"dlv_1": lease, "dlv_2": lease}}
			if err := b.store.ChangeLimits(t.Context(), e.ID, admission.Limits{}, limits); err != nil {
				t.Fatalf("ChangeLimits = %v", err)
			}
			b.now = b.now.Add(tt.later)

			got, err := b.Status(t.Context(), tenant, "crm")
			if diff := cmp.Diff(want, got); diff != "" || err != nil || !got.Gate.NextProbe().Equal(tt.probe) {
				t.Errorf("Status = %v, next probe at %v, want %v (-want +got):\n%s", err, got.Gate.NextProbe(), tt.probe, diff)
			}
		})
	}
}

func TestAdmin_circuitRaces(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		writes int
		want   hook.Code
	}{
		{name: "19 conflicts are retried", writes: 19, want: 0},
		{name: "20 conflicts are CodeUnavailable", writes: 20, want: hook.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			b.keep(t, e, open)
			b.Store = &circuits{Store: b.store, writes: tt.writes}
			_, err := b.ResetCircuit(t.Context(), tenant, string(e.ID))
			stored := b.record(t, e)
			if tt.want != 0 {
				if hook.CodeOf(err) != tt.want || stored.State != circuit.Open || len(b.queue.messages) != 0 {
					t.Errorf("ResetCircuit = %v, stored %v, enqueued %v; want %v and nothing done", err, stored.State, b.queue.messages, tt.want)
				}
				return
			}
			if err != nil || stored.State != circuit.Closed || !stored.Waiting || stored.Generation != int64(3+tt.writes+1) || len(b.queue.messages) != 1 {
				t.Errorf("ResetCircuit = %v, stored %+v, enqueued %v; want closed, of what the others wrote", err, stored, b.queue.messages)
			}
		})
	}
}

// busy is a store with one other write before the first write.
type busy struct {
	*memory.Store
	write func(admission.Record) admission.Record
}

func (s *busy) SaveCircuit(ctx context.Context, r admission.Record) error {
	if write := s.write; write != nil {
		s.write = nil
		stored, err := s.Circuit(ctx, r.Tenant, r.Endpoint)
		if err != nil {
			return err
		}
		if err := s.Store.SaveCircuit(ctx, write(stored)); err != nil {
			return err
		}
	}
	return s.Store.SaveCircuit(ctx, r)
}

// A write of another function is no write of the call, even if both agree about the state and the
// next check.
func TestAdmin_circuitOfAnotherWriter(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		from    func(*admission.Record)
		other   func(admission.Record) admission.Record
		do      func(*bundle, context.Context, string) error
		want    func(b *bundle, before admission.Record) admission.Record
		changes int
	}{
		{
			name: "a probe closes the circuit before the reset", from: halfOpen,
			other: func(r admission.Record) admission.Record {
				return r.Reset(opened.Add(30 * time.Minute).Add(-time.Second))
			},
			do: func(b *bundle, ctx context.Context, ref string) error {
				_, err := b.ResetCircuit(ctx, tenant, ref)
				return err
			},
			want: func(b *bundle, r admission.Record) admission.Record {
				r.Circuit = circuit.Circuit{State: circuit.Closed, Generation: r.Generation + 2, ClosedAt: b.now, Version: r.Version + 2}
				r.Waiting, r.EmptySince, r.Wave, r.AttendAt = true, b.now, 1, b.now.Add(admission.AttendAfter)
				r.SpeedAt = b.now.Add(-time.Second) // since the probe
				return r
			},
			changes: 0,
		},
		{
			name: "an attempt is seen before the release", from: all(waiting, throttled, func(r *admission.Record) { r.AttendAt = r.ThrottledUntil }),
			other: func(r admission.Record) admission.Record {
				r.SeenAt = opened
				return r
			},
			do: func(b *bundle, ctx context.Context, ref string) error {
				_, err := b.Resume(ctx, tenant, ref)
				return err
			},
			want: func(b *bundle, r admission.Record) admission.Record {
				r.SeenAt, r.Wave, r.Version = opened, 1, r.Version+2
				r.ThrottledUntil, r.AttendAt = time.Time{}, b.now.Add(admission.AttendAfter)
				return r
			},
			changes: 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, func(f *endpoint.Fields) { f.Circuit.Cooldown = new(time.Second + 1) })
			before := b.keep(t, e, tt.from)
			changes := 0
			b.Store, b.CircuitChanged = &busy{Store: b.store, write: tt.other}, func(admission.Record, admission.Record) { changes++ }
			if err := tt.do(b, t.Context(), string(e.ID)); err != nil {
				t.Fatalf("%s = %v", tt.name, err)
			}
			if diff := cmp.Diff(tt.want(b, before), b.record(t, e)); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if changes != tt.changes {
				t.Errorf("%d reported changes; want %d", changes, tt.changes)
			}
		})
	}
}

// together is a store whose first n reads return together.
type together struct {
	*memory.Store
	n     int32
	reads atomic.Int32
	all   sync.WaitGroup
}

func (s *together) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (admission.Record, error) {
	r, err := s.Store.Circuit(ctx, tenant, id)
	if s.reads.Add(1) <= s.n {
		s.all.Done()
		s.all.Wait()
	}
	return r, err
}

// Of callers in different milliseconds, the only one that changed the state reports a change.
func TestAdmin_circuitOfManyCallers(t *testing.T) {
	t.Parallel()

	const callers = 10
	for name, tt := range map[string]struct {
		from func(*admission.Record)
		do   func(*endpoint.Admin, context.Context, hook.TenantID, string) (endpoint.Status, error)
	}{
		"open":  {from: nil, do: (*endpoint.Admin).OpenCircuit},
		"reset": {from: open, do: (*endpoint.Admin).ResetCircuit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			before := b.keep(t, e, tt.from)
			store := &together{Store: b.store, n: callers}
			store.all.Add(callers)
			var changes atomic.Int32
			var done sync.WaitGroup
			for i := range callers {
				a := *b.Admin
				a.Store, a.CircuitQueue = store, new(circuitQueue)
				a.Now = func() time.Time { return b.now.Add(time.Duration(i) * time.Millisecond) }
				a.CircuitChanged = func(admission.Record, admission.Record) { changes.Add(1) }
				done.Go(func() {
					if _, err := tt.do(&a, t.Context(), tenant, string(e.ID)); err != nil {
						t.Errorf("%s by caller %d = %v", name, i, err)
					}
				})
			}
			done.Wait()
			if changes.Load() != 1 || b.record(t, e).Generation != before.Generation+callers {
				t.Errorf("%d reported changes, generation %d of %d; want 1, and a generation of each caller",
					changes.Load(), b.record(t, e).Generation, before.Generation)
			}
		})
	}
}

func TestAdmin_circuitFaults(t *testing.T) {
	t.Parallel()

	verbs := map[string]func(*bundle, context.Context, string) error{
		"reset": func(b *bundle, ctx context.Context, ref string) error {
			_, err := b.ResetCircuit(ctx, tenant, ref)
			return err
		},
		"open": func(b *bundle, ctx context.Context, ref string) error {
			_, err := b.OpenCircuit(ctx, tenant, ref)
			return err
		},
		"resume": func(b *bundle, ctx context.Context, ref string) error {
			_, err := b.Resume(ctx, tenant, ref)
			return err
		},
		"delete": func(b *bundle, ctx context.Context, ref string) error { return b.Delete(ctx, tenant, ref, 0) },
		"status": func(b *bundle, ctx context.Context, ref string) error {
			_, err := b.Status(ctx, tenant, ref)
			return err
		},
	}
	tests := []struct {
		name  string
		fault circuits
		asked error
		verbs []string
	}{
		{name: "the circuit cannot be read", fault: circuits{reads: errDown}, asked: nil, verbs: []string{"reset", "open", "resume", "delete", "status"}},
		{name: "the circuit cannot be written", fault: circuits{saves: errDown}, asked: nil, verbs: []string{"reset", "open", "resume", "delete"}},
		{name: "the limits cannot be read", fault: circuits{grant: errDown}, asked: nil, verbs: []string{"reset", "open", "status"}},
		{name: "the queue fails", fault: circuits{}, asked: errDown, verbs: []string{"reset", "open", "resume", "delete"}},
	}
	for _, tt := range tests {
		for _, verb := range tt.verbs {
			t.Run(verb+" when "+tt.name, func(t *testing.T) {
				t.Parallel()

				b := setup(t)
				e, _ := b.create(t, func(f *endpoint.Fields) { f.MaxInFlight = new(1) })
				b.keep(t, e, waiting)
				fault := tt.fault
				fault.Store = b.store
				b.Store, b.queue.err = &fault, tt.asked
				if err := verbs[verb](b, t.Context(), string(e.ID)); !errors.Is(err, errDown) {
					t.Errorf("%s = %v; want the fault", verb, err)
				}
			})
		}
	}
}

func TestAdmin_circuitOfOthers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	b.keep(t, e, open)
	for name, do := range map[string]func(context.Context, hook.TenantID, string) (endpoint.Status, error){
		"Status": b.Status, "ResetCircuit": b.ResetCircuit, "OpenCircuit": b.OpenCircuit,
	} {
		if _, err := do(t.Context(), "globex", string(e.ID)); hook.CodeOf(err) != hook.CodeNotFound {
			t.Errorf("%s by another tenant = %v; want CodeNotFound", name, err)
		}
	}
	if r := b.record(t, e); r.Version != 1 || len(b.queue.messages) != 0 {
		t.Errorf("stored version %d, enqueued %v; want nothing done", r.Version, b.queue.messages)
	}
}
