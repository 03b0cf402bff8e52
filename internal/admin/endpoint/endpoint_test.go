package endpoint_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

func TestAdmin_Create(t *testing.T) {
	t.Parallel()

	b := setup(t)
	at := b.now
	b.now = at.Add(999 * time.Microsecond) // stored times are whole milliseconds
	e, secret := b.create(t, func(f *endpoint.Fields) { f.URL = new(" https://example.com/hooks\r\n") })
	want := hook.Endpoint{
		ID:          e.ID,
		Tenant:      tenant,
		URL:         "https://example.com/hooks",
		EventTypes:  []string{"*"},
		Retry:       hook.RetryPolicy{Preset: "standard"},
		Timeout:     10 * time.Second,
		MaxAge:      72 * time.Hour,
		Shards:      1,
		ShardsEver:  1,
		Profiles:    hook.ProfilesNamed(hook.ProfileStandard),
		Schemes:     []hook.Scheme{hook.SchemeV1},
		Status:      hook.StatusActive,
		AutoDisable: true,
		StatusSince: at,
		CreatedAt:   at,
		UpdatedAt:   at,
		Version:     1,
	}
	ignore := cmpopts.IgnoreFields(hook.Endpoint{}, "Secrets")
	if diff := cmp.Diff(want, e, ignore, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Create (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(e, b.stored(t, e.ID), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("stored endpoint differs from the one returned:\n%s", diff)
	}
	if got := b.opened(t, e); !slices.Equal(got, []string{secret}) {
		t.Errorf("stored secrets = %q; want the one returned", got)
	}
}

func TestAdmin_Create_refusals(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		edit   func(*endpoint.Fields)
		secret string
		want   []string
	}{
		{name: "no URL", edit: func(f *endpoint.Fields) { f.URL = nil }, secret: "", want: []string{"url"}},
		{name: "a URL with a private address", edit: func(f *endpoint.Fields) { f.URL = new("https://10.0.0.1/") }, secret: "", want: []string{"url"}},
		{name: "a bad retry policy", edit: func(f *endpoint.Fields) { f.Retry = &hook.RetryPolicy{Preset: "never"} }, secret: "", want: []string{"retry.preset"}},
		{name: "a scheme named twice", edit: func(f *endpoint.Fields) { f.Schemes = &[]hook.Scheme{hook.SchemeV1, hook.SchemeV1} }, secret: "", want: []string{"signature_schemes[1]"}},
		{
			name:   "a header named twice",
			edit:   func(f *endpoint.Fields) { f.Headers = &map[string]string{"X-Team": "a", "x-team": "b"} },
			secret: "",
			want:   []string{"headers"},
		},
		{name: "a secret with too few bytes", edit: nil, secret: "whsec_AAAA", want: []string{"secret"}},
		{name: "a private key as the secret", edit: nil, secret: "whsk_" + strings.Repeat("A", 43) + "=", want: []string{"secret"}},
		{
			name: "a circuit out of bounds",
			edit: func(f *endpoint.Fields) {
				f.Circuit = endpoint.CircuitFields{Failures: new(-1), Cooldown: new(2 * time.Hour), MaxCooldown: new(time.Hour)}
			},
			secret: "",
			want:   []string{"circuit.failures", "circuit.max_cooldown"},
		},
		{
			name:   "limits out of bounds",
			edit:   func(f *endpoint.Fields) { f.RatePerSecond, f.MaxInFlight = new(0.001), new(-1) },
			secret: "",
			want:   []string{"rate_per_second", "max_in_flight"},
		},
		{
			name:   "several at once",
			edit:   func(f *endpoint.Fields) { f.URL, f.Timeout = new("http://example.com"), new(time.Hour) },
			secret: "whsec_",
			want:   []string{"timeout", "url", "secret"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			f := endpoint.Fields{URL: new("https://example.com/")}
			if tt.edit != nil {
				tt.edit(&f)
			}
			_, _, err := b.Create(t.Context(), tenant, f, tt.secret)
			if got := fieldsOf(t, err); !slices.Equal(got, tt.want) {
				t.Errorf("Create = %v; wrong fields %q, want %q", err, got, tt.want)
			}
			if all, err := b.store.Endpoints(t.Context(), tenant); err != nil || len(all) != 0 {
				t.Errorf("Endpoints = %v, %v; want none", all, err)
			}
		})
	}
}

func TestAdmin_Endpoint(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, func(f *endpoint.Fields) { f.UID = new("crm") })

	tests := []struct {
		name   string
		tenant hook.TenantID
		ref    string
		want   hook.Code
	}{
		{name: "by id", tenant: tenant, ref: string(e.ID), want: 0},
		{name: "by uid", tenant: tenant, ref: "crm", want: 0},
		{name: "by an unknown id", tenant: tenant, ref: string(hook.NewEndpointID()), want: hook.CodeNotFound},
		{name: "by an unknown uid", tenant: tenant, ref: "erp", want: hook.CodeNotFound},
		{name: "by an invalid id and uid", tenant: tenant, ref: "a b\xff", want: hook.CodeNotFound},
		{name: "by a malformed id", tenant: tenant, ref: "ep_1", want: hook.CodeNotFound},
		{name: "another tenant's by id", tenant: "globex", ref: string(e.ID), want: hook.CodeNotFound},
		{name: "another tenant's by uid", tenant: "globex", ref: "crm", want: hook.CodeNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := b.Get(t.Context(), tt.tenant, tt.ref)
			switch {
			case tt.want == 0 && (err != nil || got.ID != e.ID):
				t.Errorf("Endpoint(%q) = %s, %v; want %s", tt.ref, got.ID, err, e.ID)
			case tt.want != 0 && (hook.CodeOf(err) != tt.want || err.Error() != "no such endpoint"):
				t.Errorf("Endpoint(%q) = %v; want no such endpoint", tt.ref, err)
			}
		})
	}
}

func TestAdmin_Change(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, func(f *endpoint.Fields) {
		f.UID, f.Description = new("crm"), new("old")
		f.Metadata = &map[string]string{"team": "a", "tier": "b"}
	})
	b.now = b.now.Add(time.Minute)
	got, err := b.Change(t.Context(), tenant, "crm", e.Version, endpoint.Fields{
		UID:      new("crm"),
		Timeout:  new(20 * time.Second),
		Metadata: &map[string]string{"team": "c"},
	})
	if err != nil {
		t.Fatalf("Change = %v", err)
	}
	want := e
	want.Timeout, want.Metadata, want.UpdatedAt, want.Version = 20*time.Second, map[string]string{"team": "c"}, b.now, 2
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Change (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, b.stored(t, e.ID), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}

	t.Run("the uid stays", func(t *testing.T) {
		t.Parallel()

		_, err := b.Change(t.Context(), tenant, "crm", 0, endpoint.Fields{UID: new("erp")})
		if got := fieldsOf(t, err); !slices.Equal(got, []string{"uid"}) {
			t.Errorf("Change(uid) = %v; want the field uid", err)
		}
	})
	t.Run("a window and an age that exclude each other are refused from either side", func(t *testing.T) {
		t.Parallel()

		for field, f := range map[string]endpoint.Fields{
			"max_age":         {MaxAge: new(5 * time.Minute)},
			"coalesce.window": {Coalesce: &hook.Coalescing{Window: 5 * time.Minute, MaxEvents: 100, MaxBytes: 1 << 18}},
		} {
			own, _ := b.create(t, func(f *endpoint.Fields) {
				f.MaxAge, f.Coalesce = new(6*time.Minute), &hook.Coalescing{Window: 5 * time.Minute, MaxEvents: 100, MaxBytes: 1 << 18}
			})
			if field != "max_age" {
				if _, err := b.Change(t.Context(), tenant, string(own.ID), 0, endpoint.Fields{Coalesce: &hook.Coalescing{}, MaxAge: new(time.Minute)}); err != nil {
					t.Fatal(err)
				}
			}
			_, err := b.Change(t.Context(), tenant, string(own.ID), 0, f)
			if got := fieldsOf(t, err); !slices.Contains(got, field) {
				t.Errorf("Change(%s) = %v; want the field %s", field, err, field)
			}
		}
	})
	t.Run("an old version is a conflict", func(t *testing.T) {
		t.Parallel()

		_, err := b.Change(t.Context(), tenant, "crm", 1, endpoint.Fields{Description: new("new")})
		if hook.CodeOf(err) != hook.CodeStale {
			t.Errorf("Change(version 1) = %v; want CodeStale", err)
		}
	})
}

func TestAdmin_Change_races(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		writes  int
		version int64
		want    hook.Code
	}{
		{name: "two conflicts are retried", writes: 2, version: 0, want: 0},
		{name: "conflicts at all tries are CodeUnavailable", writes: store.Tries, version: 0, want: hook.CodeUnavailable},
		{name: "one conflict is final with a version", writes: 1, version: 1, want: hook.CodeStale},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			b.Store = &rival{Store: b.store, writes: tt.writes}
			_, err := b.Change(t.Context(), tenant, string(e.ID), tt.version, endpoint.Fields{Timeout: new(20 * time.Second)})
			stored := b.stored(t, e.ID)
			if tt.want != 0 {
				if hook.CodeOf(err) != tt.want || stored.Timeout != e.Timeout {
					t.Errorf("Change = %v, timeout %v; want %v and no change", err, stored.Timeout, tt.want)
				}
				return
			}
			if err != nil || stored.Timeout != 20*time.Second || stored.Description != strings.Repeat("x", tt.writes) {
				t.Errorf("Change = %v, stored timeout %v and description %q; want both writers' changes", err, stored.Timeout, stored.Description)
			}
		})
	}
}

func TestAdmin_Delete(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, func(f *endpoint.Fields) { f.UID = new("crm") })
	if err := b.Delete(t.Context(), tenant, "crm", 7); hook.CodeOf(err) != hook.CodeStale {
		t.Errorf("Delete(version 7) = %v; want CodeStale", err)
	}
	if err := b.Delete(t.Context(), "globex", string(e.ID), 0); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("Delete by another tenant = %v; want CodeNotFound", err)
	}
	if err := b.Delete(t.Context(), tenant, "crm", 1); err != nil {
		t.Errorf("Delete = %v", err)
	}
	if err := b.Delete(t.Context(), tenant, string(e.ID), 0); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("second Delete = %v; want CodeNotFound", err)
	}
	b.create(t, func(f *endpoint.Fields) { f.UID = new("crm") })
}

func TestAdmin_List(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var want []hook.EndpointID
	for range 5 {
		e, _ := b.create(t, nil)
		want = append(want, e.ID)
	}
	slices.Sort(want)

	var got []hook.EndpointID
	p := page.Request{Limit: 2}
	for range 3 {
		list, err := b.List(t.Context(), tenant, p)
		if err != nil {
			t.Fatalf("List = %v", err)
		}
		for _, e := range list.Data {
			got = append(got, e.ID)
		}
		p.Cursor = list.Next
	}
	if !slices.Equal(got, want) || p.Cursor != "" {
		t.Errorf("three pages of 2 = %v, then %q; want %v and the end", got, p.Cursor, want)
	}

	first, err := b.List(t.Context(), tenant, page.Request{Limit: 2})
	if err != nil {
		t.Fatalf("List = %v", err)
	}
	for _, cursor := range []string{"x", "AAAA", "AAAAAAAAAAAAAAAA", first.Next + "A", string(want[1])} {
		if _, err := b.List(t.Context(), tenant, page.Request{Limit: 2, Cursor: cursor}); !slices.Equal(fieldsOf(t, err), []string{"cursor"}) {
			t.Errorf("List(cursor %q) = %v; want the field cursor", cursor, err)
		}
	}
	if _, err := b.List(t.Context(), "globex", page.Request{Limit: 2, Cursor: first.Next}); !slices.Equal(fieldsOf(t, err), []string{"cursor"}) {
		t.Errorf("List with another tenant's cursor = %v; want the field cursor", err)
	}
}

func TestAdmin_ListSlow(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var slow, others []string
	for i := range 4 {
		e, _ := b.create(t, nil)
		switch i {
		case 0: // no record
			others = append(others, string(e.ID))
		case 1:
			b.keep(t, e, waiting)
			others = append(others, string(e.ID))
		default:
			b.keep(t, e, func(r *admission.Record) { r.Review.Slow = true })
			slow = append(slow, string(e.ID))
		}
	}
	for want, all := range map[bool][]string{true: slow, false: others} {
		found := make(map[string]bool)
		p := page.Request{Limit: 1}
		for range 2 {
			l, err := b.ListSlow(t.Context(), tenant, want, p)
			if err != nil || len(l.Data) != 1 {
				t.Fatalf("ListSlow(%t) = %v, %v; want one", want, l, err)
			}
			found[string(l.Data[0].ID)] = true
			if p.Cursor = l.Next; len(found) == 2 && l.Next != "" {
				t.Errorf("ListSlow(%t) goes on after 2; want its end", want)
			}
		}
		if !found[all[0]] || !found[all[1]] {
			t.Errorf("ListSlow(%t) = %v; want %v", want, found, all)
		}
	}
}

func TestAdmin_statuses(t *testing.T) {
	t.Parallel()

	const (
		active   = hook.StatusActive
		paused   = hook.StatusPaused
		disabled = hook.StatusDisabled
	)
	tests := []struct {
		name    string
		from    hook.Status
		verb    string
		want    hook.Status // 0: a conflict
		changes bool
	}{
		{name: "pause, active", from: active, verb: "pause", want: paused, changes: true},
		{name: "pause, paused", from: paused, verb: "pause", want: paused, changes: false},
		{name: "pause, disabled", from: disabled, verb: "pause", want: 0, changes: false},
		{name: "resume, active", from: active, verb: "resume", want: active, changes: false},
		{name: "resume, paused", from: paused, verb: "resume", want: active, changes: true},
		{name: "resume, disabled", from: disabled, verb: "resume", want: 0, changes: false},
		{name: "disable, active", from: active, verb: "disable", want: disabled, changes: true},
		{name: "disable, paused", from: paused, verb: "disable", want: disabled, changes: true},
		{name: "disable, disabled", from: disabled, verb: "disable", want: disabled, changes: false},
		{name: "enable, active", from: active, verb: "enable", want: active, changes: false},
		{name: "enable, paused", from: paused, verb: "enable", want: 0, changes: false},
		{name: "enable, disabled", from: disabled, verb: "enable", want: active, changes: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, nil)
			e.Status, e.Reason = tt.from, hook.ReasonGone
			if err := b.store.UpdateEndpoint(t.Context(), e); err != nil {
				t.Fatalf("UpdateEndpoint = %v", err)
			}
			before := b.stored(t, e.ID)
			b.now = b.now.Add(time.Minute)

			do := map[string]func() (hook.Endpoint, error){
				"pause":   func() (hook.Endpoint, error) { return b.Pause(t.Context(), tenant, string(e.ID)) },
				"resume":  func() (hook.Endpoint, error) { return b.Resume(t.Context(), tenant, string(e.ID)) },
				"disable": func() (hook.Endpoint, error) { return b.Disable(t.Context(), tenant, string(e.ID)) },
				"enable":  func() (hook.Endpoint, error) { return b.Enable(t.Context(), tenant, string(e.ID)) },
			}
			got, err := do[tt.verb]()
			after := b.stored(t, e.ID)
			if !tt.changes {
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("%s changed the endpoint:\n%s", tt.verb, diff)
				}
				if tt.want == 0 && hook.CodeOf(err) != hook.CodeConflict || tt.want != 0 && (err != nil || got.Status != tt.want) {
					t.Errorf("%s = %v, %v; want %v", tt.verb, got.Status, err, tt.want)
				}
				return
			}
			reason := hook.ReasonManual
			if tt.want == active {
				reason = hook.ReasonNone
			}
			if err != nil || after.Status != tt.want || after.Reason != reason || !after.StatusSince.Equal(b.now) || after.Version != before.Version+1 {
				t.Errorf("%s: %v, stored %v for %q since %v, version %d; want %v for %q since %v, version %d",
					tt.verb, err, after.Status, after.Reason, after.StatusSince, after.Version, tt.want, reason, b.now, before.Version+1)
			}
		})
	}
}

func TestAdmin_Sample(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	to, payload, err := b.Sample(t.Context(), tenant, string(e.ID), "", nil)
	if err != nil || to.ID != e.ID || !strings.Contains(string(payload), string(e.ID)) {
		t.Errorf("Sample = %s for %s, %v; want one that names %s", payload, to.ID, err, e.ID)
	}
	if _, _, err = b.Sample(t.Context(), tenant, string(e.ID), "order.paid", nil); err != nil {
		t.Errorf("Sample(order.paid) = %v; want a test event", err)
	}
	for _, eventType := range []string{"webhook.endpoint.disabled", "a b"} {
		if _, _, err := b.Sample(t.Context(), tenant, string(e.ID), eventType, nil); !slices.Equal(fieldsOf(t, err), []string{"event_type"}) {
			t.Errorf("Sample(%q) = %v; want the field event_type", eventType, err)
		}
	}
	if _, err := b.Pause(t.Context(), tenant, string(e.ID)); err != nil {
		t.Fatalf("Pause = %v", err)
	}
	if _, _, err := b.Sample(t.Context(), tenant, string(e.ID), "", nil); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("Sample for a paused endpoint = %v; want CodeConflict", err)
	}
}
