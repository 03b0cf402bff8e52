package order_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func ref(event hook.EventID, generation int) hook.DeliveryRef {
	return hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: event, Endpoint: "ep_1", Generation: generation}, AcceptedAt: 1}
}

func delivery(event hook.EventID, number, place int64) hook.Delivery {
	return hook.Delivery{OrderingKey: "k", Number: number, Place: place}.At(ref(event, 1))
}

func TestGive(t *testing.T) {
	t.Parallel()

	idle := order.New(order.ID{Endpoint: "ep_1", Key: "k"}, "acme")
	kept := func(event hook.EventID, retention time.Duration) hook.Delivery {
		d := delivery(event, 0, 0)
		d.ExpiresAt = time.UnixMilli(d.AcceptedAt).Add(retention)
		return d
	}
	one, from := idle.Give([]hook.Delivery{kept("a", 5), kept("b", 7), kept("c", 6)}, now)
	if from != 1 || one.Head != 1 || one.Last != 3 || one.Member != ref("a", 1) || !one.TurnAt.Equal(now) || one.Retention != 7 {
		t.Errorf("Give() of an idle sequence = %+v from %d; want the turn for the first of 1 to 3", one, from)
	}
	two, from := one.Give([]hook.Delivery{kept("d", 8)}, now.Add(time.Hour))
	want := one
	want.Last, want.Retention = 4, 8
	if diff := cmp.Diff(want, two); diff != "" || from != 4 {
		t.Errorf("Give() behind a head, from %d; want 4 (-want +got):\n%s", from, diff)
	}
	if two.Guards(kept("e", 7)) || !two.Guards(kept("e", 8)) {
		t.Error("Guards() is not of those that are kept for 8 ns and more")
	}
	two.Head = 5
	if three, _ := two.Give([]hook.Delivery{kept("f", 2)}, now); three.Retention != 2 {
		t.Errorf("Give() of an idle sequence keeps the retention %s; want 2 ns", three.Retention)
	}
}

func TestTurnOf(t *testing.T) {
	t.Parallel()

	s := order.Sequence{Last: 7, Head: 5, Member: ref("e", 1), Version: 1}
	tests := []struct {
		name string
		s    order.Sequence
		d    hook.Delivery
		want order.Turn
	}{
		{name: "without a number", s: s, d: delivery("a", 0, 0), want: 0},
		{name: "without a record", s: order.Sequence{Head: 1}, d: delivery("a", 3, 0), want: 0},
		{name: "the head", s: s, d: delivery("e", 5, 0), want: order.Now},
		{name: "the head, replayed", s: s, d: delivery("e", 5, 0).At(ref("e", 2)), want: order.Now},
		{name: "a head that nobody knew", s: order.Sequence{Last: 7, Head: 5, Version: 1}, d: delivery("x", 5, 0), want: order.Now},
		{name: "behind the head", s: s, d: delivery("f", 6, 0), want: order.Later},
		{name: "passed", s: s, d: delivery("d", 4, 0), want: order.Passed},
		{name: "passed, with a place behind the head", s: s, d: delivery("d", 2, 6), want: order.Later},
		{name: "passed, with the place of the head", s: s, d: delivery("d", 2, 5), want: order.Now},
		{name: "passed, and its place with it", s: s, d: delivery("d", 2, 4), want: order.Passed},
		{name: "passed, in an idle sequence that it was the last of", s: order.Sequence{Last: 5, Head: 6, Member: ref("e", 1), Version: 1}, d: delivery("e", 5, 0), want: order.Passed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.s.TurnOf(tt.d); got != tt.want {
				t.Errorf("TurnOf() = %d; want %d", got, tt.want)
			}
		})
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()

	s := order.Sequence{Last: 7, Head: 5, Member: ref("e", 1), TurnAt: now, Version: 1}
	d := delivery("e", 5, 0)
	d.CreatedAt = now.Add(-time.Hour)
	if got := s.Begin(d); !got.CreatedAt.Equal(now) {
		t.Errorf("Begin() of a delivery that waited = %+v; want the age from the turn", got)
	}
	d.CreatedAt = now.Add(time.Hour)
	if got := s.Begin(d); !got.CreatedAt.Equal(d.CreatedAt) {
		t.Errorf("Begin() of a replay = %+v; want the age from the replay", got)
	}
}

func TestOver(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		d           hook.Delivery
		block, want bool
	}{
		{name: "queued", d: hook.Delivery{State: hook.StateQueued}},
		{name: "retrying", d: hook.Delivery{State: hook.StateRetrying}},
		{name: "parked", d: hook.Delivery{State: hook.StateParked}},
		{name: "delivered", d: hook.Delivery{State: hook.StateDelivered}, block: true, want: true},
		{name: "discarded", d: hook.Delivery{State: hook.StateDiscarded}, block: true, want: true},
		{name: "cancelled", d: hook.Delivery{State: hook.StateCancelled}, block: true, want: true},
		{name: "dead, skip", d: hook.Delivery{State: hook.StateDead}, want: true},
		{name: "dead, block", d: hook.Delivery{State: hook.StateDead, ExpiresAt: now.Add(time.Hour + 1)}, block: true},
		{name: "dead, block, without retention", d: hook.Delivery{State: hook.StateDead}, block: true},
		{name: "dead, block, and its retention ended", d: hook.Delivery{State: hook.StateDead, ExpiresAt: now.Add(time.Hour)}, block: true, want: true},
		{name: "about to end with its retention", d: hook.Delivery{State: hook.StateRetrying, ExpiresAt: now.Add(1)}},
		{name: "forgotten until its record expired", d: hook.Delivery{State: hook.StateRetrying, ExpiresAt: now}, want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := order.Over(tt.d, tt.block, now); got != tt.want {
				t.Errorf("Over() = %t; want %t", got, tt.want)
			}
		})
	}
}

func TestVoid(t *testing.T) {
	t.Parallel()

	place := func(age time.Duration) *order.Place { return &order.Place{Number: 6, GivenAt: now.Add(-age)} }
	tests := []struct {
		name  string
		since time.Duration // the turn began
		first *order.Place
		want  bool
	}{
		{name: "just given", first: place(0)},
		{name: "no place yet"},
		{name: "no place for long", since: order.VoidAfter + 1, want: true},
		{name: "at the bound", since: order.VoidAfter, first: place(order.VoidAfter)},
		{name: "a place for long", first: place(order.VoidAfter + 1), want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := order.Sequence{Last: 9, Head: 5, TurnAt: now.Add(-tt.since), Version: 1}
			if got := s.Void(tt.first, now); got != tt.want {
				t.Errorf("Void() = %t; want %t", got, tt.want)
			}
		})
	}
}

func TestAdvance(t *testing.T) {
	t.Parallel()

	s := order.Sequence{Last: 9, Head: 5, Member: ref("e", 1), Delivered: 3, Version: 1}
	ended := func(state hook.State, number int64) *hook.Delivery {
		d := delivery("e", number, 0)
		d.State = state
		return &d
	}
	tests := []struct {
		name      string
		head      *hook.Delivery
		delivered int64
	}{
		{name: "delivered", head: ended(hook.StateDelivered, 5), delivered: 5},
		{name: "dead", head: ended(hook.StateDead, 5), delivered: 3},
		{name: "a replay with a place", head: ended(hook.StateDelivered, 2), delivered: 3},
		{name: "void", delivered: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			want := order.Sequence{Last: 9, Head: 6, Delivered: tt.delivered, TurnAt: now, MovedBy: 4, Version: 1}
			if diff := cmp.Diff(want, s.Advance(tt.head, 4, now)); diff != "" {
				t.Errorf("Advance() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrdering(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name            string
		delivered, head int64
		number          int64
		first, last     int64 // of the skipped numbers; 0: none
	}{
		{name: "the first one", head: 1, number: 1},
		{name: "one after the other", delivered: 4, head: 5, number: 5},
		{name: "skipped", delivered: 4, head: 8, number: 8, first: 5, last: 7},
		{name: "the newest ones", delivered: 4, head: 205, number: 205, first: 105, last: 204},
		{name: "not its own number", delivered: 4, head: 8, number: 5, first: 6, last: 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := order.Sequence{Delivered: tt.delivered, Head: tt.head, Last: tt.head}
			want := &hook.Ordering{Key: "k", Number: tt.number}
			for n := tt.first; n > 0 && n <= tt.last; n++ {
				want.Skipped = append(want.Skipped, n)
			}
			if diff := cmp.Diff(want, s.Ordering(hook.Delivery{OrderingKey: "k", Number: tt.number})); diff != "" {
				t.Errorf("Ordering() (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzSequence checks after any numbers and ends: no number is given out twice, and the head goes on by one.
func FuzzSequence(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 1, 1, 2, 0, 3, 1, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		s := order.New(order.ID{Endpoint: "ep_1", Key: "k"}, "acme")
		for i, step := range steps {
			before, at := s, now.Add(time.Duration(i)*time.Minute)
			if n := int(step/2)%3 + 1; step%2 == 0 {
				next, from := s.Give(make([]hook.Delivery, n), at)
				if s = next; from != before.Last+1 || s.Last != before.Last+int64(n) || s.Head != before.Head {
					t.Fatalf("Give(%d) of %+v = %d, %+v", n, before, from, s)
				}
			} else if !s.Idle() {
				if s = s.Advance(nil, 1, at); s.Head != before.Head+1 || s.Last != before.Last {
					t.Fatalf("%+v became %+v", before, s)
				}
			}
		}
	})
}

func TestWatch(t *testing.T) {
	t.Parallel()

	s := order.Sequence{Last: 9, Head: 8, Version: 1}.Watch(now)
	if want := now.Add(15 * time.Minute); !s.LookAt.Equal(want) {
		t.Errorf("Watch() looks at %s; want %s", s.LookAt, want)
	}
	due := now.Add(15 * time.Minute)
	if early := s.Looked(now); early != s {
		t.Errorf("Looked() before the look changes %+v to %+v", s, early)
	}
	if s = s.Looked(due); !s.LookAt.Equal(due.Add(hook.SweepPause)) {
		t.Errorf("Looked() looks again at %s; want after %s", s.LookAt, hook.SweepPause)
	}
	if later := s.Watch(due.Add(time.Hour)); later != s {
		t.Errorf("Watch() of a later delivery changes %+v to %+v", s, later)
	}
	if s = s.Watch(due); !s.LookAt.Equal(due.Add(15 * time.Minute)) {
		t.Errorf("Watch() of an earlier delivery looks at %s; want %s", s.LookAt, due.Add(15*time.Minute))
	}
	if s = s.Advance(nil, 1, now); s.LookAt.IsZero() {
		t.Errorf("Advance() to the last one looks no more")
	}
	if s = s.Advance(nil, 1, now); !s.LookAt.IsZero() || s.Looked(now) != s {
		t.Errorf("an idle sequence is %+v, and after a look %+v; want no further look", s, s.Looked(now))
	}
}
