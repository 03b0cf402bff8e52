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
	// Receive receives and deletes visible messages of the retry queue. nil: the
	// implementation never fires schedules.
	Receive func(ctx context.Context) ([]Message, error)
	Clock   Clock
}

// Schedules tests an implementation of the port settle.Schedules. Each call of
// newBench returns an implementation without schedules, with an empty retry queue of
// its own.
func Schedules(t *testing.T, newBench func(t *testing.T) SchedulesBench) {
	t.Helper()

	t.Run("a fraction of a second is rounded up", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		task := newTasks(t, 1)[0]
		whole := b.Clock.Now().UTC().Truncate(time.Second).Add(24 * time.Hour)
		b.at(t, task, whole.Add(time.Millisecond).In(time.FixedZone("east", 7200)))
		b.planned(t, Plan{At: whole.Add(time.Second), Body: body(t, task)})
	})

	t.Run("a whole second is kept", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		task := newTasks(t, 1)[0]
		whole := b.Clock.Now().UTC().Truncate(time.Second).Add(7 * 24 * time.Hour)
		b.at(t, task, whole)
		b.planned(t, Plan{At: whole, Body: body(t, task)})
	})

	t.Run("a repeated call makes no second schedule", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		task := newTasks(t, 1)[0]
		at := b.Clock.Now().UTC().Truncate(time.Second).Add(time.Hour)
		b.at(t, task, at)
		b.at(t, task, at)
		b.at(t, task, at.Add(1-time.Second)) // rounded up to the same second
		b.planned(t, Plan{At: at, Body: body(t, task)})
	})

	t.Run("another time and another nonce have schedules of their own", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		task := newTasks(t, 1)[0]
		other := hook.NewTask(task.Tenant, task.Delivery, task.Attempt)
		at := b.Clock.Now().UTC().Truncate(time.Second).Add(time.Hour)
		b.at(t, task, at)
		b.at(t, task, at.Add(time.Second))
		b.at(t, other, at.Add(2*time.Second))
		b.planned(t, Plan{At: at, Body: body(t, task)},
			Plan{At: at.Add(time.Second), Body: body(t, task)},
			Plan{At: at.Add(2 * time.Second), Body: body(t, other)})
	})

	t.Run("a fired schedule does not hide the next schedule of the task", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		if b.Receive == nil {
			t.Skip("this implementation never fires a schedule")
		}
		task := newTasks(t, 1)[0]
		b.at(t, task, b.Clock.Now().Add(2*time.Second))
		await(t, b.Clock, 1, b.Receive)
		// The fired schedule may exist for some minutes.
		b.at(t, task, b.Clock.Now().Add(2*time.Second))
		if got := await(t, b.Clock, 1, b.Receive); len(got) != 1 || got[0].Body != body(t, task) {
			t.Errorf("Receive(retry) = %v; want the task of the second schedule", got)
		}
	})

	t.Run("the next attempt and the next generation have schedules of their own", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		first := newTasks(t, 1)[0]
		attempt, generation := first, first
		attempt.Attempt++
		generation.Delivery.Generation++
		at := b.Clock.Now().UTC().Truncate(time.Second).Add(time.Hour)
		var want []Plan
		for i, task := range []hook.Task{first, attempt, generation} {
			when := at.Add(time.Duration(i) * time.Minute)
			b.at(t, task, when)
			want = append(want, Plan{At: when, Body: body(t, task)})
		}
		b.planned(t, want...)
	})

	t.Run("a schedule puts its task on the retry queue once and is deleted", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		if b.Receive == nil {
			t.Skip("this implementation never fires a schedule")
		}
		tasks := newTasks(t, 2)
		at := b.Clock.Now().Add(2 * time.Second)
		b.at(t, tasks[0], at)
		b.at(t, tasks[1], at.Add(time.Hour))

		got := await(t, b.Clock, 1, b.Receive)
		if b.Clock.Now().Before(at) {
			t.Errorf("task received at %s; want not before %s", b.Clock.Now(), at)
		}
		if len(got) != 1 || got[0].Body != body(t, tasks[0]) {
			t.Errorf("Receive(retry) = %v; want %q", got, body(t, tasks[0]))
		}
		left := Plan{At: at.Add(time.Hour + time.Second - 1).UTC().Truncate(time.Second), Body: body(t, tasks[1])}
		await(t, b.Clock, 1, func(ctx context.Context) ([]bool, error) {
			plans, err := b.Plans(ctx)
			if len(plans) != 1 || plans[0] != left {
				return nil, err
			}
			return []bool{true}, err
		})
	})
}

func (b SchedulesBench) at(t *testing.T, task hook.Task, at time.Time) {
	t.Helper()

	if err := b.Schedules.At(t.Context(), task, at); err != nil {
		t.Fatalf("At(attempt %d of %s, %s) = %v; want nil", task.Attempt, task.Delivery, at, err)
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
