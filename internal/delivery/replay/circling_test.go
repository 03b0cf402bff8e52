package replay_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// A message without progress adds a hop. A message past the bound is counted, and the job
// continues.
func TestWork_CountsMessagesSentOnTooOften(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		saved    bool // the job exists, and its next page is due in a minute
		hops     int
		circling bool
	}{
		{name: "the first message", hops: 0},
		{name: "one hop below the bound", hops: hook.MaxHops - 2},
		{name: "at the bound", hops: hook.MaxHops - 1, circling: true},
		{name: "beyond the bound", hops: hook.MaxHops + 3, circling: true},
		{name: "a job that waits for its rate", saved: true, hops: hook.MaxHops - 1, circling: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := hook.NewJobID()
			if tt.saved {
				j := replay.Job{
					ID: id, Tenant: "acme", Terms: replay.Terms{Rate: 1}, State: replay.JobRunning, Selects: true,
					Filter: replay.Filter{State: hook.StateDead}, CreatedAt: start, NextAt: start.Add(time.Minute),
				}
				if err := w.Store.SaveJob(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			}
			m := replay.Message{Tenant: "acme", Job: id, Until: start.Add(time.Hour), Hops: tt.hops}
			if err := w.Replayer().Work(w.Context(), m); err != nil {
				t.Fatal(err)
			}
			w.Clock.Pass(time.Minute)
			sent := w.Jobs.Receive(10)
			if len(sent) != 1 || sent[0].Job.Hops != tt.hops+1 {
				t.Errorf("next messages %+v; want one with %d hops", sent, tt.hops+1)
			}
			counted := strings.Contains(w.Log.String(), `"messages_circling":1`) && strings.Contains(w.Log.String(), "job_message.circling")
			if counted != tt.circling {
				t.Errorf("counted: %t; want %t: %s", counted, tt.circling, w.Log)
			}
		})
	}
}

// A job with more messages than hook.MaxHops counts none, because each of them makes progress.
func TestWork_CountsNoMessageOfALongJob(t *testing.T) {
	t.Parallel()

	const n = hook.MaxHops + 50
	w := setup(t)
	w.past(w.Endpoint(nil), hook.StateDead, n)
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: replay.MinRate}}) // one delivery a page
	w.Run()
	if got := w.job(j.ID); got.Enqueued != n || got.State != replay.JobFinished {
		t.Fatalf("the job is %s with %d deliveries; want %d and finished", got.State, got.Enqueued, n)
	}
	if messages := strings.Count(w.Log.String(), `"replay_job.processed"`); messages < n || strings.Contains(w.Log.String(), "circling") {
		t.Errorf("%d messages, or a circling one; want at least %d and none", messages, n)
	}
}
