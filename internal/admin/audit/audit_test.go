package audit_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/audit"
)

// Stores compare positions as text, so a position has four digits of the year.
func TestPositionAt(t *testing.T) {
	t.Parallel()

	last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	tests := []struct {
		name string
		at   time.Time
		want string
	}{
		{name: "a whole millisecond", at: time.Date(2026, 11, 21, 9, 30, 0, 5e6, time.UTC), want: "2026-11-21T09:30:00.005Z"},
		{name: "a part of a millisecond is rounded up", at: time.Date(2026, 11, 21, 9, 30, 0, 5e6+1, time.UTC), want: "2026-11-21T09:30:00.006Z"},
		{name: "another zone", at: time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600)), want: "2026-11-21T08:30:00.000Z"},
		{name: "the last millisecond", at: last, want: "9999-12-31T23:59:59.999Z"},
		{name: "the last microsecond of some languages", at: last.Add(999 * time.Microsecond), want: "9999-12-31T23:59:59.999Z"},
		{name: "a year of five digits in UTC", at: time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)), want: "9999-12-31T23:59:59.999Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := audit.PositionAt(tt.at); got != tt.want {
				t.Errorf("PositionAt(%v) = %s; want %s", tt.at, got, tt.want)
			}
		})
	}
}
