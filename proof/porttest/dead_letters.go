package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

// letterVisibility is the time for which Receive hides dead letters.
const letterVisibility = time.Minute

// DeadLettersBench is a queue of dead letters under test, with its clock.
type DeadLettersBench struct {
	DeadLetters breaker.DeadLetters
	// Take receives and deletes visible messages. Take may leave some messages for
	// the next call.
	Take func(ctx context.Context) ([]Message, error)
	// Reveal makes hidden letters visible before the end of the minute. With nil,
	// Clock is fake and the suite passes the minute.
	Reveal func(ctx context.Context, letters []breaker.Letter)
	Clock  Clock
}

// DeadLetters tests an implementation of the port breaker.DeadLetters. Each call
// of newBench returns an empty queue of its own.
func DeadLetters(t *testing.T, newBench func(t *testing.T) DeadLettersBench) {
	t.Helper()

	t.Run("a dead letter arrives with its endpoint as group", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		id := newTasks(t, 1)[0].Delivery
		letter := hook.DeadLetter{
			Delivery: id, Tenant: "acme", Event: id.Event, Endpoint: id.Endpoint, EventType: "order.paid",
			Reason: hook.ReasonExhausted, Attempts: 7, LastStatus: 503, LastClass: "unavailable", LastError: `503 "busy" <é>`,
			DiedAt: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC),
		}
		if err := b.DeadLetters.Send(t.Context(), letter); err != nil {
			t.Fatalf("Send(%s) = %v; want nil", id, err)
		}
		text, err := letter.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got := await(t, b.Clock, 1, b.Take)
		if diff := cmp.Diff([]Message{{Body: text, Group: string(id.Endpoint)}}, got); diff != "" {
			t.Errorf("Take() (-want +got):\n%s", diff)
		}
	})

	t.Run("letters are received once and then hidden", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		if none, err := b.DeadLetters.Receive(t.Context()); err != nil || len(none) > 0 {
			t.Errorf("Receive() of an empty queue = %v, %v; want nothing", none, err)
		}
		want := b.send(t, 23)
		got := await(t, b.Clock, len(want), func(ctx context.Context) ([]breaker.Letter, error) {
			some, err := b.DeadLetters.Receive(ctx)
			if len(some) > 10 {
				t.Errorf("Receive() = %d letters; want at most 10", len(some))
			}
			return some, err
		})
		if diff := cmp.Diff(want, bodies(got)); diff != "" {
			t.Errorf("Receive() until all were seen (-want +got):\n%s", diff)
		}
		if distinct := slices.Compact(ids(got)); len(distinct) != len(want) {
			t.Errorf("%d letters have the ids %v; want %d", len(want), distinct, len(want))
		}
		if again, err := b.DeadLetters.Receive(t.Context()); err != nil || len(again) > 0 {
			t.Errorf("Receive() while all are hidden = %v, %v; want nothing", again, err)
		}
	})

	t.Run("removed letters are gone, and the other letters become visible again", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		b.send(t, 7)
		got := await(t, b.Clock, 7, b.DeadLetters.Receive)
		if err := b.DeadLetters.Remove(t.Context(), got[:5]); err != nil {
			t.Fatalf("Remove(5 letters) = %v; want nil", err)
		}
		b.reveal(t, got)
		back := await(t, b.Clock, 2, b.DeadLetters.Receive)
		if diff := cmp.Diff(ids(got[5:]), ids(back)); diff != "" {
			t.Errorf("ids of letters received again (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(bodies(got[5:]), bodies(back)); diff != "" {
			t.Errorf("Receive() a minute after 5 of 7 were removed (-want +got):\n%s", diff)
		}
		if err := b.DeadLetters.Remove(t.Context(), back); err != nil {
			t.Errorf("Remove(2 letters received twice) = %v; want nil", err)
		}
	})

	t.Run("removing no letters succeeds", func(t *testing.T) {
		t.Parallel()

		if err := newBench(t).DeadLetters.Remove(t.Context(), nil); err != nil {
			t.Errorf("Remove(no letters) = %v; want nil", err)
		}
	})
}

// reveal makes the letters visible again.
func (b DeadLettersBench) reveal(t *testing.T, letters []breaker.Letter) {
	t.Helper()

	if b.Reveal == nil {
		b.Clock.Pass(t.Context(), letterVisibility-time.Second)
		if early, err := b.DeadLetters.Receive(t.Context()); err != nil || len(early) > 0 {
			t.Errorf("Receive() within a minute of the last = %v, %v; want nothing", early, err)
		}
		b.Clock.Pass(t.Context(), time.Second)
		return
	}
	b.Reveal(t.Context(), letters)
}

// send sends n letters and returns their bodies, sorted.
func (b DeadLettersBench) send(t *testing.T, n int) []string {
	t.Helper()

	var all []string
	for _, task := range newTasks(t, n) {
		letter := hook.DeadLetter{
			Delivery: task.Delivery, Tenant: "acme", Event: task.Delivery.Event, Endpoint: task.Delivery.Endpoint,
			EventType: "order.paid", Reason: hook.ReasonExhausted, Attempts: 3, DiedAt: storeEpoch(),
		}
		if err := b.DeadLetters.Send(t.Context(), letter); err != nil {
			t.Fatalf("Send(%s) = %v; want nil", letter.Delivery, err)
		}
		text, err := letter.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// bodies returns the bodies of the letters, sorted.
func bodies(letters []breaker.Letter) []string {
	all := make([]string, 0, len(letters))
	for _, letter := range letters {
		all = append(all, letter.Body)
	}
	slices.Sort(all)
	return all
}

// ids returns the ids of the letters, sorted.
func ids(letters []breaker.Letter) []string {
	all := make([]string, 0, len(letters))
	for _, letter := range letters {
		all = append(all, letter.ID)
	}
	slices.Sort(all)
	return all
}
