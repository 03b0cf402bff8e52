package hook_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func TestDelivery_ListedAt(t *testing.T) {
	t.Parallel()

	created := time.Date(2026, 3, 4, 5, 6, 7, 999_999, time.UTC) // the record has whole milliseconds
	stored := created.Truncate(time.Millisecond)
	tests := []struct {
		name string
		d    hook.Delivery
		want time.Time
	}{
		{"queued", hook.Delivery{State: hook.StateQueued}, stored},
		{"queued and swept", hook.Delivery{State: hook.StateQueued, SweptAt: stored.Add(15 * time.Minute)}, stored.Add(time.Hour)},
		{"the first retry", hook.Delivery{State: hook.StateRetrying, NextAttemptAt: stored.Add(30 * time.Second)}, stored},
		{"the last of the first hour", hook.Delivery{State: hook.StateRetrying, NextAttemptAt: stored.Add(time.Hour - time.Millisecond)}, stored},
		{"an hour later", hook.Delivery{State: hook.StateRetrying, NextAttemptAt: stored.Add(time.Hour)}, stored.Add(time.Hour)},
		{"planned by a clock that is behind", hook.Delivery{State: hook.StateRetrying, NextAttemptAt: stored.Add(-time.Second)}, stored.Add(-time.Second)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			for _, at := range []time.Time{stored, created} {
				tt.d.CreatedAt = at
				if got := tt.d.ListedAt().Truncate(time.Millisecond); !got.Equal(tt.want) || tt.d.OverdueFrom().Before(got) {
					t.Errorf("created %s: ListedAt() = %s, OverdueFrom() = %s; want %s", at, got, tt.d.OverdueFrom(), tt.want)
				}
			}
		})
	}
}
