package endpoint_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

func TestAdmin_Notifications(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, func(f *endpoint.Fields) { f.UID = new("crm") })
	var want []hook.Notification
	for i := range 5 {
		n := hook.Notification{
			Type: hook.NotificationFailing, Tenant: tenant, Endpoint: e.ID, At: b.now.Add(time.Duration(-i) * time.Minute), Reason: "Failing.",
			Figures: map[string]float64{"dead_rate": 0.3}, Key: fmt.Sprint("k", i),
		}
		if err := b.store.PutNotification(t.Context(), n); err != nil {
			t.Fatalf("PutNotice = %v", err)
		}
		want = append(want, n)
	}
	var got []hook.Notification
	p := page.Request{Limit: 2}
	for {
		l, err := b.Notifications(t.Context(), tenant, "crm", p)
		if err != nil {
			t.Fatalf("Notifications = %v", err)
		}
		if got = append(got, l.Data...); l.Next == "" {
			break
		}
		p.Cursor = l.Next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Notifications (-want +got):\n%s", diff)
	}
	other, _ := b.create(t, nil)
	if _, err := b.Notifications(t.Context(), tenant, string(other.ID), p); hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("Notifications of another endpoint with the cursor = %v; want CodeInvalid", err)
	}
	// Forged positions, invalid as keys of any store.
	for _, position := range []string{"\xff", strings.Repeat("x", 513)} {
		p.Cursor = page.NewCursor("decisions\x00acme\x00"+string(e.ID), position)
		if _, err := b.Notifications(t.Context(), tenant, "crm", p); hook.CodeOf(err) != hook.CodeInvalid {
			t.Errorf("Notifications after a forged %d bytes = %v; want CodeInvalid", len(position), err)
		}
	}
}
