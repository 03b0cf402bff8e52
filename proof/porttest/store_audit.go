package porttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/hook"
)

func auditCases() []storeCase {
	return []storeCase{
		{name: "the record of a change comes back", run: auditComesBack},
		{name: "the record of a change put twice is listed once, as put last", run: auditTwice},
		{name: "records of changes are listed newest first, page by page", run: auditPages},
		{name: "records of changes are listed by time", run: auditSpans},
		{name: "a limit of records of changes is at least 1 and at most 100", run: auditLimits},
		{name: "large records of changes are all listed", run: auditLarge},
		{name: "an endpoint is disabled together with the record", run: auditOfDisabling},
		{name: "a conflict of a disabling leaves no record", run: auditOfConflict},
	}
}

func sampleAudit(tenant hook.TenantID, at time.Time) hook.AuditRecord {
	return hook.AuditRecord{
		ID: hook.NewAuditID(), Tenant: tenant, At: at, Key: "key_1", KeyName: "backend – 1", From: "2001:db8::1", Action: "endpoint.change",
		Target: "ep_0123456789abcdef", Request: []byte(`{"url":"https://example.com/"}`), Changes: []byte(`{"url":{"new":"https://example.com/"}}`),
		Outcome: hook.AuditRefused, Code: "conflict", ExpiresAt: storeExpiry(),
	}
}

// auditPagesFrom reads all records of the tenant in pages of limit.
func auditPagesFrom(t *testing.T, s StoreUnderTest, tenant hook.TenantID, span hook.AuditSpan, limit int) []hook.AuditRecord {
	t.Helper()

	var all []hook.AuditRecord
	cursor := ""
	for range 1000 {
		page, next, err := s.AuditRecords(t.Context(), tenant, span, cursor, limit)
		check(t, err)
		if len(page) > limit {
			t.Fatalf("AuditRecords(limit %d) = %d records", limit, len(page))
		}
		all = append(all, page...)
		if next == "" {
			return all
		}
		cursor = next
	}
	t.Fatalf("AuditRecords(limit %d): no end after %d records", limit, len(all))
	return nil
}

func auditComesBack(t *testing.T, s StoreUnderTest) {
	wantSame(t, "AuditRecords(none)", []hook.AuditRecord(nil), auditPagesFrom(t, s, "acme", hook.AuditSpan{}, 10), nil)

	want := sampleAudit("acme", storeEpoch())
	given := want
	given.At = given.At.Add(999 * time.Microsecond).In(time.FixedZone("", 3600)) // kept in UTC milliseconds
	given.Request, given.Changes = slices.Clone(want.Request), slices.Clone(want.Changes)
	check(t, s.PutAudit(t.Context(), given))
	given.Request[0] = '!' // the argument, not the stored copy
	least := hook.AuditRecord{
		ID: hook.NewAuditID(), Tenant: "acme", At: storeEpoch().Add(-time.Hour), Action: "a", Outcome: hook.AuditPending, ExpiresAt: storeExpiry(),
	}
	check(t, s.PutAudit(t.Context(), least))
	check(t, s.PutAudit(t.Context(), sampleAudit("globex", storeEpoch())))
	check(t, s.PutAudit(t.Context(), sampleAudit(hook.AllTenants, storeEpoch())))

	for range 2 { // results are copies
		got, next, err := s.AuditRecords(t.Context(), "acme", hook.AuditSpan{}, "", 10)
		wantSame(t, "AuditRecords()", []hook.AuditRecord{want, least}, got, err)
		if next != "" || got[0].At.Location() != time.UTC {
			t.Errorf("AuditRecords() ends with cursor %q and times in %s; want no cursor, UTC", next, got[0].At.Location())
		}
		got[0].Request[0] = '!'
	}
	if got := auditPagesFrom(t, s, hook.AllTenants, hook.AuditSpan{}, 10); len(got) != 1 {
		t.Errorf("AuditRecords(%s) = %d records; want 1", hook.AllTenants, len(got))
	}
}

func auditTwice(t *testing.T, s StoreUnderTest) {
	r := sampleAudit("acme", storeEpoch())
	for _, outcome := range []hook.AuditOutcome{hook.AuditPending, hook.AuditDone, hook.AuditDone} {
		r.Outcome = outcome
		check(t, s.PutAudit(t.Context(), r))
	}
	wantSame(t, "AuditRecords()", []hook.AuditRecord{r}, auditPagesFrom(t, s, "acme", hook.AuditSpan{}, 10), nil)
}

// putAudits puts n records, two per millisecond, and returns the records newest first.
func putAudits(t *testing.T, s StoreUnderTest, n int) []hook.AuditRecord {
	t.Helper()

	var all []hook.AuditRecord
	for i := range n {
		r := sampleAudit("acme", storeEpoch().Add(time.Duration(i/2)*time.Millisecond))
		check(t, s.PutAudit(t.Context(), r))
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b hook.AuditRecord) int { return strings.Compare(audit.Position(b), audit.Position(a)) })
	return all
}

func auditPages(t *testing.T, s StoreUnderTest) {
	want := putAudits(t, s, 9)
	for _, limit := range []int{1, 2, 3, 8, 9, 10, 100} {
		wantSame(t, fmt.Sprintf("pages of %d", limit), want, auditPagesFrom(t, s, "acme", hook.AuditSpan{}, limit), nil)
	}
	// Cursors not returned by any call are valid, too.
	all, _, err := s.AuditRecords(t.Context(), "acme", hook.AuditSpan{}, strings.Repeat("~", 512), 100)
	wantSame(t, "records from the end of time", want, all, err)
	none, _, err := s.AuditRecords(t.Context(), "acme", hook.AuditSpan{}, "!", 100)
	wantSame(t, "records from before all time", []hook.AuditRecord(nil), none, err)
}

func auditSpans(t *testing.T, s StoreUnderTest) {
	all := putAudits(t, s, 10) // newest first: 4 ms, 4 ms, 3 ms, ...
	at := func(ms float64) time.Time { return storeEpoch().Add(time.Duration(ms * float64(time.Millisecond))) }
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	beyond := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)) // the year 10000 in UTC
	for _, tt := range []struct {
		span hook.AuditSpan
		want []hook.AuditRecord
	}{
		{span: hook.AuditSpan{Since: at(4)}, want: all[:2]},
		{span: hook.AuditSpan{Since: at(3.5)}, want: all[:2]},
		{span: hook.AuditSpan{Until: at(1)}, want: all[8:]},
		{span: hook.AuditSpan{Until: at(0.5)}, want: all[8:]},
		{span: hook.AuditSpan{Since: at(1), Until: at(3)}, want: all[4:8]},
		{span: hook.AuditSpan{Since: at(3), Until: at(3)}, want: nil},
		{span: hook.AuditSpan{Since: at(3), Until: at(1)}, want: nil},
		{span: hook.AuditSpan{Since: at(5)}, want: nil},
		{span: hook.AuditSpan{Until: at(0)}, want: nil},
		{span: hook.AuditSpan{Until: last}, want: all},
		{span: hook.AuditSpan{Since: at(4), Until: beyond}, want: all[:2]},
		{span: hook.AuditSpan{Since: last}, want: nil},
		{span: hook.AuditSpan{Since: beyond}, want: nil},
	} {
		for _, limit := range []int{1, 3, 100} {
			wantSame(t, fmt.Sprintf("records of %v by %d", tt.span, limit), tt.want, auditPagesFrom(t, s, "acme", tt.span, limit), nil)
		}
	}
}

func auditLimits(t *testing.T, s StoreUnderTest) {
	putAudits(t, s, 101)
	for _, tt := range []struct{ limit, want int }{{limit: -1, want: 1}, {limit: 0, want: 1}, {limit: 100, want: 100}, {limit: 1 << 40, want: 100}} {
		got, next, err := s.AuditRecords(t.Context(), "acme", hook.AuditSpan{}, "", tt.limit)
		if err != nil || len(got) != tt.want || next == "" {
			t.Errorf("AuditRecords(limit %d) = %d records, cursor %q, %v; want %d and a cursor", tt.limit, len(got), next, err, tt.want)
		}
	}
}

// auditLarge puts 12 records of 150 KB: more than one request of a store may return.
// They are also more than DynamoDB writes to one key in a second, so a put is repeated
// while the store throttles.
func auditLarge(t *testing.T, s StoreUnderTest) {
	want := make(map[hook.AuditID]bool)
	for i := range 12 {
		r := sampleAudit("acme", storeEpoch().Add(time.Duration(i)*time.Second))
		r.Request = []byte(`"` + strings.Repeat("x", 150<<10) + `"`)
		race(t, 1, func(ctx context.Context, _ int) error { return s.PutAudit(ctx, r) })
		want[r.ID] = true
	}
	for _, r := range auditPagesFrom(t, s, "acme", hook.AuditSpan{}, 100) {
		delete(want, r.ID)
	}
	if len(want) != 0 {
		t.Errorf("%d of 12 records are in no page", len(want))
	}
}

func auditOfDisabling(t *testing.T, s StoreUnderTest) {
	e := sampleEndpoint("acme")
	check(t, s.CreateEndpoint(t.Context(), e))
	e.Version = 1
	version, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)
	after := e.Disabled(hook.ReasonGone, storeEpoch().Add(time.Hour))
	r := sampleAudit("acme", after.UpdatedAt)
	check(t, s.DisableEndpoint(t.Context(), after, r))

	after.Version = 2
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint(disabled)", after, got, err)
	wantSame(t, "AuditRecords()", []hook.AuditRecord{r}, auditPagesFrom(t, s, "acme", hook.AuditSpan{}, 10), nil)
	if now, err := s.TenantVersion(t.Context(), "acme"); err != nil || now <= version {
		t.Errorf("TenantVersion() = %d, %v after %d; want a new version", now, err, version)
	}
}

func auditOfConflict(t *testing.T, s StoreUnderTest) {
	e := sampleEndpoint("acme")
	check(t, s.CreateEndpoint(t.Context(), e))
	e.Version = 7
	err := s.DisableEndpoint(t.Context(), e.Disabled(hook.ReasonGone, storeEpoch()), sampleAudit("acme", storeEpoch()))
	wantCode(t, "DisableEndpoint(another version)", err, hook.CodeConflict)
	wantSame(t, "AuditRecords()", []hook.AuditRecord(nil), auditPagesFrom(t, s, "acme", hook.AuditSpan{}, 10), nil)
}
