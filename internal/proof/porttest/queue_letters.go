package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/breaker"
	"surehook/internal/hook"
)

// hidden is how long Exhume hides letters.
const hidden = time.Minute

// letters tests that dead letters can be looked through.
func letters(t *testing.T, newBench func(t *testing.T) QueueBench) {
	t.Helper()

	t.Run("letters are exhumed, each once, and hidden meanwhile", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		if none, err := b.Queue.Exhume(t.Context()); err != nil || len(none) > 0 {
			t.Errorf("Exhume() of an empty queue = %v, %v; want nothing", none, err)
		}
		want := b.bury(t, 23)
		got := await(t, b.Clock, len(want), func(ctx context.Context) ([]breaker.Letter, error) {
			some, err := b.Queue.Exhume(ctx)
			if len(some) > 10 {
				t.Errorf("Exhume() = %d letters; want at most 10", len(some))
			}
			return some, err
		})
		if diff := cmp.Diff(want, bodies(got)); diff != "" {
			t.Errorf("Exhume() until all were seen (-want +got):\n%s", diff)
		}
		if distinct := slices.Compact(ids(got)); len(distinct) != len(want) {
			t.Errorf("%d letters have the ids %v; want %d", len(want), distinct, len(want))
		}
		if again, err := b.Queue.Exhume(t.Context()); err != nil || len(again) > 0 {
			t.Errorf("Exhume() while all are hidden = %v, %v; want nothing", again, err)
		}
	})

	t.Run("letters that are removed stay away, the others come back", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		b.bury(t, 7)
		got := await(t, b.Clock, 7, b.Queue.Exhume)
		if err := b.Queue.Remove(t.Context(), got[:5]); err != nil {
			t.Fatalf("Remove(5 letters) = %v; want nil", err)
		}
		b.reveal(t, got)
		back := await(t, b.Clock, 2, b.Queue.Exhume)
		if diff := cmp.Diff(ids(got[5:]), ids(back)); diff != "" {
			t.Errorf("ids of letters that came back (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(bodies(got[5:]), bodies(back)); diff != "" {
			t.Errorf("Exhume() after 5 of 7 were removed and a minute is over (-want +got):\n%s", diff)
		}
		if err := b.Queue.Remove(t.Context(), back); err != nil {
			t.Errorf("Remove(2 letters that were seen twice) = %v; want nil", err)
		}
	})

	t.Run("no letters are removed without an error", func(t *testing.T) {
		t.Parallel()

		if err := newBench(t).Queue.Remove(t.Context(), nil); err != nil {
			t.Errorf("Remove(no letters) = %v; want nil", err)
		}
	})
}

// reveal lets the time go by for which the letters are hidden.
func (b QueueBench) reveal(t *testing.T, letters []breaker.Letter) {
	t.Helper()

	if b.Reveal == nil {
		b.Clock.Pass(t.Context(), hidden-time.Second)
		if early, err := b.Queue.Exhume(t.Context()); err != nil || len(early) > 0 {
			t.Errorf("Exhume() within a minute of the last = %v, %v; want nothing", early, err)
		}
		b.Clock.Pass(t.Context(), time.Second)
		return
	}
	b.Reveal(t.Context(), letters)
}

// bury buries n letters and returns their bodies, sorted.
func (b QueueBench) bury(t *testing.T, n int) []string {
	t.Helper()

	var all []string
	for _, token := range newTokens(t, n) {
		letter := hook.DeadLetter{
			Delivery: token.Delivery, Tenant: "acme", Event: token.Delivery.Event, Endpoint: token.Delivery.Endpoint,
			EventType: "order.paid", Reason: hook.ReasonExhausted, Attempts: 3, DiedAt: storeEpoch(),
		}
		if err := b.Queue.Bury(t.Context(), letter); err != nil {
			t.Fatalf("Bury(%s) = %v; want nil", letter.Delivery, err)
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
