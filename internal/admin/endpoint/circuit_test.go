package endpoint_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/admin/endpoint"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/circuit"
)

// ask is what the breaker was asked.
type ask struct {
	Wave  int
	Delay time.Duration
}

// attention remembers what it was asked; err, if set, is its answer.
type attention struct {
	err   error
	looks []hook.CircuitCheck
	asks  []ask
}

func (a *attention) Enqueue(_ context.Context, look hook.CircuitCheck, delay time.Duration) error {
	if a.err != nil {
		return a.err
	}
	a.looks = append(a.looks, look)
	a.asks = append(a.asks, ask{look.Wave, delay})
	return nil
}

// circuits is a store where someone else writes first for a while, or that is down.
type circuits struct {
	*memory.Store
	writes              int
	reads, saves, grant error
}

func (c *circuits) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (gate.Record, error) {
	if c.reads != nil {
		return gate.Record{}, c.reads
	}
	return c.Store.Circuit(ctx, tenant, id)
}

func (c *circuits) SaveCircuit(ctx context.Context, r gate.Record) error {
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

func (c *circuits) Limits(ctx context.Context, id hook.EndpointID) (gate.Limits, error) {
	if c.grant != nil {
		return gate.Limits{}, c.grant
	}
	return c.Store.Limits(ctx, id)
}

// keep stores a record for the endpoint and returns it as it is stored.
func (b *bundle) keep(t *testing.T, e hook.Endpoint, edit func(*gate.Record)) gate.Record {
	t.Helper()

	r := gate.NewRecord(tenant, e.ID)
	if edit != nil {
		edit(&r)
		if err := b.store.SaveCircuit(t.Context(), r); err != nil {
			t.Fatalf("SaveCircuit = %v", err)
		}
	}
	return b.record(t, e)
}

func (b *bundle) record(t *testing.T, e hook.Endpoint) gate.Record {
	t.Helper()

	r, err := b.store.Circuit(t.Context(), tenant, e.ID)
	if err != nil {
		t.Fatalf("Circuit = %v", err)
	}
	return r
}

// Records as edits of a new one; opened is long before the bundle's clock.
var opened = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func failing(r *gate.Record) { r.Generation, r.Failures = 3, 4 }

func waiting(r *gate.Record) { r.Waiting = true }

func open(r *gate.Record) {
	r.State, r.Generation, r.Cooldown, r.OpenedAt, r.ProbeAt = circuit.Open, 3, 20*time.Minute, opened, opened.Add(40*time.Minute)
}

func halfOpen(r *gate.Record) {
	open(r)
	r.State, r.Holder, r.LeaseUntil = circuit.HalfOpen, "dlv_1", opened.Add(31*time.Minute)
}

func throttled(r *gate.Record) { r.ThrottledUntil = opened.Add(time.Hour) }

func all(edits ...func(*gate.Record)) func(*gate.Record) {
	return func(r *gate.Record) {
		for _, edit := range edits {
			edit(r)
		}
	}
}

func TestAdmin_ResetCircuit(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		from    func(*gate.Record)
		waiting bool
		until   time.Time // of throttling
	}{
		{name: "of which nothing is known", from: nil, waiting: false, until: time.Time{}},
		{name: "that counts failures", from: failing, waiting: false, until: time.Time{}},
		{name: "that is open", from: open, waiting: false, until: time.Time{}},
		{name: "that is open, with parked deliveries", from: all(open, waiting), waiting: true, until: time.Time{}},
		{name: "that is half-open, with parked deliveries", from: all(halfOpen, waiting), waiting: true, until: time.Time{}},
		{name: "that is closed, with parked deliveries", from: waiting, waiting: true, until: time.Time{}},
		{name: "of an endpoint that asked for a wait", from: all(open, throttled), waiting: false, until: opened.Add(time.Hour)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			before := b.keep(t, e, tt.from)
			want := gate.NewRecord(tenant, e.ID)
			want.Generation, want.Version, want.ThrottledUntil = before.Generation+1, before.Version+1, tt.until
			want.ClosedAt = b.now
			var asks []ask
			if tt.waiting {
				want.Waiting, want.Wave, want.AttendAt = true, 1, b.now.Add(gate.AttendAfter)
				asks = []ask{{Wave: 1, Delay: 0}}
			}
			got, err := b.ResetCircuit(t.Context(), tenant, string(e.ID))
			if err != nil {
				t.Fatalf("ResetCircuit = %v", err)
			}
			if diff := cmp.Diff(want, b.record(t, e)); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(endpoint.Status{Endpoint: e, Gate: want}, got); diff != "" {
				t.Errorf("ResetCircuit (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(asks, b.asked.asks); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdmin_OpenCircuit(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		from func(*gate.Record)
	}{
		{name: "of which nothing is known", from: nil},
		{name: "that counts failures", from: failing},
		{name: "that is open", from: all(open, waiting)},
		{name: "that is half-open", from: all(halfOpen, waiting)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, func(f *endpoint.Fields) { f.Circuit.Cooldown = new(7 * time.Minute) })
			before := b.keep(t, e, tt.from)
			want := gate.NewRecord(tenant, e.ID)
			want.State, want.Generation, want.Version = circuit.Open, before.Generation+1, before.Version+1
			want.Cooldown, want.OpenedAt, want.ProbeAt = 7*time.Minute, b.now, b.now.Add(7*time.Minute)
			want.AttendAt, want.Waiting = want.ProbeAt, before.Waiting

			got, err := b.OpenCircuit(t.Context(), tenant, string(e.ID))
			if err != nil {
				t.Fatalf("OpenCircuit = %v", err)
			}
			if diff := cmp.Diff(want, b.record(t, e)); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, got.Gate); diff != "" || !got.NextProbe().Equal(want.ProbeAt) {
				t.Errorf("OpenCircuit, next probe at %v (-want +got):\n%s", got.NextProbe(), diff)
			}
			if diff := cmp.Diff([]hook.CircuitCheck{{Tenant: tenant, Endpoint: e.ID}}, b.asked.looks); diff != "" || b.asked.asks[0].Delay != 7*time.Minute {
				t.Errorf("asked %v; want one look in 7m (-want +got):\n%s", b.asked.asks, diff)
			}
		})
	}
}

// TestAdmin_release checks what makes the breaker look after parked deliveries.
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
	soon := func(b *bundle) time.Time { return b.now.Add(gate.AttendAfter) }
	probe := func(*bundle) time.Time { return opened.Add(40 * time.Minute) }
	tests := []struct {
		name   string
		status hook.Status
		from   func(*gate.Record)
		do     func(*bundle, context.Context, string) error
		wave   int
		attend func(*bundle) time.Time // nil: nothing is asked or written
	}{
		{name: "resume with none parked", status: paused, from: nil, do: resume, wave: 0, attend: nil},
		{name: "resume with none parked and an open circuit", status: paused, from: open, do: resume, wave: 0, attend: nil},
		{name: "resume with parked ones", status: paused, from: waiting, do: resume, wave: 1, attend: soon},
		{name: "resume with parked ones and an open circuit", status: paused, from: all(open, waiting), do: resume, wave: 0, attend: probe},
		{name: "resume again", status: active, from: waiting, do: resume, wave: 1, attend: soon},
		{name: "resume while a release goes on", status: active, from: all(waiting, func(r *gate.Record) { r.Wave = 5 }), do: resume, wave: 1, attend: soon},
		{name: "enable with none parked", status: disabled, from: nil, do: enable, wave: 0, attend: nil},
		{name: "enable with parked ones", status: disabled, from: all(failing, waiting), do: enable, wave: 1, attend: soon},
		{name: "enable with parked ones and an open circuit", status: disabled, from: all(open, waiting), do: enable, wave: 0, attend: probe},
		{name: "enable again", status: active, from: waiting, do: enable, wave: 1, attend: soon},
		{name: "delete with none parked", status: active, from: nil, do: remove, wave: 0, attend: nil},
		{name: "delete with parked ones", status: paused, from: waiting, do: remove, wave: 1, attend: soon},
		{name: "delete with parked ones and an open circuit", status: active, from: all(open, waiting), do: remove, wave: 0, attend: probe},
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
			var looks []hook.CircuitCheck
			if tt.attend != nil {
				want.Wave, want.AttendAt, want.Version = tt.wave, tt.attend(b), want.Version+1
				looks = []hook.CircuitCheck{{Tenant: tenant, Endpoint: e.ID, Wave: tt.wave}}
			}
			if err := tt.do(b, t.Context(), string(e.ID)); err != nil {
				t.Fatalf("%s = %v", tt.name, err)
			}
			if diff := cmp.Diff(want, b.record(t, e)); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(looks, b.asked.looks); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			for _, asked := range b.asked.asks {
				if asked.Delay != 0 {
					t.Errorf("asked for a look in %v; want it at once", asked.Delay)
				}
			}
		})
	}
}

// TestAdmin_releaseLost checks that a release whose message was not sent is
// told to the caller, is written down for the tick, and is done by asking again.
func TestAdmin_releaseLost(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	if _, err := b.Pause(t.Context(), tenant, string(e.ID)); err != nil {
		t.Fatalf("Pause = %v", err)
	}
	b.keep(t, e, waiting)
	b.asked.err = errDown
	if _, err := b.Resume(t.Context(), tenant, string(e.ID)); hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Resume = %v; want the fault of the queue", err)
	}
	if r := b.record(t, e); r.Wave != 1 || !r.AttendAt.Equal(b.now.Add(gate.AttendAfter)) {
		t.Errorf("stored wave %d to be attended at %v; want 1 in %v", r.Wave, r.AttendAt, gate.AttendAfter)
	}
	b.asked.err = nil
	if got, err := b.Resume(t.Context(), tenant, string(e.ID)); err != nil || got.Status != hook.StatusActive || len(b.asked.asks) != 1 {
		t.Errorf("Resume again = %v, %v, asked %v; want active and one look", got.Status, err, b.asked.asks)
	}
}

func TestAdmin_Standing(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		maxInFlight int
		from        func(*gate.Record)
		later       time.Duration
		probe       time.Time
		throttled   bool
		inFlight    int
	}{
		{name: "of a new endpoint", maxInFlight: 0, from: nil, later: 0, probe: time.Time{}, throttled: false, inFlight: 0},
		{name: "that is open", maxInFlight: 0, from: open, later: 0, probe: opened.Add(40 * time.Minute), throttled: false, inFlight: 0},
		{name: "that is half-open", maxInFlight: 0, from: halfOpen, later: 0, probe: opened.Add(31 * time.Minute), throttled: false, inFlight: 0},
		{name: "that is throttled", maxInFlight: 0, from: throttled, later: 30*time.Minute - time.Millisecond, probe: time.Time{}, throttled: true, inFlight: 0},
		{name: "that was throttled", maxInFlight: 0, from: throttled, later: 30 * time.Minute, probe: time.Time{}, throttled: false, inFlight: 0},
		{name: "with two in flight", maxInFlight: 2, from: nil, later: gate.LeaseFor - time.Millisecond, probe: time.Time{}, throttled: false, inFlight: 2},
		{name: "with two that never came back", maxInFlight: 2, from: nil, later: gate.LeaseFor, probe: time.Time{}, throttled: false, inFlight: 0},
		{name: "that limits none in flight any more", maxInFlight: 0, from: nil, later: 0, probe: time.Time{}, throttled: false, inFlight: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, func(f *endpoint.Fields) { f.UID, f.MaxInFlight = new("crm"), new(tt.maxInFlight) })
			want := endpoint.Status{Endpoint: e, Gate: b.keep(t, e, tt.from), InFlight: tt.inFlight}
			if !tt.throttled {
				want.Gate.ThrottledUntil = time.Time{}
			}
			limits, _ := gate.Limits{}.Lease([]string{"dlv_1", "dlv_2"}, 2, b.now)
			if err := b.store.SaveLimits(t.Context(), e.ID, limits); err != nil {
				t.Fatalf("SaveLimits = %v", err)
			}
			b.now = b.now.Add(tt.later)

			got, err := b.Status(t.Context(), tenant, "crm")
			if diff := cmp.Diff(want, got); diff != "" || err != nil || !got.NextProbe().Equal(tt.probe) {
				t.Errorf("Standing = %v, next probe at %v, want %v (-want +got):\n%s", err, got.NextProbe(), tt.probe, diff)
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
		{name: "lost races are made up for", writes: 19, want: 0},
		{name: "at some point the caller is asked to come again", writes: 20, want: hook.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			b.keep(t, e, open)
			b.Circuits = &circuits{Store: b.store, writes: tt.writes}
			_, err := b.ResetCircuit(t.Context(), tenant, string(e.ID))
			stored := b.record(t, e)
			if tt.want != 0 {
				if hook.CodeOf(err) != tt.want || stored.State != circuit.Open || len(b.asked.asks) != 0 {
					t.Errorf("ResetCircuit = %v, stored %v, asked %v; want %v and nothing done", err, stored.State, b.asked.asks, tt.want)
				}
				return
			}
			if err != nil || stored.State != circuit.Closed || !stored.Waiting || stored.Generation != int64(3+tt.writes+1) || len(b.asked.asks) != 1 {
				t.Errorf("ResetCircuit = %v, stored %+v, asked %v; want closed, of what the others wrote", err, stored, b.asked.asks)
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
		"standing": func(b *bundle, ctx context.Context, ref string) error {
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
		{name: "the circuit cannot be read", fault: circuits{reads: errDown}, asked: nil, verbs: []string{"reset", "open", "resume", "delete", "standing"}},
		{name: "the circuit cannot be written", fault: circuits{saves: errDown}, asked: nil, verbs: []string{"reset", "open", "resume", "delete"}},
		{name: "the limits cannot be read", fault: circuits{grant: errDown}, asked: nil, verbs: []string{"reset", "open", "standing"}},
		{name: "nobody can be asked", fault: circuits{}, asked: errDown, verbs: []string{"reset", "open", "resume", "delete"}},
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
				b.Circuits, b.asked.err = &fault, tt.asked
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
		"Standing": b.Status, "ResetCircuit": b.ResetCircuit, "OpenCircuit": b.OpenCircuit,
	} {
		if _, err := do(t.Context(), "globex", string(e.ID)); hook.CodeOf(err) != hook.CodeNotFound {
			t.Errorf("%s by another tenant = %v; want CodeNotFound", name, err)
		}
	}
	if r := b.record(t, e); r.Version != 1 || len(b.asked.asks) != 0 {
		t.Errorf("stored version %d, asked %v; want nothing done", r.Version, b.asked.asks)
	}
}
