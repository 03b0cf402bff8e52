package settlement_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/settlement"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// subject returns the task of the first attempt with the record of a queued delivery, after the edit.
func subject(edit func(s *settlement.Subject)) *settlement.Subject {
	s := &settlement.Subject{
		Task:     hook.Task{Tenant: "acme", Attempt: 1, Nonce: "own"},
		Event:    &hook.Event{Tenant: "acme", Payload: []byte("1"), AcceptedAt: now},
		Endpoint: &hook.Endpoint{Retry: hook.RetryPolicy{Schedule: []time.Duration{10 * time.Second}, Jitter: hook.JitterNone}, MaxAge: time.Hour},
		Delivery: &hook.Delivery{Tenant: "acme", State: hook.StateQueued, CreatedAt: now},
	}
	if edit != nil {
		edit(s)
	}
	return s
}

func TestJudge(t *testing.T) {
	t.Parallel()

	record := func(state hook.State, attempts int, task string) func(s *settlement.Subject) {
		return func(s *settlement.Subject) {
			s.Delivery.State, s.Delivery.Attempts, s.Delivery.DecidedBy = state, attempts, task
		}
	}
	tests := []struct {
		name string
		edit func(s *settlement.Subject)
		want settlement.Action

		decision settlement.Decision // of Write
		at       time.Time           // of Send
	}{
		{name: "a queued delivery is due", want: settlement.Attempt},
		{name: "the task's own attempt failed", edit: record(hook.StateRetrying, 1, "own"), want: settlement.Resume},
		{name: "the task's own attempt succeeded", edit: record(hook.StateDelivered, 1, "own"), want: settlement.Resume},
		{name: "the task itself cancelled the delivery without an attempt", edit: record(hook.StateCancelled, 0, "own"), want: settlement.Resume},
		{name: "another task made the attempt", edit: record(hook.StateRetrying, 1, "other"), want: settlement.Drop},
		{name: "another task made the next attempt", edit: record(hook.StateRetrying, 2, "other"), want: settlement.Drop},
		{name: "another task settled the delivery without an attempt", edit: record(hook.StateCancelled, 0, "other"), want: settlement.Drop},
		{name: "the delivery was parked after the task was made", edit: func(s *settlement.Subject) {
			record(hook.StateParked, 0, "other")(s)
			s.Delivery.Parks = 1
		}, want: settlement.Drop},
		{name: "parked, and the breaker sent the task", edit: func(s *settlement.Subject) {
			record(hook.StateParked, 0, "other")(s)
			s.Delivery.Parks, s.Task.Parks = 1, 1
		}, want: settlement.Attempt},
		{name: "the previous attempt is not recorded", edit: func(s *settlement.Subject) { s.Task.Attempt = 2 }, want: settlement.Drop},
		{name: "the payload was erased", edit: func(s *settlement.Subject) { s.Event.Payload, s.Event.ErasedAt = nil, now }, want: settlement.Write, decision: settlement.Erased(now)},
		{name: "1 s before the planned time: clocks may differ", edit: func(s *settlement.Subject) {
			record(hook.StateRetrying, 1, "other")(s)
			s.Task.Attempt, s.Delivery.NextAttemptAt = 2, now.Add(time.Second)
		}, want: settlement.Attempt},
		{name: "more than 1 s before the planned time", edit: func(s *settlement.Subject) {
			record(hook.StateRetrying, 1, "other")(s)
			s.Task.Attempt, s.Delivery.NextAttemptAt = 2, now.Add(time.Second+1)
		}, want: settlement.Send, at: now.Add(time.Second + 1)},
		{name: "older than max_age", edit: func(s *settlement.Subject) { s.Delivery.CreatedAt = now.Add(-time.Hour - 1) }, want: settlement.Write, decision: settlement.Expired(now)},
		{name: "older than the max_age of a deleted endpoint", edit: func(s *settlement.Subject) {
			s.Delivery.CreatedAt, s.Endpoint = now.Add(-time.Hour-1), nil
		}, want: settlement.Attempt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := settlement.Judge(subject(tt.edit), now)
			var at time.Time
			if got.Sending != nil {
				at = got.Sending.At
			}
			if got.Do != tt.want || got.Decision != tt.decision || !at.Equal(tt.at) || got.Do == settlement.Drop && got.Reason == "" {
				t.Errorf("Judge() = %+v; want %d, %+v at %s", got, tt.want, tt.decision, tt.at)
			}
		})
	}
}

// written is the part of a plan that the tables compare.
type written struct {
	Course  settlement.Course
	State   hook.State
	Reason  hook.Reason
	Task    string
	Next    time.Time
	Attempt bool
	Made    bool
	Undone  time.Time
}

func TestDecision_On_plansByTheNewestRecord(t *testing.T) {
	t.Parallel()

	attempt := func(class hook.Class, status int) settlement.Decision {
		return settlement.Attempted(&hook.Outcome{Class: class, Status: status}, now, now)
	}
	ok, failed, refused, gone := attempt(hook.ClassDelivered, 200), attempt(hook.ClassUnavailable, 503), attempt(hook.ClassRefused, 404), attempt(hook.ClassGone, 410)
	busy := settlement.Attempted(&hook.Outcome{Class: hook.ClassUnavailable, Status: 503, RetryAfter: time.Hour}, now, now)
	together := settlement.Attempted(&hook.Outcome{Class: hook.ClassRefused, Status: 400, Batch: &hook.Batch{Size: 2}}, now, now)
	park := settlement.Unattempted(hook.StateParked, hook.ReasonPaused, now)
	retryAt := now.Add(10 * time.Second)
	tests := []struct {
		name     string
		decision settlement.Decision
		edit     func(s *settlement.Subject) // changes the newest record or the endpoint
		want     written
	}{
		// Nobody else wrote.
		{name: "a success of the first attempt has no record of the attempt", decision: ok, want: written{Course: settlement.WriteFirst, State: hook.StateDelivered, Task: "own"}},
		{
			name: "a success of a later attempt", decision: ok, edit: func(s *settlement.Subject) { s.Task.Attempt, s.Delivery.Attempts = 2, 1 },
			want: written{Course: settlement.WriteFirst, State: hook.StateDelivered, Task: "own", Attempt: true},
		},
		{name: "a failure", decision: failed, want: written{Course: settlement.WriteFirst, State: hook.StateRetrying, Task: "own", Next: retryAt, Attempt: true}},
		{
			name: "the last failure", decision: failed, edit: func(s *settlement.Subject) { s.Task.Attempt, s.Delivery.Attempts = 2, 1 },
			want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonExhausted, Task: "own", Attempt: true},
		},
		{
			name: "a failure whose retry would come after max_age", decision: failed, edit: func(s *settlement.Subject) { s.Endpoint.MaxAge = time.Second },
			want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonExpired, Task: "own", Attempt: true},
		},
		{
			name: "a wait beyond max_age that the endpoint asked for", decision: busy, edit: func(s *settlement.Subject) { s.Endpoint.MaxAge = time.Minute },
			want: written{Course: settlement.WriteFirst, State: hook.StateRetrying, Task: "own", Next: retryAt, Attempt: true},
		},
		{name: "a refusal", decision: refused, want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonRejected, Task: "own", Attempt: true}},
		{
			name: "a refusal in retry_on", decision: refused, edit: func(s *settlement.Subject) { s.Endpoint.RetryOn = []int{404} },
			want: written{Course: settlement.WriteFirst, State: hook.StateRetrying, Task: "own", Next: retryAt, Attempt: true},
		},
		{
			name: "a failure in give_up_on", decision: failed, edit: func(s *settlement.Subject) { s.Endpoint.GiveUpOn = []int{503} },
			want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonRejected, Task: "own", Attempt: true},
		},
		{name: "a refusal of several events", decision: together, want: written{Course: settlement.WriteFirst, State: hook.StateRetrying, Task: "own", Next: retryAt, Attempt: true}},
		{
			name: "the last attempt is a refusal of several events: once more, alone", decision: together, edit: attempts(1),
			want: written{Course: settlement.WriteFirst, State: hook.StateRetrying, Task: "own", Next: now, Attempt: true},
		},
		{
			name: "the attempt alone fails", decision: failed, edit: attempts(2),
			want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonExhausted, Task: "own", Attempt: true},
		},
		{
			name: "the attempt alone is refused", decision: refused, edit: attempts(2),
			want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonRejected, Task: "own", Attempt: true},
		},
		{
			name: "a refusal of several events whose retry would come after max_age", decision: together, edit: func(s *settlement.Subject) { s.Endpoint.MaxAge = time.Second },
			want: written{Course: settlement.WriteFirst, State: hook.StateRetrying, Task: "own", Next: now, Attempt: true},
		},
		{
			name: "a refusal of several events after max_age", decision: together, edit: func(s *settlement.Subject) {
				s.Endpoint.MaxAge, s.Delivery.CreatedAt = time.Second, now.Add(-time.Minute)
			},
			want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonExpired, Task: "own", Attempt: true},
		},
		{
			name: "a refusal of several events at the most requests of a delivery", decision: together, edit: attempts(hook.MaxRequests - 1),
			want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonExhausted, Task: "own", Attempt: true},
		},
		{
			name: "the last attempt is a refusal of several events over a park", decision: together, edit: func(s *settlement.Subject) {
				attempts(1)(s)
				s.Delivery.State, s.Delivery.Parks = hook.StateParked, 1
			},
			want: written{Course: settlement.WriteFirst, State: hook.StateParked, Task: "own", Attempt: true},
		},
		{name: "410 Gone", decision: gone, want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonGone, Task: "own", Attempt: true}},
		{name: "a park", decision: park, want: written{Course: settlement.WriteFirst, State: hook.StateParked, Reason: hook.ReasonPaused, Task: "own"}},
		{
			name: "a park of a delivery that is parked already", decision: park, edit: newest(hook.StateParked, 0, "other"),
			want: written{Course: settlement.WriteFirst, State: hook.StateParked, Reason: hook.ReasonPaused, Task: "own"},
		},
		{name: "an expiry", decision: settlement.Expired(now), want: written{Course: settlement.WriteFirst, State: hook.StateDead, Reason: hook.ReasonExpired, Task: "own"}},
		{name: "an erasure", decision: settlement.Erased(now), want: written{Course: settlement.WriteFirst, State: hook.StateCancelled, Reason: hook.ReasonErased, Task: "own"}},

		// The record shows the task's own decision: the response was lost, or a copy of the task wrote it.
		{name: "its own success", decision: ok, edit: newest(hook.StateDelivered, 1, "own"), want: written{Course: settlement.FollowOnly, State: hook.StateDelivered, Task: "own", Made: true}},
		{name: "its own success over the failures of further attempts", decision: ok, edit: newest(hook.StateDelivered, 2, "own"), want: written{Course: settlement.FollowOnly, State: hook.StateDelivered, Task: "own", Made: true}},
		{name: "the failure of a copy", decision: refused, edit: newest(hook.StateRetrying, 1, "own"), want: written{Course: settlement.FollowOnly, State: hook.StateRetrying, Task: "own"}},
		{
			name: "its own park", decision: park, edit: func(s *settlement.Subject) { newest(hook.StateParked, 0, "own")(s); s.Delivery.Parks = 1 },
			want: written{Course: settlement.FollowOnly, State: hook.StateParked, Task: "own", Made: true},
		},

		// Another task recorded the attempt or made another decision.
		{name: "a success over a failure", decision: ok, edit: newest(hook.StateRetrying, 1, "other"), want: written{Course: settlement.FollowFirst, State: hook.StateDelivered, Task: "own"}},
		{name: "a success over the failure of a copy", decision: ok, edit: newest(hook.StateRetrying, 1, "own"), want: written{Course: settlement.FollowFirst, State: hook.StateDelivered, Task: "own"}},
		{name: "a success over a death", decision: ok, edit: newest(hook.StateDead, 2, "other"), want: written{Course: settlement.WriteFirst, State: hook.StateDelivered, Task: "own", Undone: now}},
		{name: "a success over a death without the attempt", decision: ok, edit: newest(hook.StateDead, 0, "other"), want: written{Course: settlement.WriteFirst, State: hook.StateDelivered, Task: "own", Undone: now}},
		{name: "a success over a replayed death", decision: ok, edit: func(s *settlement.Subject) {
			newest(hook.StateDead, 1, "other")(s)
			s.Delivery.Replayed.Generation = 2
		}, want: written{Course: settlement.Stand, State: hook.StateDead, Task: "other"}},
		{name: "a success over a cancellation", decision: ok, edit: newest(hook.StateCancelled, 0, "other"), want: written{Course: settlement.Stand, State: hook.StateCancelled, Task: "other"}},
		{name: "a failure over a failure", decision: failed, edit: newest(hook.StateRetrying, 1, "other"), want: written{Course: settlement.Stand, State: hook.StateRetrying, Task: "other"}},
		{name: "a park over a death", decision: park, edit: newest(hook.StateDead, 1, "other"), want: written{Course: settlement.Stand, State: hook.StateDead, Task: "other"}},

		// The delivery was parked after the task was made.
		{name: "a success over a park", decision: ok, edit: parked(hook.StateParked), want: written{Course: settlement.FollowFirst, State: hook.StateDelivered, Task: "own"}},
		{name: "a failure over a park leaves it parked", decision: failed, edit: parked(hook.StateParked), want: written{Course: settlement.WriteFirst, State: hook.StateParked, Task: "own", Attempt: true}},
		{name: "a failure after the release", decision: failed, edit: parked(hook.StateRetrying), want: written{Course: settlement.Stand, State: hook.StateRetrying, Task: "other"}},
		{name: "a park over a park", decision: park, edit: parked(hook.StateParked), want: written{Course: settlement.Stand, State: hook.StateParked, Task: "other"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := subject(tt.edit)
			before := *s.Delivery
			plan := tt.decision.On(s, s.Delivery)
			got := written{
				Course: plan.Course, State: plan.Record.State, Reason: plan.Record.Reason, Task: plan.Record.DecidedBy,
				Next: plan.Record.NextAttemptAt, Attempt: plan.Attempt != nil, Made: plan.Made, Undone: plan.Undone,
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, *s.Delivery); diff != "" {
				t.Errorf("the record has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// newest returns an edit of the newest record.
func newest(state hook.State, attempts int, task string) func(s *settlement.Subject) {
	return func(s *settlement.Subject) {
		s.Delivery.State, s.Delivery.Attempts, s.Delivery.DecidedBy, s.Delivery.UpdatedAt = state, attempts, task, now
	}
}

// attempts returns an edit for the task of the attempt after n.
func attempts(n int) func(s *settlement.Subject) {
	return func(s *settlement.Subject) { s.Task.Attempt, s.Delivery.Attempts = n+1, n }
}

// parked returns an edit of a record that was parked after the task was made. In another state
// than parked it was released since.
func parked(state hook.State) func(s *settlement.Subject) {
	return func(s *settlement.Subject) {
		newest(state, 0, "other")(s)
		s.Delivery.Parks = 1
	}
}

func TestNextSending_goesToTheQueueOfTheEndpoint(t *testing.T) {
	t.Parallel()

	coalescing := &hook.Endpoint{Coalesce: hook.Coalescing{Window: time.Second, MaxEvents: 10, MaxBytes: 1 << 20}}
	for e, want := range map[*hook.Endpoint]hook.Queue{{}: hook.QueueRetry, coalescing: hook.QueueCoalesce, nil: hook.QueueRetry} {
		if got := settlement.NextSending(&hook.Delivery{State: hook.StateRetrying, NextAttemptAt: now}, e); got.Queue != want {
			t.Errorf("NextSending(%+v) goes to %v; want %v", e, got.Queue, want)
		}
	}
}

// A stale connection costs no attempt of the schedule, once per delivery: the record says so, so
// that every process knows.
func TestDecision_On_countsAStaleConnectionOnce(t *testing.T) {
	t.Parallel()

	stale := hook.Outcome{Class: hook.ClassReset, Stale: true}
	refused := hook.Outcome{Class: hook.ClassConnect}
	for _, tt := range []struct {
		name     string
		outcomes []hook.Outcome
		waits    []time.Duration // after each attempt; the schedule has one retry, after 10 s
		stale    int
	}{
		{name: "without", outcomes: []hook.Outcome{refused, refused}, waits: []time.Duration{10 * time.Second}, stale: 0},
		{name: "first", outcomes: []hook.Outcome{stale, refused, refused}, waits: []time.Duration{0, 10 * time.Second}, stale: 1},
		{name: "last", outcomes: []hook.Outcome{refused, stale, refused}, waits: []time.Duration{10 * time.Second, 0}, stale: 2},
		{name: "twice", outcomes: []hook.Outcome{stale, stale, refused}, waits: []time.Duration{0, 10 * time.Second}, stale: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := subject(nil)
			for i := range tt.outcomes {
				s.Task.Attempt = i + 1
				plan := settlement.Attempted(&tt.outcomes[i], now, now).On(s, s.Delivery)
				if plan.Course != settlement.WriteFirst || plan.Attempt.Number != i+1 {
					t.Fatalf("attempt %d is not recorded: %+v", i+1, plan)
				}
				s.Delivery = plan.Record
				if i < len(tt.waits) && (s.Delivery.State != hook.StateRetrying || s.Delivery.NextAttemptAt.Sub(now) != tt.waits[i]) {
					t.Errorf("after attempt %d: %s, next in %s; want retrying, %s", i+1, s.Delivery.State, s.Delivery.NextAttemptAt.Sub(now), tt.waits[i])
				}
			}
			if s.Delivery.State != hook.StateDead || s.Delivery.Reason != hook.ReasonExhausted || s.Delivery.Stale != tt.stale {
				t.Errorf("in the end: %s (%s), stale %d; want dead (exhausted), stale %d", s.Delivery.State, s.Delivery.Reason, s.Delivery.Stale, tt.stale)
			}
		})
	}
}

// A success at the first attempt has no other record: its delivery keeps the recorded headers, until an erasure.
func TestDecision_On_keepsRecordedHeaders(t *testing.T) {
	t.Parallel()

	s := subject(nil)
	s.Task.Attempt = 1
	o := hook.Outcome{Class: hook.ClassDelivered, Status: 200, Headers: map[string]string{"Server": "nginx"}, Sent: map[string]string{"Webhook-Id": "evt_1"}}
	plan := settlement.Attempted(&o, now, now).On(s, s.Delivery)
	if last := plan.Record.Last; plan.Attempt != nil || last.Headers["Server"] != "nginx" || last.Sent["Webhook-Id"] != "evt_1" {
		t.Errorf("the record has %+v, and an attempt %v; want the headers in the record alone", plan.Record.Last, plan.Attempt)
	}
	if last := plan.Record.Erase(now).Last; last.Headers != nil || last.Sent != nil || last.Status != 200 {
		t.Errorf("after the erasure the record has %+v; want no headers", last)
	}
}
