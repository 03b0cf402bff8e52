package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// TestCircuit_patch checks that absent settings of the circuit keep the stored
// value, and that 0 means the default.
func TestCircuit_patch(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm","rate_per_second":10,"max_in_flight":2,"circuit":{"failures":3,"cooldown":"1m"}}`)
	steps := []struct{ body, want string }{
		{body: `{"circuit":{"rate":0.9}}`, want: `"rate_per_second":10,"max_in_flight":2,"shards":1,"circuit":{"failures":3,"rate":0.9,"minimum":10,"cooldown":"1m","max_cooldown":"1h"}`},
		{body: `{"circuit":{"cooldown":"2h"}}`, want: `"circuit":{"failures":3,"rate":0.9,"minimum":10,"cooldown":"2h","max_cooldown":"2h"}`},
		{body: `{"circuit":{"failures":0,"cooldown":"0s"}}`, want: `"circuit":{"failures":5,"rate":0.9,"minimum":10,"cooldown":"10s","max_cooldown":"1h"}`},
		{body: `{"circuit":{}}`, want: `"circuit":{"failures":5,"rate":0.9,"minimum":10,"cooldown":"10s","max_cooldown":"1h"}`},
		{body: `{"rate_per_second":0}`, want: `"rate_per_second":0,"max_in_flight":2,`},
		{body: `{"max_in_flight":0}`, want: `"rate_per_second":0,"max_in_flight":0,`},
	}
	for _, step := range steps {
		if w := b.do(t, owner, "PATCH", endpoints+"/crm", step.body); w.Code != 200 || !strings.Contains(w.Body.String(), step.want) {
			t.Errorf("PATCH %s = %d %s; want 200 with %s", step.body, w.Code, w.Body, step.want)
		}
	}
}

func TestCircuit_state(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	open := func(r *admission.Record) {
		r.State, r.Cooldown, r.OpenedAt, r.ProbeAt, r.Waiting = circuit.Open, 10*time.Minute, now.Add(-time.Hour), now.Add(time.Minute), true
	}
	tests := []struct {
		name   string
		edit   func(*admission.Record)
		limits bool // with one of two places taken
		want   string
	}{
		{name: "counting failures", edit: func(r *admission.Record) { r.Failures = 4 }, limits: false, want: `{"state":"closed","strained":false,"failures":4,"waiting":false}`},
		{
			name: "open", edit: open, limits: false,
			want: `{"state":"open","strained":false,"failures":0,"opened_at":"2026-11-21T08:30:00.000Z","cooldown":"10m","next_probe_at":"2026-11-21T09:31:00.000Z","waiting":true}`,
		},
		{
			name: "half-open", edit: func(r *admission.Record) {
				open(r)
				r.State, r.Holder, r.LeaseUntil = circuit.HalfOpen, "dlv_1", now.Add(2*time.Minute)
			},
			limits: false,
			want:   `{"state":"half_open","strained":false,"failures":0,"opened_at":"2026-11-21T08:30:00.000Z","cooldown":"10m","next_probe_at":"2026-11-21T09:32:00.000Z","waiting":true}`,
		},
		{
			name: "throttled", edit: func(r *admission.Record) { r.ThrottledUntil = now.Add(time.Millisecond) }, limits: false,
			want: `{"state":"closed","strained":false,"failures":0,"throttled_until":"2026-11-21T09:30:00.001Z","waiting":false}`,
		},
		{name: "no longer throttled", edit: func(r *admission.Record) { r.ThrottledUntil = now }, limits: false, want: `{"state":"closed","strained":false,"failures":0,"waiting":false}`},
		{
			name: "strained", edit: func(r *admission.Record) { r.StrainedAt = now.Add(time.Millisecond - circuit.Window) }, limits: false,
			want: `{"state":"closed","strained":true,"failures":0,"waiting":false}`,
		},
		{
			name: "no longer strained", edit: func(r *admission.Record) { r.StrainedAt = now.Add(-circuit.Window) }, limits: false,
			want: `{"state":"closed","strained":false,"failures":0,"waiting":false}`,
		},
		{
			name: "paced", edit: func(r *admission.Record) { r.Pace = admission.Pace{Rate: 7.5, Since: now} }, limits: false,
			want: `{"state":"closed","strained":false,"failures":0,"pace":7.5,"waiting":false}`,
		},
		{
			name: "closed by a probe", edit: func(r *admission.Record) { r.OpenedAt, r.Cooldown, r.ClosedAt = now.Add(-time.Hour), time.Minute, now }, limits: false,
			want: `{"state":"closed","strained":false,"failures":0,"waiting":false}`,
		},
		{name: "with a limit", edit: func(*admission.Record) {}, limits: true, want: `{"state":"closed","strained":false,"failures":0,"in_flight":1,"waiting":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			body := `{"url":"https://example.com/"}`
			if tt.limits {
				body = `{"url":"https://example.com/","max_in_flight":2}`
			}
			id := hook.EndpointID(idOf(t, b.create(t, body)))
			r := admission.NewRecord("acme", id)
			tt.edit(&r)
			if err := b.store.SaveCircuit(t.Context(), r); err != nil {
				t.Fatalf("SaveCircuit = %v", err)
			}
			limits := admission.Limits{Most: 1, Leases: map[string]admission.Lease{"dlv_1": {Nonce: "n", Until: now.Add(admission.LeaseFor)}}}
			if err := b.store.ChangeLimits(t.Context(), id, admission.Limits{}, limits); err != nil {
				t.Fatalf("ChangeLimits = %v", err)
			}
			w := b.do(t, reader, "GET", endpoints+"/"+string(id), "")
			if _, got, _ := strings.Cut(w.Body.String(), `,"circuit_state":`); w.Code != 200 || got != tt.want+`,"signed_by":"new"}` {
				t.Errorf("GET = %d, circuit_state %s; want 200, %s}", w.Code, got, tt.want)
			}
			if w := b.do(t, reader, "GET", endpoints, ""); w.Code != 200 || strings.Contains(w.Body.String(), "circuit_state") {
				t.Errorf("GET list = %d %s; want 200 without circuit_state", w.Code, w.Body)
			}
		})
	}
}

func TestCircuit_byHand(t *testing.T) {
	t.Parallel()

	b := setup(t)
	id := idOf(t, b.create(t, `{"url":"https://example.com/","uid":"crm","circuit":{"cooldown":"30s"}}`))
	steps := []struct{ verb, want string }{
		{verb: "open", want: `{"state":"open","strained":false,"failures":0,"opened_at":"2026-11-21T09:30:00.000Z","cooldown":"30s","next_probe_at":"2026-11-21T09:30:30.000Z","waiting":false}`},
		{verb: "reset", want: `{"state":"closed","strained":false,"failures":0,"waiting":false}`},
		{verb: "reset", want: `{"state":"closed","strained":false,"failures":0,"waiting":false}`},
	}
	for _, step := range steps {
		w := b.do(t, owner, "POST", endpoints+"/crm/circuit/"+step.verb, "")
		if _, got, _ := strings.Cut(w.Body.String(), `,"circuit_state":`); w.Code != 200 || got != step.want+`,"signed_by":"new"}` || w.Header().Get("ETag") != `"1"` {
			t.Errorf("%s = %d, circuit_state %s, ETag %s; want 200, %s} and version 1", step.verb, w.Code, got, w.Header().Get("ETag"), step.want)
		}
		read := b.do(t, reader, "GET", endpoints+"/"+id, "")
		if _, got, _ := strings.Cut(read.Body.String(), `,"circuit_state":`); got != step.want+`,"signed_by":"new"}` {
			t.Errorf("GET after %s = %s; want %s}", step.verb, got, step.want)
		}
	}
	b.now = b.now.Add(30 * time.Second)
	if asked := b.asked.Receive(10); len(asked) != 3 || asked[2].CircuitCheck != (hook.CircuitCheck{Tenant: "acme", Endpoint: hook.EndpointID(id)}) {
		t.Errorf("asked %v; want one check for each reset, and one for the probe", asked)
	}
	b.create(t, `{"url":"https://example.com/","uid":"erp","max_in_flight":2}`)
	if w := b.do(t, owner, "POST", endpoints+"/erp/circuit/reset", ""); !strings.Contains(w.Body.String(), `"in_flight":0,`) {
		t.Errorf("reset with a limit = %s; want none in flight", w.Body)
	}
	if w := b.do(t, owner, "GET", endpoints+"/crm/circuit/open", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET circuit/open = %d; want 405", w.Code)
	}
}

// A probe that somebody asks for is due now, and a second call finds it so.
func TestCircuit_probe(t *testing.T) {
	t.Parallel()

	b := setup(t)
	id := hook.EndpointID(idOf(t, b.create(t, `{"url":"https://example.com/"}`)))
	r := admission.NewRecord("acme", id)
	r.State, r.Cooldown, r.OpenedAt, r.ProbeAt, r.Waiting = circuit.Open, time.Hour, b.now, b.now.Add(time.Hour), true
	if err := b.store.SaveCircuit(t.Context(), r); err != nil {
		t.Fatalf("SaveCircuit = %v", err)
	}
	const want = `"next_probe_at":"2026-11-21T09:30:00.000Z","waiting":true`
	for range 2 {
		if w := b.do(t, owner, "POST", endpoints+"/"+string(id)+"/circuit/probe", ""); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("POST circuit/probe = %d %s; want 200 and %s", w.Code, w.Body, want)
		}
	}
	if asked := b.asked.Receive(10); len(asked) == 0 || asked[0].Endpoint != id {
		t.Errorf("asked %v; want a check", asked)
	}
}
