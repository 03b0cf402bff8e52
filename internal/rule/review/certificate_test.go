package review_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/review"
)

// The reviews in a certificate's last weeks, each with the flags of the one before: one warning
// at 30 days, one at 7 days, and new ones for a new certificate.
func TestJudge_warnsOfTheEndOfACertificate(t *testing.T) {
	t.Parallel()

	const day = 24 * time.Hour
	end := time.Date(2026, 12, 31, 12, 0, 0, 0, time.UTC)
	var flags review.Flags
	for _, step := range []struct {
		name   string
		end    time.Time
		before time.Duration // the end
		want   string        // of the key; empty: no notification
	}{
		{name: "31 days before", end: end, before: 31 * day, want: ""},
		{name: "30 days before", end: end, before: 30 * day, want: "2026-12-31T12:00:00Z/30"},
		{name: "later", end: end, before: 8 * day, want: ""},
		{name: "7 days before", end: end, before: 7 * day, want: "2026-12-31T12:00:00Z/7"},
		{name: "repeated", end: end, before: 7*day - time.Hour, want: ""},
		{name: "over", end: end, before: -day, want: ""},
		{name: "a new certificate", end: end.Add(365 * day), before: -day, want: ""},
		{name: "another short one", end: end.Add(9 * day), before: 3 * day, want: "2027-01-09T12:00:00Z/30"},
		{name: "no certificate", end: time.Time{}, before: 0, want: ""},
	} {
		e := hook.Endpoint{ID: "ep_1", Tenant: "acme", Status: hook.StatusActive, TLS: hook.TLS{ID: "m1", Client: !step.end.IsZero(), Subject: "CN=x", NotAfter: step.end}}
		v := review.Judge(review.Facts{Endpoint: e, Flags: flags}, end.Add(-step.before))
		flags = v.Flags
		var got string
		for _, n := range v.Notifications {
			got += strings.TrimPrefix(n.Key, hook.NotificationExpiring+"/ep_1/")
			if n.Type != hook.NotificationExpiring || !strings.Contains(n.Reason, "CN=x") {
				t.Errorf("%s: %+v; want a warning that names the certificate", step.name, n)
			}
		}
		if got != step.want {
			t.Errorf("%s: notification %q; want %q", step.name, got, step.want)
		}
	}
}
