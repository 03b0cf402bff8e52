package endpoint_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/certificate"
)

// TestAdmin_Change_tries checks which changes make a waiting delivery the probe at once.
func TestAdmin_Change_tries(t *testing.T) {
	t.Parallel()

	authority, _ := certificate.Authority(t, "authority")
	tests := []struct {
		name   string
		fields endpoint.Fields
		tries  bool
	}{
		{name: "another origin", fields: endpoint.Fields{URL: new("https://other.example.com/hooks")}, tries: true},
		{name: "another path", fields: endpoint.Fields{URL: new("https://example.com/other")}, tries: true},
		{name: "a header", fields: endpoint.Fields{Headers: &map[string]string{"X-Key": "k"}}, tries: true},
		{name: "other credentials", fields: endpoint.Fields{Auth: &hook.Auth{Type: hook.AuthBearer, Secret: "t"}}, tries: true},
		{name: "an authority", fields: endpoint.Fields{TLS: &hook.Material{CA: authority}}, tries: true},
		{name: "another region", fields: endpoint.Fields{Region: new("us-east-1")}, tries: true},
		{name: "fixed addresses", fields: endpoint.Fields{Egress: new(hook.EgressFixed)}, tries: true},
		{name: "the same URL, perhaps a repeat", fields: endpoint.Fields{URL: new("https://example.com/hooks")}, tries: true},
		{name: "the same URL beside another change", fields: endpoint.Fields{URL: new("https://example.com/hooks"), Description: new("x")}, tries: false},
		{name: "another timeout", fields: endpoint.Fields{Timeout: new(hook.MaxTimeout)}, tries: true},
		{name: "another envelope", fields: endpoint.Fields{Envelope: new(hook.EnvelopeRaw)}, tries: true},
		{name: "another transformation", fields: endpoint.Fields{Transformation: new(`{"n": 1}`)}, tries: true},
		{name: "another profile", fields: endpoint.Fields{Profiles: &[]string{"github"}}, tries: true},
		{name: "another description", fields: endpoint.Fields{Description: new("x")}, tries: false},
		{name: "nothing", fields: endpoint.Fields{}, tries: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.Origins = endpoint.Origins{Regions: []string{"us-east-1"}, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
			e, _ := b.create(t, func(f *endpoint.Fields) { f.URL = new("https://example.com/hooks") })
			b.keep(t, e, all(open, waiting, throttled))
			if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, tt.fields); err != nil {
				t.Fatalf("Change = %v", err)
			}
			r := b.record(t, e)
			if got := r.ProbeDue(b.now) && r.ThrottledUntil.IsZero() && len(b.queue.messages) == 1; got != tt.tries {
				t.Errorf("a probe is due: %t, held until %s, %d checks; want a probe: %t", r.ProbeDue(b.now), r.ThrottledUntil, len(b.queue.messages), tt.tries)
			}
		})
	}
}

// TestAdmin_EndOverlap_tries checks that the end of an overlap makes a waiting delivery the probe at
// once, also when it is repeated, and a rotation does not.
func TestAdmin_EndOverlap_tries(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	b.keep(t, e, all(open, waiting))
	if _, _, err := b.Rotate(t.Context(), tenant, string(e.ID), "", time.Hour); err != nil {
		t.Fatal(err)
	}
	if r := b.record(t, e); r.ProbeDue(b.now) {
		t.Error("after a rotation a probe is due; want none")
	}
	for n := range 2 {
		if _, err := b.EndOverlap(t.Context(), tenant, string(e.ID)); err != nil {
			t.Fatal(err)
		}
		if r := b.record(t, e); !r.ProbeDue(b.now) || len(b.queue.messages) != n+1 {
			t.Errorf("after end %d of the overlap: a probe is due: %t, %d checks; want one more", n+1, r.ProbeDue(b.now), len(b.queue.messages))
		}
	}
}

// TestAdmin_Change_shortensTheWait checks that shorter cooldowns shorten the wait for the next probe,
// and that a check follows.
func TestAdmin_Change_shortensTheWait(t *testing.T) {
	t.Parallel()

	const before, inForce = 30 * time.Minute, 40 * time.Minute
	leased := func(r *admission.Record) { r.LeaseUntil = opened.Add(32 * time.Minute) }
	for name, tt := range map[string]struct {
		change endpoint.CircuitFields
		edit   func(*admission.Record)
		want   time.Duration // until the next probe
	}{
		"a shorter cooldown":       {change: endpoint.CircuitFields{Cooldown: new(time.Minute)}, edit: waiting, want: time.Minute},
		"the default":              {change: endpoint.CircuitFields{Cooldown: new(time.Duration(0))}, edit: waiting, want: hook.DefaultCooldown},
		"a lower bound":            {change: endpoint.CircuitFields{MaxCooldown: new(time.Hour)}, edit: waiting, want: before},
		"a longer cooldown":        {change: endpoint.CircuitFields{Cooldown: new(35 * time.Minute)}, edit: waiting, want: inForce},
		"the same":                 {change: endpoint.CircuitFields{Cooldown: new(before)}, edit: waiting, want: inForce},
		"another setting":          {change: endpoint.CircuitFields{Failures: new(3)}, edit: waiting, want: inForce},
		"beside a probe in flight": {change: endpoint.CircuitFields{Cooldown: new(time.Minute)}, edit: leased, want: 2 * time.Minute},
	} {
		b := setup(t)
		e, _ := b.create(t, func(f *endpoint.Fields) {
			f.Circuit = endpoint.CircuitFields{Cooldown: new(before), MaxCooldown: new(2 * time.Hour)}
		})
		b.keep(t, e, all(open, waiting, tt.edit, func(r *admission.Record) { r.ProbeAt = b.now.Add(inForce) }))
		if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Circuit: tt.change}); err != nil {
			t.Fatalf("%s: Change = %v", name, err)
		}
		var checks []message
		if tt.want < inForce {
			checks = []message{{Delay: tt.want}}
		}
		if got := b.record(t, e).ProbeAt.Sub(b.now); got != tt.want || !cmp.Equal(b.queue.messages, checks) {
			t.Errorf("%s: the next probe is due in %s, checks: %v; want %s and %v", name, got, b.queue.messages, tt.want, checks)
		}
	}
}

// At another origin nothing waits for the probe that hangs at the old one.
func TestAdmin_Change_leavesTheProbeOfTheOldOrigin(t *testing.T) {
	t.Parallel()

	for url, due := range map[string]bool{"https://other.example.com/hooks": true, "https://example.com/other": false} {
		b := setup(t)
		e, _ := b.create(t, func(f *endpoint.Fields) { f.URL = new("https://example.com/hooks") })
		b.keep(t, e, all(halfOpen, waiting, func(r *admission.Record) {
			r.LeaseUntil = b.now.Add(circuit.ProbeLease)
		}))
		if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: &url}); err != nil {
			t.Fatalf("Change = %v", err)
		}
		if r := b.record(t, e); r.ProbeDue(b.now) != due {
			t.Errorf("%s beside a probe in flight: another one is due: %t; want %t", url, !due, due)
		}
	}
}

// TestAdmin_Change_triesAfterAFault changes the URL while the circuit cannot be written, or its check
// not be sent. The caller repeats the change, and the circuit must not stay as it was.
func TestAdmin_Change_triesAfterAFault(t *testing.T) {
	t.Parallel()

	for name, fail := range map[string]func(b *bundle) (mend func()){
		"the circuit": func(b *bundle) func() {
			c := &circuits{Store: b.store, saves: errDown}
			b.Store = c
			return func() { c.saves = nil }
		},
		"the queue": func(b *bundle) func() {
			b.queue.err = errDown
			return func() { b.queue.err = nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			b.keep(t, e, all(open, waiting))
			mend := fail(b)
			change := endpoint.Fields{URL: new("https://other.example.com/")}
			if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, change); err == nil {
				t.Fatal("Change = nil; want a fault")
			}
			mend()
			if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, change); err != nil {
				t.Fatalf("Change again = %v", err)
			}
			if r := b.record(t, e); !r.ProbeDue(b.now) {
				t.Errorf("the next probe is due at %s; want now", r.ProbeAt)
			}
			if diff := cmp.Diff([]hook.CircuitCheck{{Tenant: tenant, Endpoint: e.ID}}, b.queue.checks); diff != "" {
				t.Errorf("enqueued (-want +got):\n%s", diff)
			}
		})
	}
}
