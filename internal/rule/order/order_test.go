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
	one, from := idle.Give(3, ref("a", 1), now)
	if from != 1 || one.Head != 1 || one.Last != 3 || one.Member != ref("a", 1) || !one.TurnAt.Equal(now) {
		t.Errorf("Give() of an idle sequence = %+v from %d; want the turn for the first of 1 to 3", one, from)
	}
	two, from := one.Give(1, ref("b", 1), now.Add(time.Hour))
	want := one
	want.Last = 4
	if diff := cmp.Diff(want, two); diff != "" || from != 4 {
		t.Errorf("Give() behind a head, from %d; want 4 (-want +got):\n%s", from, diff)
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
		{name: "passed, and at the head without a note of that", s: s, d: delivery("e", 2, 0), want: order.Now},
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
	if got := s.Begin(d); !got.CreatedAt.Equal(now) || got.Place != 0 {
		t.Errorf("Begin() of a delivery that waited = %+v; want the age from the turn, and no place", got)
	}
	d.CreatedAt, d.Number = now.Add(time.Hour), 2
	if got := s.Begin(d); !got.CreatedAt.Equal(d.CreatedAt) || got.Place != 5 {
		t.Errorf("Begin() of a replay = %+v; want the age from the replay, and the place 5", got)
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
		{name: "dead, block", d: hook.Delivery{State: hook.StateDead, UpdatedAt: now, ExpiresAt: now.Add(time.Hour + time.Second)}, block: true},
		{name: "dead at the end of its retention", d: hook.Delivery{State: hook.StateDead, UpdatedAt: now, ExpiresAt: now.Add(time.Hour)}, block: true, want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := order.Over(tt.d, tt.block); got != tt.want {
				t.Errorf("Over() = %t; want %t", got, tt.want)
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
	place := func(number int64, age time.Duration) *order.Place {
		return &order.Place{Number: number, Delivery: ref("w", 1), GivenAt: now.Add(-age)}
	}
	tests := []struct {
		name            string
		head            *hook.Delivery
		waiting         *order.Place
		next, delivered int64
		known           bool
	}{
		{name: "the next one waits", head: ended(hook.StateDelivered, 5), waiting: place(6, 0), next: 6, known: true, delivered: 5},
		{name: "dead", head: ended(hook.StateDead, 5), waiting: place(6, 0), next: 6, known: true, delivered: 3},
		{name: "a replay with a place", head: ended(hook.StateDelivered, 2), waiting: place(6, 0), next: 6, known: true, delivered: 3},
		{name: "void", waiting: place(6, 0), next: 6, known: true, delivered: 3},
		{name: "nobody waits yet", head: ended(hook.StateDelivered, 5), next: 6, delivered: 5},
		{name: "a number before the next one", head: ended(hook.StateDelivered, 5), waiting: place(8, order.VoidAfter), next: 6, delivered: 5},
		{name: "void numbers before the next one", head: ended(hook.StateDelivered, 5), waiting: place(8, order.VoidAfter+1), next: 8, known: true, delivered: 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			want := order.Sequence{Last: 9, Head: tt.next, Delivered: tt.delivered, TurnAt: now, MovedBy: 4, Version: 1}
			if tt.known {
				want.Member = ref("w", 1)
			}
			if diff := cmp.Diff(want, s.Advance(tt.head, 4, tt.waiting, now)); diff != "" {
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

// FuzzSequence checks after any numbers, ends and void numbers: no number is given out twice, the head
// never goes back, and nobody is passed who waits.
func FuzzSequence(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 1, 1, 2, 0, 3, 1, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		s := order.New(order.ID{Endpoint: "ep_1", Key: "k"}, "acme")
		waiting := make(map[int64]bool)
		at := now
		for _, step := range steps {
			at = at.Add(time.Minute)
			before := s
			switch step % 4 {
			case 0, 2: // 2: the process dies, and the numbers are void
				n := int(step)%3 + 1
				next, from := s.Give(n, ref("first", 1), at)
				if s = next; from != before.Last+1 || s.Last != before.Last+int64(n) {
					t.Fatalf("Give(%d) of %+v = %d, %+v", n, before, from, s)
				}
				for i := from; step%4 == 0 && i <= s.Last; i++ {
					waiting[i] = true
				}
			default:
				if s.Idle() {
					continue
				}
				delete(waiting, s.Head)
				var first *order.Place
				for n := s.Head + 1; n <= s.Last && first == nil; n++ {
					if waiting[n] {
						first = &order.Place{Number: n, Delivery: ref("w", 1), GivenAt: at.Add(-order.VoidAfter * time.Duration(step%2) * 2)}
					}
				}
				s = s.Advance(nil, 1, first, at)
			}
			if s.Head < before.Head || s.Head > s.Last+1 || s.Last < before.Last {
				t.Fatalf("%+v became %+v", before, s)
			}
			for n := range waiting {
				if n < s.Head {
					t.Fatalf("%+v passed %d, which waits", s, n)
				}
			}
		}
	})
}
