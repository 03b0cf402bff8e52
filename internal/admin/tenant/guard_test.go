package tenant_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// The limit of changes bounds what a tenant can write into the records of changes. Changes of the
// limit itself do not count, so the operator can always raise it.
func TestGuard_Check(t *testing.T) {
	t.Parallel()

	store, now := memory.NewStore(), time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	if err := store.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{ChangesPerHour: 2}); err != nil {
		t.Fatal(err)
	}
	g := tenant.Guard{Store: store, Now: func() time.Time { return now }}
	for i, step := range []struct {
		tenant  hook.TenantID
		counted bool
		pass    time.Duration
		refused bool
	}{
		{tenant: "acme", counted: true, pass: 0, refused: false},
		{tenant: "acme", counted: true, pass: 0, refused: false},
		{tenant: "acme", counted: true, pass: 0, refused: true},
		{tenant: "acme", counted: false, pass: 0, refused: false},
		{tenant: "globex", counted: true, pass: 0, refused: false},
		{tenant: "acme", counted: true, pass: 30 * time.Minute, refused: false},
		{tenant: "acme", counted: true, pass: 0, refused: true},
	} {
		now = now.Add(step.pass)
		err := g.Check(t.Context(), step.tenant, step.counted)
		if step.refused != (err != nil) || err != nil && hook.CodeOf(err) != hook.CodeThrottled {
			t.Errorf("step %d: Check(%s, counted %t) = %v; want throttled: %t", i, step.tenant, step.counted, err, step.refused)
		}
	}
}
