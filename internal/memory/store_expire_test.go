package memory_test

import (
	"fmt"
	"testing"
	"time"

	"surehook/internal/admin/status"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

func TestStore_Expire_RemovesExpiredRecords(t *testing.T) {
	t.Parallel()

	target := hook.Target{Endpoint: "ep_1", Shards: 1}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := memory.NewStore()
	for hour := range 10 {
		e := hook.Event{ID: hook.EventID(fmt.Sprintf("evt_%d", hour)), Tenant: "acme", ExpiresAt: start.Add(time.Duration(hour) * time.Hour)}
		d := hook.QueuedDelivery(e, target)
		d.State = hook.StateDead
		if hour == 9 {
			d.ExpiresAt = start.Add(24 * time.Hour) // expires after its event
		}
		attempt := &hook.Attempt{Delivery: d.Ref(), Number: 1, ExpiresAt: e.ExpiresAt}
		job := replay.Job{ID: hook.JobID(fmt.Sprintf("rpl_%d", hour)), Tenant: "acme", ExpiresAt: e.ExpiresAt}
		d.Job = job.ID
		for _, err := range []error{
			s.PutEvent(t.Context(), e), s.SaveDelivery(t.Context(), d, attempt), s.SaveJob(t.Context(), job), s.RecordOutcome(t.Context(), d),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		at           time.Duration
		events, jobs int
	}{
		{at: -time.Second, events: 10, jobs: 10},
		{at: 0, events: 9, jobs: 9},
		{at: time.Hour - 1, events: 9, jobs: 9},
		{at: 5 * time.Hour, events: 4, jobs: 4},
		{at: 9 * time.Hour, events: 1, jobs: 0}, // the delivery keeps the last event
		{at: 24 * time.Hour, events: 0, jobs: 0},
	}
	for _, tt := range tests {
		s.Expire(start.Add(tt.at))
		events, deliveries, attempts := s.Size()
		listed, _, err := s.DeliveryRows(t.Context(), status.Part{Endpoint: target.Endpoint}, status.Span{}, 100)
		if events != tt.events || deliveries != tt.events || attempts != tt.events || len(listed) != tt.events || err != nil {
			t.Errorf("after Expire(start + %s) there are %d events, %d deliveries, %d attempts, and %d are listed, %v; want %d of each",
				tt.at, events, deliveries, attempts, len(listed), err, tt.events)
		}
		jobs, err := s.Jobs(t.Context(), "acme", "", 100)
		if err != nil || len(jobs) != tt.jobs {
			t.Errorf("after Expire(start + %s) Jobs() = %d, %v; want %d", tt.at, len(jobs), err, tt.jobs)
		}
	}
	if outcomes, err := s.JobOutcomes(t.Context(), "rpl_1"); err != nil || outcomes != (replay.Outcomes{}) {
		t.Errorf("JobOutcomes(expired job) = %+v, %v; want nothing", outcomes, err)
	}
}

func TestStore_Expire_KeepsTheCountsOfTheWindow(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := memory.NewStore()
	count := func(add int, at time.Time) int {
		t.Helper()

		got, err := s.Count(t.Context(), "acme", "ep_1", &stats.Counts{OK: add}, at)
		if err != nil {
			t.Fatal(err)
		}
		return got.OK
	}
	old := now.Add(-time.Hour)
	count(1, old)
	count(2, now.Add(-circuit.Window+time.Minute))
	count(4, now)
	s.Expire(now)
	if got := count(0, now); got != 6 {
		t.Errorf("Count(0) after Expire = %d; want 6", got)
	}
	if got := count(0, old); got != 0 {
		t.Errorf("Count(0) an hour before after Expire = %d; want 0", got)
	}
}

// The table keeps an hour of counts for stats.Kept after its end.
func TestStore_Expire_KeepsTheHoursOfStatistics(t *testing.T) {
	t.Parallel()

	hour := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		after time.Duration // the end of the hour
		want  int
	}{{stats.Kept, 1}, {stats.Kept + 1, 0}} {
		s := memory.NewStore()
		if _, err := s.Count(t.Context(), "acme", "ep_1", &stats.Counts{OK: 1}, hour.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		s.Expire(hour.Add(time.Hour + tt.after))
		if got, err := s.Hours(t.Context(), "ep_1", hour); len(got) != tt.want || err != nil {
			t.Errorf("%v after the end of the hour, Hours() = %d hours, %v; want %d", tt.after, len(got), err, tt.want)
		}
	}
}
