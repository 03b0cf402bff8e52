package status

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

// Standing is how an ordered delivery stands among those with its ordering key. It is zero for one that is
// not ordered, and for one that ended and holds up nobody.
type Standing struct {
	Head     bool      // the delivery has the turn, or blocks the others
	Behind   int64     // of the head: how many numbers come behind it, most of them of deliveries that wait
	WaitsFor *WaitsFor // of a delivery whose turn has not come
}

// WaitsFor is the delivery whose turn it is.
type WaitsFor struct {
	Number int64           `json:"number"`
	ID     hook.DeliveryID `json:"delivery_id,omitzero"` // zero: the delivery is not known yet
	State  hook.State      `json:"state"`                // queued, if it is not known
	Reason hook.Reason     `json:"reason,omitzero"`
	Since  time.Time       `json:"since"` // of the state
}

// standing makes no request for a delivery that is not ordered or ended, one for the head of a sequence,
// and one for each generation of the head more for the others.
func (r *Reader) standing(ctx context.Context, d hook.Delivery) (Standing, error) {
	if d.Number == 0 || d.State.Settled() && !blocks(d) {
		return Standing{}, nil
	}
	s, err := r.Store.Sequence(ctx, d.Tenant, order.IDOf(d))
	if err != nil {
		return Standing{}, fmt.Errorf("read ordering key %s of endpoint %s: %w", d.OrderingKey, d.ID.Endpoint, err)
	}
	switch turn := s.TurnOf(d); {
	case turn == order.Now:
		return Standing{Head: true, Behind: s.Last - s.Head}, nil
	case turn == order.Later && !d.State.Settled():
		head, _, err := settle.Head(ctx, r.Store, s)
		if err != nil {
			return Standing{}, fmt.Errorf("read the head of ordering key %s: %w", s.Key, err)
		}
		return Standing{WaitsFor: waitsFor(s, head)}, nil
	}
	return Standing{}, nil
}

func waitsFor(s order.Sequence, head *hook.Delivery) *WaitsFor {
	w := &WaitsFor{Number: s.Head, State: hook.StateQueued, Since: s.TurnAt}
	if head == nil {
		return w
	}
	w.ID, w.State, w.Reason = head.ID, head.State, head.Reason
	if head.Number > 0 {
		w.Number = head.Number
	}
	if head.UpdatedAt.After(w.Since) {
		w.Since = head.UpdatedAt
	}
	return w
}

// blocks reports whether the delivery blocks its ordering key if it is the head.
func blocks(d hook.Delivery) bool { return d.State == hook.StateDead && d.Replayed.Generation == 0 }

// Blocking is a dead delivery that blocks its ordering key.
type Blocking struct {
	hook.Delivery
	Standing
}

// Blocking returns a page of the dead deliveries that block their ordering key. It is a page of
// Deliveries without the others, and makes a request more for each ordered delivery.
func (r *Reader) Blocking(ctx context.Context, tenant hook.TenantID, f DeliveryFilter, p page.Request) (page.List[Blocking], error) {
	f.State, f.Ordered = hook.StateDead, true
	dead, err := r.Deliveries(ctx, tenant, f, p)
	if err != nil {
		return page.List[Blocking]{}, err
	}
	found := make([]Standing, len(dead.Data))
	err = each(ctx, len(found), concurrentReads, func(ctx context.Context, i int) (err error) {
		found[i], err = r.standing(ctx, dead.Data[i])
		return err
	})
	if err != nil {
		return page.List[Blocking]{}, err
	}
	list := page.List[Blocking]{Next: dead.Next}
	for i, s := range found {
		if s.Head {
			list.Data = append(list.Data, Blocking{Delivery: dead.Data[i], Standing: s})
		}
	}
	return list, nil
}
