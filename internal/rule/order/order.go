// Package order decides whose turn it is among the deliveries of one endpoint that have the same
// ordering key. They form a sequence:
//
//	1  2  3 | 4 | 5  6  7
//	 ended  |   | wait
//	       head      last
//
// Every delivery gets the next number and its place there just before its event is stored. Only the head
// is attempted. When it ends, the sequence moves on to the next delivery, whose task is then sent. The
// package knows no store and no queue: values in, values out.
//
//	the delivery         | is it attempted?      | when it ends
//	---------------------+-----------------------+---------------------------------------------
//	is the head          | yes                   | the sequence moves on, see Over
//	is behind the head   | no: its turn comes    | nothing; the sequence moves past it in its turn
//	is before the head   | no: it gets a new     | nothing
//	(a replay)           | place at the end      |
//
// A number without a delivery is void: its process died before the event was stored, or another post
// stored the event, with its own number. The sequence moves past it when the event can no longer come.
package order

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// VoidAfter is how long after a number was given its event can come. The functions that give out numbers
// run for less than a minute, and the rest is for their clocks.
const VoidAfter = 5 * time.Minute

// ID names a sequence.
type ID struct {
	Endpoint hook.EndpointID `stored:"endpoint"`
	Key      string          `stored:"ordering_key"`
}

// IDOf returns the sequence of a delivery with a number.
func IDOf(d hook.Delivery) ID { return ID{d.ID.Endpoint, d.OrderingKey} }

// Sequence is the record of the deliveries with one ordering key. It does not expire, so that no
// number is given out again.
type Sequence struct {
	ID

	Tenant    hook.TenantID    `stored:"tenant"`
	Last      int64            `stored:"last"`      // the highest number given out
	Head      int64            `stored:"head"`      // whose turn it is; Last+1: the sequence is idle
	Member    hook.DeliveryRef `stored:"member"`    // the delivery at the head, in any generation, if it found the sequence idle: it has no Place
	TurnAt    time.Time        `stored:"turn_at"`   // since when the head has the turn
	Delivered int64            `stored:"delivered"` // the highest number that was delivered in its turn
	MovedBy   int64            `stored:"moved_by"`  // the turn of the delivery whose end moved the head last
	Retention time.Duration    `stored:"retention"` // the longest of the deliveries since the sequence was idle
	LookAt    time.Time        `stored:"look_at"`   // when the sweep looks after the sequence; zero: not
	Version   int64            `stored:"version"`   // of the stored record; 0 for no record
}

// Place is the number of a delivery that waits for its turn. It is stored before the event is, so that
// no number of a stored event is passed.
type Place struct {
	Number    int64            `stored:"number"`
	Delivery  hook.DeliveryRef `stored:"delivery"`
	Tenant    hook.TenantID    `stored:"tenant"`
	GivenAt   time.Time        `stored:"given_at"`
	ExpiresAt time.Time        `stored:"expires_at,seconds"` // of the event
}

// New returns the sequence without a delivery.
func New(id ID, tenant hook.TenantID) Sequence { return Sequence{ID: id, Tenant: tenant, Head: 1} }

// lookAfter is how long after a delivery was made the sweep looks after the sequence in which it waits.
const lookAfter = 15 * time.Minute

// Guards reports whether the retention of a delivery that waits ends no earlier than those of all before it, so
// that its turn comes before: a look at the sequence is enough for it.
func (s Sequence) Guards(d hook.Delivery) bool { return retentionOf(d) >= s.Retention }

func retentionOf(d hook.Delivery) time.Duration {
	return d.ExpiresAt.Sub(time.UnixMilli(d.AcceptedAt))
}

// Watch lets the sweep look after the sequence, in which a delivery made at the time waits. Until the sequence is
// idle, there is one look for all that wait, the earliest.
func (s Sequence) Watch(made time.Time) Sequence {
	if at := made.Add(lookAfter); s.LookAt.IsZero() || at.Before(s.LookAt) {
		s.LookAt = at
	}
	return s
}

// Looked returns the sequence after a look. The next one comes before the retention ends of a head that is closed
// by then, see Over.
func (s Sequence) Looked(now time.Time) Sequence {
	if !s.LookAt.IsZero() && !s.LookAt.After(now) { // it is neither idle meanwhile nor looked after
		s.LookAt = now.Add(hook.SweepPause)
	}
	return s
}

// Idle reports whether no delivery has the turn.
func (s Sequence) Idle() bool { return s.Head > s.Last }

// Late reports whether the head has had the turn for more than VoidAfter: something may have gone wrong.
func (s Sequence) Late(now time.Time) bool { return !s.Idle() && now.Sub(s.TurnAt) > VoidAfter }

// Void reports whether no event can come any more with the number of the head. first is the first place from
// the head on, if any: numbers are given in their order.
func (s Sequence) Void(first *Place, now time.Time) bool {
	return s.Late(now) || first != nil && now.Sub(first.GivenAt) > VoidAfter
}

// Give gives out numbers for the deliveries, and returns the first one. If the sequence is idle, the first has the turn.
func (s Sequence) Give(deliveries []hook.Delivery, now time.Time) (next Sequence, from int64) {
	from = s.Last + 1
	if s.Idle() {
		s.Head, s.Member, s.TurnAt, s.Retention = from, deliveries[0].Ref(), now, 0
	}
	for _, d := range deliveries {
		s.Retention = max(s.Retention, retentionOf(d))
	}
	s.Last += int64(len(deliveries))
	return s, from
}

// Turn says whether a delivery may be attempted.
type Turn uint8

// The turns. The zero Turn is that of a delivery without a number.
const (
	Now    Turn = iota + 1 // the delivery is the head
	Later                  // the sequence has not come to the delivery
	Passed                 // the sequence moved past the number: the delivery needs another place
)

// TurnOf returns the turn of a delivery. Without a record of the sequence, nothing orders it.
func (s Sequence) TurnOf(d hook.Delivery) Turn {
	switch turn := d.Turn(); {
	case turn == 0 || s.Version == 0:
		return 0
	case turn == s.Head:
		return Now
	case turn > s.Head:
		return Later
	}
	return Passed
}

// Begin returns the head as its turn begins. Its age counts from there, so that max_age does not count
// the time in which it waited.
func (s Sequence) Begin(d hook.Delivery) hook.Delivery {
	if s.TurnAt.After(d.CreatedAt) {
		d.CreatedAt = s.TurnAt
	}
	return d
}

// Over reports whether the sequence moves on from the head, the newest generation of its delivery. A
// dead one blocks the others if the endpoint wants that. Nothing blocks them once its retention ended.
func Over(d hook.Delivery, block bool, now time.Time) bool {
	closes := d.ClosesAt()
	switch closed := !closes.IsZero() && !now.Before(closes); {
	case d.State == hook.StateDead:
		return closed || !block
	case closed && !now.Before(d.ExpiresAt):
		return true
	}
	return d.State.Settled()
}

// Advance moves the sequence past its head; nil: a void number. by is the turn of the delivery whose end
// moves the sequence.
func (s Sequence) Advance(head *hook.Delivery, by int64, now time.Time) Sequence {
	if head != nil && head.State == hook.StateDelivered && head.Number == s.Head {
		s.Delivered = s.Head
	}
	s.Head, s.Member, s.MovedBy, s.TurnAt = s.Head+1, hook.DeliveryRef{}, by, now
	if s.Idle() {
		s.LookAt = time.Time{}
	}
	return s
}

// MaxSkipped limits the numbers that a request names as skipped.
const MaxSkipped = 100

// Ordering returns what a request of the head says: its number when the event was accepted, and the
// numbers since the last delivered one that were not delivered in their turn, the newest MaxSkipped.
func (s Sequence) Ordering(head hook.Delivery) *hook.Ordering {
	o := &hook.Ordering{Key: head.OrderingKey, Number: head.Number}
	for n := max(s.Delivered+1, s.Head-MaxSkipped); n < s.Head; n++ {
		if n != head.Number {
			o.Skipped = append(o.Skipped, n)
		}
	}
	return o
}
