package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// Plan is a schedule that has not fired.
type Plan struct {
	At   time.Time
	Body string
}

// SchedulesBench is an implementation of schedules under test.
type SchedulesBench struct {
	Schedules settle.Schedules
	// Plans returns all schedules, in any order.
	Plans func(ctx context.Context) ([]Plan, error)
	// Receive receives and deletes visible messages of the retry lane. nil: the
	// implementation never fires schedules.
	Receive func(ctx context.Context) ([]Message, error)
	Clock   Clock
}

// Schedules tests an implementation of the port settle.Schedules. Each call of
// newBench returns an implementation without schedules, with an empty retry lane of
// its own.
func Schedules(t *testing.T, newBench func(t *testing.T) SchedulesBench) {
	t.Helper()

	t.Run("a fraction of a second is rounded up", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		token := newTokens(t, 1)[0]
		whole := b.Clock.Now().UTC().Truncate(time.Second).Add(24 * time.Hour)
		b.at(t, token, whole.Add(time.Millisecond).In(time.FixedZone("east", 7200)))
		b.planned(t, Plan{At: whole.Add(time.Second), Body: body(t, token)})
	})

	t.Run("a whole second is kept", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		token := newTokens(t, 1)[0]
		whole := b.Clock.Now().UTC().Truncate(time.Second).Add(7 * 24 * time.Hour)
		b.at(t, token, whole)
		b.planned(t, Plan{At: whole, Body: body(t, token)})
	})

	t.Run("a repeated call makes no second schedule", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		token := newTokens(t, 1)[0]
		at := b.Clock.Now().UTC().Truncate(time.Second).Add(time.Hour)
		b.at(t, token, at)
		b.at(t, token, at)
		b.at(t, token, at.Add(1-time.Second)) // rounded up to the same second
		b.planned(t, Plan{At: at, Body: body(t, token)})
	})

	t.Run("another time and another nonce have schedules of their own", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		token := newTokens(t, 1)[0]
		other := hook.NewToken(token.Tenant, token.Delivery, token.Attempt)
		at := b.Clock.Now().UTC().Truncate(time.Second).Add(time.Hour)
		b.at(t, token, at)
		b.at(t, token, at.Add(time.Second))
		b.at(t, other, at.Add(2*time.Second))
		b.planned(t, Plan{At: at, Body: body(t, token)},
			Plan{At: at.Add(time.Second), Body: body(t, token)},
			Plan{At: at.Add(2 * time.Second), Body: body(t, other)})
	})

	t.Run("a fired schedule does not hide the next schedule of the token", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		if b.Receive == nil {
			t.Skip("this implementation never fires a schedule")
		}
		token := newTokens(t, 1)[0]
		b.at(t, token, b.Clock.Now().Add(2*time.Second))
		await(t, b.Clock, 1, b.Receive)
		// The fired schedule may exist for some minutes.
		b.at(t, token, b.Clock.Now().Add(2*time.Second))
		if got := await(t, b.Clock, 1, b.Receive); len(got) != 1 || got[0].Body != body(t, token) {
			t.Errorf("Receive(retry) = %v; want the token of the second schedule", got)
		}
	})

	t.Run("the next attempt and the next generation have schedules of their own", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		first := newTokens(t, 1)[0]
		attempt, generation := first, first
		attempt.Attempt++
		generation.Delivery.Generation++
		at := b.Clock.Now().UTC().Truncate(time.Second).Add(time.Hour)
		var want []Plan
		for i, token := range []hook.Token{first, attempt, generation} {
			when := at.Add(time.Duration(i) * time.Minute)
			b.at(t, token, when)
			want = append(want, Plan{At: when, Body: body(t, token)})
		}
		b.planned(t, want...)
	})

	t.Run("a schedule puts its token on the retry lane once and is deleted", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		if b.Receive == nil {
			t.Skip("this implementation never fires a schedule")
		}
		tokens := newTokens(t, 2)
		at := b.Clock.Now().Add(2 * time.Second)
		b.at(t, tokens[0], at)
		b.at(t, tokens[1], at.Add(time.Hour))

		got := await(t, b.Clock, 1, b.Receive)
		if b.Clock.Now().Before(at) {
			t.Errorf("token received at %s; want not before %s", b.Clock.Now(), at)
		}
		if len(got) != 1 || got[0].Body != body(t, tokens[0]) {
			t.Errorf("Receive(retry) = %v; want %q", got, body(t, tokens[0]))
		}
		left := Plan{At: at.Add(time.Hour + time.Second - 1).UTC().Truncate(time.Second), Body: body(t, tokens[1])}
		await(t, b.Clock, 1, func(ctx context.Context) ([]bool, error) {
			plans, err := b.Plans(ctx)
			if len(plans) != 1 || plans[0] != left {
				return nil, err
			}
			return []bool{true}, err
		})
	})
}

func (b SchedulesBench) at(t *testing.T, token hook.Token, at time.Time) {
	t.Helper()

	if err := b.Schedules.At(t.Context(), token, at); err != nil {
		t.Fatalf("At(attempt %d of %s, %s) = %v; want nil", token.Attempt, token.Delivery, at, err)
	}
}

func (b SchedulesBench) planned(t *testing.T, want ...Plan) {
	t.Helper()

	got, err := b.Plans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b Plan) int { return a.At.Compare(b.At) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Plans() (-want +got):\n%s", diff)
	}
}
