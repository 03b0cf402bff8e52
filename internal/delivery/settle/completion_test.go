package settle_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/stats"
)

var (
	start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	first = hook.DeliveryRef{
		DeliveryID: hook.DeliveryID{Event: "evt_01jd3m5k8zf4v9q2w7x6y5t4r3", Endpoint: "ep_0123456789abcdef", Generation: 1}, AcceptedAt: start.UnixMilli(),
	}
)

const (
	oldJob hook.JobID = "rpl_01jd3m5k8zf4v9q2w7x6y5t4r3" // made generation 2
	newJob hook.JobID = "rpl_01jd3m5k8zf4v9q2w7x6y5t4r4" // made the newest
)

// store is a Store with faults set by a test.
type store struct {
	*memory.Store
	before func(verb string, id hook.DeliveryRef) error // nil: nothing happens
}

func (s store) disturb(verb string, id hook.DeliveryRef) error {
	if s.before == nil {
		return nil
	}
	return s.before(verb, id)
}

func (s store) Delivery(ctx context.Context, id hook.DeliveryRef) (hook.Delivery, error) {
	if err := s.disturb("read", id); err != nil {
		return hook.Delivery{}, err
	}
	return s.Store.Delivery(ctx, id)
}

func (s store) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	if err := s.disturb("save", d.Ref()); err != nil {
		return err
	}
	return s.Store.SaveDelivery(ctx, d, a)
}

func (s store) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	if err := s.disturb("count", d.Ref()); err != nil {
		return err
	}
	return s.Store.RecordOutcome(ctx, d)
}

// completion completes ends in the store, tells nobody, and does not wait.
func (s store) completion() settle.Completion {
	return settle.Completion{
		Store: s, DeadLetters: letters{}, Notifier: &topic{}, Log: slog.New(slog.DiscardHandler),
		Wait: func(context.Context, time.Duration) error { return nil },
	}
}

// letters takes dead letters, and keeps none.
type letters struct{}

func (letters) Send(context.Context, hook.DeadLetter) error { return nil }

// record stores generations of a delivery by state: "dead", "replaced" or another
// state; "-" has no record. Each generation replays the generation before. record
// returns the newest generation.
func (s store) record(t *testing.T, generations ...string) hook.Delivery {
	t.Helper()

	var d hook.Delivery
	for i, what := range generations {
		d = hook.Delivery{ID: first.DeliveryID, AcceptedAt: first.AcceptedAt, Tenant: "acme", CreatedAt: start, UpdatedAt: start}
		d.ID.Generation = i + 1
		switch {
		case i == len(generations)-1:
			d.Job = newJob
		case i > 0:
			d.Job, d.JobIndex = oldJob, i
		}
		if i < len(generations)-1 {
			d.Replayed = hook.Replayed{Generation: i + 2, At: start}
		}
		if what == "-" {
			continue
		}
		if what == "replaced" {
			d.State, d.Reason = hook.StateCancelled, hook.ReasonReplayed
		} else {
			state, err := hook.ParseState(what)
			if err != nil {
				t.Fatal(err)
			}
			d.State = state
		}
		if err := s.Store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
		d.Version++
	}
	return d
}

// states returns the stored generations in the form taken by record.
func (s store) states(t *testing.T, n int) []string {
	t.Helper()

	var list []string
	for i := range n {
		id := first
		id.Generation = i + 1
		d, err := s.Store.Delivery(t.Context(), id)
		switch {
		case err != nil:
			list = append(list, "-")
		case d.CancelledByReplay():
			list = append(list, "replaced")
		case d.Reason != hook.ReasonNone:
			list = append(list, d.State.String()+" "+string(d.Reason))
		default:
			list = append(list, d.State.String())
		}
	}
	return list
}

func (s store) outcomes(t *testing.T, id hook.JobID) replay.Outcomes {
	t.Helper()

	outcomes, err := s.JobOutcomes(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

func TestCompletion_Complete(t *testing.T) {
	t.Parallel()

	delivered, dead, cancelled := replay.Outcomes{Delivered: 1}, replay.Outcomes{Dead: 1}, replay.Outcomes{Cancelled: 1}
	tests := []struct {
		name        string
		generations string // the newest is settled
		want        string
		counted     replay.Outcomes // for the job of the newest generation
		before      replay.Outcomes // for the job of the generations between
	}{
		{name: "no replay", generations: "dead", want: "dead", counted: dead, before: replay.Outcomes{}},
		{name: "the replay of a dead delivery was delivered", generations: "dead > delivered", want: "discarded replayed > delivered", counted: delivered, before: replay.Outcomes{}},
		{name: "the replay is dead in its place", generations: "dead > dead", want: "discarded replayed > dead", counted: dead, before: replay.Outcomes{}},
		{name: "the replay was cancelled", generations: "dead > cancelled", want: "discarded replayed > cancelled", counted: cancelled, before: replay.Outcomes{}},
		{name: "a delivered predecessor stays delivered", generations: "delivered > delivered", want: "delivered > delivered", counted: delivered, before: replay.Outcomes{}},
		{name: "a predecessor discarded by hand stays discarded", generations: "discarded > delivered", want: "discarded > delivered", counted: delivered, before: replay.Outcomes{}},
		{name: "the predecessor has no record", generations: "- > delivered", want: "- > delivered", counted: delivered, before: replay.Outcomes{}},
		{name: "only the direct predecessor is retired", generations: "dead > dead > delivered", want: "dead > discarded replayed > delivered", counted: delivered, before: replay.Outcomes{}},
		{name: "a replaced delivery retires nothing yet", generations: "dead > replaced", want: "dead > replaced", counted: cancelled, before: replay.Outcomes{}},
		{
			name: "the successor of a replaced delivery retires the dead predecessor", generations: "dead > replaced > delivered",
			want: "discarded replayed > replaced > delivered", counted: delivered, before: cancelled,
		},
		{
			name: "the successor of two replaced deliveries", generations: "dead > replaced > replaced > dead",
			want: "discarded replayed > replaced > replaced > dead", counted: dead,
			before: replay.Outcomes{Cancelled: 2},
		},
		{name: "the successor of a replaced first generation", generations: "replaced > delivered", want: "replaced > delivered", counted: delivered, before: replay.Outcomes{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := store{Store: memory.NewStore()}
			generations := strings.Split(tt.generations, " > ")
			d := s.record(t, generations...)
			for range 2 { // the second call changes nothing
				if err := s.completion().Complete(t.Context(), d); err != nil {
					t.Fatalf("Complete(%s) = %v; want nil", d.ID, err)
				}
				if diff := cmp.Diff(strings.Split(tt.want, " > "), s.states(t, len(generations))); diff != "" {
					t.Errorf("generations differ (-want +got):\n%s", diff)
				}
				if got, before := s.outcomes(t, newJob), s.outcomes(t, oldJob); got != tt.counted || before != tt.before {
					t.Errorf("counted %+v and %+v; want %+v and %+v", got, before, tt.counted, tt.before)
				}
			}
		})
	}
}

func TestCompletion_CompleteLeavesUnreplayedDeadDelivery(t *testing.T) {
	t.Parallel()

	s := store{Store: memory.NewStore()}
	s.record(t, "dead")
	d := hook.Delivery{ID: first.DeliveryID, AcceptedAt: first.AcceptedAt, State: hook.StateDelivered}
	d.ID.Generation = 2
	if err := s.completion().Complete(t.Context(), d); err != nil {
		t.Errorf("Complete(%s) = %v; want nil", d.ID, err)
	}
	if got := s.states(t, 1); got[0] != "dead" {
		t.Errorf("the generation before is %s; want dead", got[0])
	}
}

// With a fault of any request, Complete returns the error, and the next call completes.
func TestCompletion_CompleteRepeatsAfterAnyFault(t *testing.T) {
	t.Parallel()

	for at := 1; at <= 5; at++ { // count, read the predecessor, count the predecessor, read the dead generation, save the dead generation
		t.Run(fmt.Sprintf("request %d", at), func(t *testing.T) {
			t.Parallel()

			s := store{Store: memory.NewStore()}
			d := s.record(t, "dead", "replaced", "delivered")
			n := 0
			s.before = func(string, hook.DeliveryRef) error {
				if n++; n == at {
					return &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"}
				}
				return nil
			}
			a := s.completion()
			if err := a.Complete(t.Context(), d); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
				t.Errorf("Complete() without an answer to request %d = %v; want unavailable", at, err)
			}
			if err := a.Complete(t.Context(), d); err != nil {
				t.Errorf("Complete() again = %v; want nil", err)
			}
			if diff := cmp.Diff([]string{"discarded replayed", "replaced", "delivered"}, s.states(t, 3)); diff != "" {
				t.Errorf("generations differ (-want +got):\n%s", diff)
			}
			if got, before := s.outcomes(t, newJob), s.outcomes(t, oldJob); got.Delivered != 1 || before.Cancelled != 1 {
				t.Errorf("counted %+v and %+v; want one delivered and one cancelled", got, before)
			}
		})
	}
}

func TestCompletion_CompleteAfterConcurrentWrites(t *testing.T) {
	t.Parallel()

	const tries = 20 // store.Tries

	tests := []struct {
		name  string
		races int
		state hook.State // written by the other writers
		want  string
		ok    bool
	}{
		{name: "once", races: 1, state: hook.StateDead, want: "discarded replayed", ok: true},
		{name: "twice", races: 2, state: hook.StateDead, want: "discarded replayed", ok: true},
		{name: "always", races: 1000, state: hook.StateDead, want: "dead", ok: false},
		{name: "another writer retired the delivery", races: 1, state: hook.StateDiscarded, want: "discarded", ok: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := store{Store: memory.NewStore()}
			d := s.record(t, "dead", "delivered")
			raced := 0
			s.before = func(verb string, id hook.DeliveryRef) error {
				if verb != "save" || raced == tt.races {
					return nil
				}
				raced++
				theirs, err := s.Store.Delivery(t.Context(), id)
				if err != nil {
					return err
				}
				theirs.State = tt.state
				return s.Store.SaveDelivery(t.Context(), theirs, nil)
			}
			err := s.completion().Complete(t.Context(), d)
			if (err == nil) != tt.ok || err != nil && hook.CodeOf(err) != hook.CodeUnavailable {
				t.Errorf("Complete() = %v; want ok: %t, else to be called again", err, tt.ok)
			}
			if got := s.states(t, 1); got[0] != tt.want || raced > tries {
				t.Errorf("the generation before is %s after %d tries; want %s after at most %d", got[0], raced, tt.want, tries)
			}
		})
	}
}

// The deaths of an hour, as they count for the review and the statistics of the endpoint.
func TestCompletion_CompleteTakesTheDeathBack(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		generations string
		age         time.Duration // from the death to the end of the replay
		want        int
	}{
		{name: "the replay is delivered", generations: "dead > delivered", age: time.Hour, want: 0},
		{name: "the replay is dead, and counts itself", generations: "dead > dead", age: time.Hour, want: 0},
		{name: "the replay of a delivered delivery", generations: "delivered > delivered", age: time.Hour, want: 1},
		{name: "discarded by hand", generations: "discarded > delivered", age: time.Hour, want: 1},
		{name: "a death in the statistics of 7 days", generations: "dead > delivered", age: stats.Kept - 1, want: 0},
		{name: "a death whose hour may be gone", generations: "dead > delivered", age: stats.Kept, want: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := store{Store: memory.NewStore()}
			d := s.record(t, strings.Split(tt.generations, " > ")...)
			d.UpdatedAt = start.Add(tt.age)
			if _, err := s.Count(t.Context(), "acme", first.Endpoint, &stats.Counts{Dead: 1}, start); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second call changes nothing
				if err := s.completion().Complete(t.Context(), d); err != nil {
					t.Fatalf("Complete() = %v; want nil", err)
				}
			}
			hours, err := s.Hours(t.Context(), first.Endpoint, start.Truncate(time.Hour))
			if err != nil || len(hours) != 1 || hours[0].Dead != tt.want {
				t.Errorf("Hours() = %+v, %v; want %d dead in the hour of the death", hours, err, tt.want)
			}
		})
	}
}
