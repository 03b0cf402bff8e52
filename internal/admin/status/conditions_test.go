package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/stats"
)

// createAt creates an endpoint with the uid, which is also the path of its URL, two days ago.
func (b *bundle) createAt(t *testing.T, uid string) hook.Endpoint {
	t.Helper()

	now := b.now
	defer func() { b.now = now }()
	b.now = now.Add(-48 * time.Hour)
	e, _, err := b.admin.Create(t.Context(), tenant, endpoint.Fields{URL: new("https://example.com/" + uid), UID: new(uid)}, "")
	if err != nil {
		t.Fatalf("Create = %v", err)
	}
	return e
}

// TestReader_TenantHealth has an endpoint in each condition, and attempts in the first hour that counts
// and in the hour before it.
func TestReader_TenantHealth(t *testing.T) {
	t.Parallel()

	b := setup(t) // 09:30
	b.createAt(t, "quiet")
	b.createAt(t, "paused")
	healthy, refusing, broken := b.createAt(t, "healthy"), b.createAt(t, "refusing"), b.createAt(t, "broken")
	b.count(t, healthy, b.now.Add(-24*time.Hour), failure("a", 1, hook.StateRetrying), success("a", 2))
	b.count(t, healthy, b.now.Add(-25*time.Hour), failure("a", 1, hook.StateDead))
	b.count(t, healthy, b.now, success("a", 1), success("a", 1))
	refused := stats.Attempt{Type: "a", Class: hook.ClassRefused, Number: 1, Duration: time.Second, State: hook.StateDead}
	b.count(t, refusing, b.now.Add(-time.Hour), refused, refused)
	b.count(t, refusing, b.now, refused)
	b.count(t, broken, b.now, success("a", 1), failure("a", 1, hook.StateRetrying))
	b.keepOpen(t, broken, func(r *admission.Record) { r.Failures = 5 })
	b.count(t, stranger(), b.now, refused)
	if _, err := b.admin.Pause(t.Context(), tenant, "paused"); err != nil {
		t.Fatalf("Pause = %v", err)
	}
	got, err := b.TenantHealth(t.Context(), tenant, "")
	if err != nil {
		t.Fatalf("TenantHealth = %v", err)
	}
	var rows []string
	for _, e := range got.Endpoints {
		since := "-"
		if !e.Since.IsZero() {
			since = e.Since.Format("15:04")
		}
		hours := ""
		for _, h := range e.Hours {
			hours += fmt.Sprintf(" %s:%d/%d/%d", h.Start.Format("02T15"), h.Delivered, h.Failed, h.Dead)
		}
		rows = append(rows, fmt.Sprintf("%s: %v since %s %v, circuit %v: %d attempts, %d succeeded, %d failed, %d delivered, %d dead, p95 %v,%s",
			e.UID, e.State, since, e.Class, e.Circuit, e.Attempts, e.Attempts-e.Failed, e.Failed, e.Delivered, e.Dead, e.P95.Round(100*time.Millisecond), hours))
	}
	want := []string{
		"refusing: failing since 08:30 refused, circuit closed: 3 attempts, 0 succeeded, 3 failed, 0 delivered, 3 dead, p95 1s, 21T08:0/2/2 21T09:0/1/1",
		"broken: failing since 09:00 timeout, circuit open: 2 attempts, 1 succeeded, 1 failed, 1 delivered, 0 dead, p95 10.4s, 21T09:1/1/0",
		"paused: paused since 09:30 unknown, circuit closed: 0 attempts, 0 succeeded, 0 failed, 0 delivered, 0 dead, p95 0s,",
		"healthy: healthy since - unknown, circuit closed: 4 attempts, 3 succeeded, 1 failed, 3 delivered, 0 dead, p95 10.4s, 20T09:1/1/0 21T09:2/0/0",
		"quiet: quiet since - unknown, circuit closed: 0 attempts, 0 succeeded, 0 failed, 0 delivered, 0 dead, p95 0s,",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("TenantHealth (-want +got):\n%s", diff)
	}
	if !got.At.Equal(b.now) || !got.Since.Equal(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("TenantHealth = at %v since %v; want now, and the start of the hour 24 hours ago", got.At, got.Since)
	}
	for i := range got.Endpoints[:2] {
		e := &got.Endpoints[i]
		h, err := b.Health(t.Context(), tenant, e.UID)
		if err != nil || h.Condition != e.Condition {
			t.Errorf("Health(%s) = %+v, %v; want %+v as in the list", e.UID, h.Condition, err, e.Condition)
		}
	}
}

func TestReader_TenantHealth_withoutEndpoints(t *testing.T) {
	t.Parallel()

	got, err := setup(t).TenantHealth(t.Context(), tenant, "")
	if err != nil || len(got.Endpoints) != 0 {
		t.Errorf("TenantHealth = %+v, %v; want no endpoints", got, err)
	}
}

// TestReader_TenantHealth_requests checks that the call reads statistics in one request per endpoint.
func TestReader_TenantHealth_requests(t *testing.T) {
	t.Parallel()

	b := setup(t)
	counted := &countedStats{Store: b.store}
	b.Store = counted
	const n = 30
	for i := range n {
		b.createAt(t, fmt.Sprintf("e%d", i))
	}
	if got, err := b.TenantHealth(t.Context(), tenant, ""); err != nil || len(got.Endpoints) != n || counted.requests.Load() != n {
		t.Errorf("TenantHealth = %d endpoints, %v with %d requests; want %d with a request each", len(got.Endpoints), err, counted.requests.Load(), n)
	}
}

// TestReader_TenantHealth_waiting has endpoints whose deliveries wait for each reason. It also has an
// endpoint with a waiting delivery that nothing hints at, so that nobody counts it, and one of
// another tenant.
func TestReader_TenantHealth_waiting(t *testing.T) {
	t.Parallel()

	b := setup(t) // 09:30
	retrying, limited, open, silent := b.createAt(t, "retrying"), b.createAt(t, "limited"), b.createAt(t, "open"), b.createAt(t, "silent")
	queued := success("a", 2)
	queued.Queued = 90 * time.Minute // since the hour before the current one began, so the mean is 1
	b.count(t, retrying, b.now, failure("a", 1, hook.StateRetrying), queued)
	b.count(t, silent, b.now, success("a", 1))
	b.deliver(t, retrying, hook.StateRetrying, b.now)
	b.deliver(t, retrying, hook.StateRetrying, b.now)
	r := admission.NewRecord(tenant, limited.ID)
	r.Waiting, r.AttendAt = true, b.now
	if err := b.store.SaveCircuit(t.Context(), r); err != nil {
		t.Fatalf("SaveCircuit = %v", err)
	}
	b.wait(t, limited, hook.StateParked, hook.ReasonRate, b.now)
	b.keepOpen(t, open, func(*admission.Record) {})
	for range 100 {
		b.wait(t, open, hook.StateParked, hook.ReasonCircuit, b.now.Add(-time.Hour))
	}
	b.deliver(t, open, hook.StateDead, b.now)
	b.deliver(t, silent, hook.StateRetrying, b.now)
	b.deliver(t, stranger(), hook.StateRetrying, b.now)
	got, err := b.TenantHealth(t.Context(), tenant, "")
	if err != nil {
		t.Fatalf("TenantHealth = %v", err)
	}
	want := status.Waiting{
		Retrying: 2, Parked: 101, Reasons: map[hook.Reason]int{hook.ReasonInFlight: 1, hook.ReasonCircuit: 100},
		AtRisk: 100, FirstLoss: b.now.Add(-time.Hour + 72*time.Hour), // of the open circuit; the other endpoint has no limit
	}
	if diff := cmp.Diff(want, got.Waiting.Waiting); diff != "" || !got.Waiting.Complete || got.Waiting.Queued != 1 {
		t.Errorf("TenantHealth has %v queued, complete %t; want 1, complete; waiting (-want +got):\n%s", got.Waiting.Queued, got.Waiting.Complete, diff)
	}
}

// TestReader_TenantHealth_waitingBounds has as many endpoints as the call counts, and then one more.
func TestReader_TenantHealth_waitingBounds(t *testing.T) {
	t.Parallel()

	const most = 20
	b := setup(t)
	fail := func(n, times int) {
		e := b.createAt(t, fmt.Sprintf("e%d", n))
		for range times {
			b.count(t, e, b.now, failure("a", 1, hook.StateRetrying))
		}
		b.deliver(t, e, hook.StateRetrying, b.now)
	}
	for n := range most {
		fail(n, 5)
	}
	if got, err := b.TenantHealth(t.Context(), tenant, ""); err != nil || !got.Waiting.Complete || got.Waiting.Retrying != most {
		t.Errorf("TenantHealth of %d endpoints = %d retrying, complete %t, %v; want all", most, got.Waiting.Retrying, got.Waiting.Complete, err)
	}
	fail(most, 1)
	if got, err := b.TenantHealth(t.Context(), tenant, ""); err != nil || got.Waiting.Complete || got.Waiting.Retrying != most {
		t.Errorf("TenantHealth of one more = %d retrying, complete %t, %v; want those of the worst, incomplete", got.Waiting.Retrying, got.Waiting.Complete, err)
	}
}

// TestReader_Pipeline_attention has an endpoint that fails and has waiting deliveries, one with a new
// dead delivery, one whose circuit was opened by hand, one with an old dead delivery, one that works,
// one that does not exist, and later sixty that fail by another class: one row for each cause, and no
// endpoint is missing.
func TestReader_Pipeline_attention(t *testing.T) {
	t.Parallel()

	b := setup(t)
	waiting, losing, byHand, old, works := b.createAt(t, "waiting"), b.createAt(t, "losing"), b.createAt(t, "by-hand"), b.createAt(t, "old"), b.createAt(t, "works")
	timeout := failure("a", 1, hook.StateRetrying)
	timeout.Status = 500
	b.count(t, waiting, b.now.Add(-5*time.Hour), timeout)
	timeout.Status = 503
	b.keepOpen(t, waiting, func(r *admission.Record) { r.Failures, r.Waiting, r.AttendAt = 5, true, b.now })
	b.deliver(t, waiting, hook.StateParked, b.now)
	b.deliver(t, waiting, hook.StateRetrying, b.now)
	b.count(t, losing, b.now, timeout)
	b.deliver(t, losing, hook.StateDead, b.now)
	b.keepOpen(t, byHand, func(r *admission.Record) { r.AttendAt = b.now })
	b.count(t, old, b.now, success("a", 1))
	b.deliver(t, old, hook.StateDead, b.now.Add(-480*time.Hour))
	b.count(t, works, b.now, success("a", 1))
	b.count(t, stranger(), b.now, timeout)
	attention := func() (got []string) {
		p, err := b.Pipeline(t.Context())
		if err != nil || !p.Complete {
			t.Fatalf("Pipeline = complete %t, %v", p.Complete, err)
		}
		for _, row := range p.Attention {
			var uids []string
			for _, e := range row.Worst {
				uids = append(uids, e.UID)
			}
			got = append(got, fmt.Sprintf("%s %s %d of %s, since %s: %v %d dead, %d waiting, %d at risk from %s", row.State, row.Class, row.Status, row.Tenant,
				row.Since.Format("15:04"), uids[:min(len(uids), 3)], row.Dead, row.Waiting, row.AtRisk, row.FirstLoss.Format("Jan 2 15:04")))
			if row.Status == 401 && row.Endpoints != 60 {
				t.Errorf("%d endpoints that refuse; want 60", row.Endpoints)
			}
		}
		return got
	}
	want := []string{
		"failing timeout 503 of acme, since 04:30: [losing waiting] 1 dead, 2 waiting, 2 at risk from Nov 24 09:30",
		"paused unknown 0 of acme, since 09:00: [by-hand] 0 dead, 0 waiting, 0 at risk from Jan 1 00:00",
		"healthy unknown 0 of acme, since 00:00: [old] 1 dead, 0 waiting, 0 at risk from Jan 1 00:00",
	}
	if diff := cmp.Diff(want, attention()); diff != "" {
		t.Errorf("Attention (-want +got):\n%s", diff)
	}
	refused := timeout
	refused.Class, refused.Status = hook.ClassRefused, 401
	for i := range 60 {
		b.count(t, b.createAt(t, fmt.Sprintf("e%d", i)), b.now, refused)
	}
	if got := attention(); len(got) != len(want)+1 || got[0] != want[0] || !strings.HasPrefix(got[1], "failing refused 401 of acme, since 09:30") {
		t.Errorf("Attention = %q; want a row more", got)
	}
	refused.Status = 404
	b.count(t, b.createAt(t, "moved"), b.now, refused)
	if got := attention(); len(got) != len(want)+2 || !strings.HasPrefix(got[2], "failing refused 404 of acme, since 09:30: [moved]") {
		t.Errorf("Attention = %q; want a row of its own for another status", got)
	}
}
