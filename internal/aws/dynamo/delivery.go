package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// deliveryItem omits the id, which is part of the key: the item of a delivery that
// succeeds at once must fit into one write unit of 1 KB.
//
// EndpointSK lists the delivery in the index by_endpoint. The first generation of a
// delivered delivery has no row there, because its key is its position in the list; a
// queued delivery has none, because no list of an endpoint shows it.
type deliveryItem struct {
	hook.Delivery

	Recent     []byte `stored:"recent"`      // hook.Delivery.Recent, packed
	EndpointSK string `stored:"endpoint_sk"` // names.ByEndpointRange
	stateRow

	unpacked int // bytes of Recent
}

// dueRow is the row of a retrying or queued delivery.
func dueRow(d hook.Delivery) stateRow {
	list, shards := dueListOf(d.State)
	if shards == 0 {
		return stateRow{}
	}
	return stateRow{shard(list, hook.ShardOf(d.ID.Event, shards)), d.ListedAt().UTC().Format(indexTime) + "#" + d.ID.String()}
}

func (c codec) toDeliveryItem(d hook.Delivery) deliveryItem {
	it := deliveryItem{Delivery: d, stateRow: dueRow(d)}
	it.Recent, it.unpacked = c.pack(d.Recent)
	if n := len(d.Recent); n > 0 && reflect.DeepEqual(d.Last, d.Recent[n-1].Outcome.Short()) {
		it.Last = hook.Outcome{} // Recent has it
	}
	if d.State != hook.StateQueued && (d.State != hook.StateDelivered || millis(d.CreatedAt) != d.AcceptedAt) {
		it.EndpointSK = indexPrefix(d.State) + position(d.CreatedAt, d.ID)
	}
	return it
}

func (c codec) fromDeliveryItem(it keyed[deliveryItem]) (hook.Delivery, error) {
	ref, err := refOf(it.key)
	if err != nil {
		return hook.Delivery{}, err
	}
	d := it.Record.At(ref)
	if d.Recent, err = c.unpack(it.Record.Recent); err != nil {
		return hook.Delivery{}, err
	}
	for i := range d.Recent {
		d.Recent[i].Delivery = ref
	}
	if n := len(d.Recent); n > 0 && d.Last.Class == 0 {
		d.Last = d.Recent[n-1].Outcome.Short()
	}
	return d, nil
}

// Delivery reads one item.
func (s *Store) Delivery(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error) {
	return read[hook.Delivery](ctx, s, deliveryKey(ref), "delivery", ref.String())
}

// Deliveries makes one batch read per 100 targets for the first generations, and
// further batch reads for each next generation: the record of a replayed delivery
// names the next.
func (s *Store) Deliveries(ctx context.Context, e hook.Event) ([]hook.Delivery, error) {
	refs := make([]hook.DeliveryRef, len(e.Targets))
	for i, target := range e.Targets {
		refs[i] = hook.QueuedDelivery(e, target).Ref()
	}
	var all []hook.Delivery
	for len(refs) > 0 {
		found, err := s.DeliveriesByRef(ctx, refs)
		if err != nil {
			return nil, fmt.Errorf("list deliveries of event %s: %w", e.ID, err)
		}
		var next []hook.DeliveryRef
		for _, ref := range refs {
			d, ok := found[ref]
			if ok {
				all = append(all, d)
			}
			if d.Replayed.Generation != 0 {
				next = append(next, d.Successor())
			}
		}
		refs = next
	}
	slices.SortFunc(all, func(a, b hook.Delivery) int {
		return cmp.Or(cmp.Compare(a.ID.Endpoint, b.ID.Endpoint), cmp.Compare(a.ID.Generation, b.ID.Generation))
	})
	return all, nil
}

// DeliveriesByRef makes one batch read per 100 distinct refs. For a record that this build cannot
// read, the state and the version are 0, so that no write replaces it.
func (s *Store) DeliveriesByRef(ctx context.Context, refs []hook.DeliveryRef) (map[hook.DeliveryRef]hook.Delivery, error) {
	op := fmt.Sprintf("read %d deliveries", len(refs))
	items, err := s.batchGet(ctx, keysFor(refs, deliveryKey))
	if err != nil {
		return nil, translate(err, op)
	}
	found := make(map[hook.DeliveryRef]hook.Delivery, len(items))
	for _, item := range items {
		d, err := decode[hook.Delivery](s, item)
		if err != nil {
			ref, refErr := refOf(s.unreadable(ctx, item, err))
			if refErr != nil {
				return nil, translate(refErr, op)
			}
			d = hook.Delivery{}.At(ref)
		}
		found[d.Ref()] = d
	}
	return found, nil
}

// Unrecorded makes one batch read per 100 distinct refs, eventually consistent, at half the price
// of a consistent read.
func (s *Store) Unrecorded(ctx context.Context, refs []hook.DeliveryRef) ([]hook.DeliveryRef, error) {
	op := fmt.Sprintf("look for %d deliveries", len(refs))
	items, err := s.batchGetAs(ctx, keysFor(refs, deliveryKey), false, names.PartitionKey, names.SortKey)
	if err != nil {
		return nil, translate(err, op)
	}
	recorded, err := decodeItems[key](items)
	return slices.DeleteFunc(slices.Clone(refs), func(ref hook.DeliveryRef) bool {
		return slices.Contains(recorded, deliveryKey(ref))
	}), translate(err, op)
}

// SaveDelivery makes one conditional write. If the attempts of the delivery's record grow too long with
// the new one, the oldest first move to records of their own: a write each. An attempt that is too
// long itself is written in one transaction with the delivery. After CodeConflict, the stored task
// shows whether an earlier try of the same call made the write.
func (s *Store) SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error {
	k, op := deliveryKey(d.Ref()), "save delivery "+d.ID.String()
	guard := asRead(d.Version)
	if d.Version > 0 && len(d.Recent) == 0 { // a caller that did not read the record must not replace the attempts in it
		guard = guard.and(condition{expression: "attribute_not_exists(recent)"})
	}
	if attempt == nil {
		return s.commit(ctx, op, s.nextIf(k, d.Version, guard, s.payload.toDeliveryItem(d)))
	}
	it, moved, fits := s.payload.withAttempt(d, *attempt)
	delivery := s.nextIf(k, d.Version, guard, it)
	if !fits {
		return s.commit(ctx, op, delivery, s.put(attemptKey(attempt.Delivery, attempt.Number), condition{}, s.payload.toAttemptItem(*attempt, d.Tenant)))
	}
	for _, a := range moved {
		if err := s.moveAttempt(ctx, a, d.Tenant); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return s.commit(ctx, op, delivery)
}
