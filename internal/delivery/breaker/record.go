package breaker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// recordChunk is the number of deliveries that one request looks up.
const recordChunk = 100

// Record writes a record for each begun delivery that is still queued, because its token is
// late or lost. With a record SweepTokens finds the delivery, so it survives the loss of its
// token. begun are the deliveries of accepted events and of replays, some minutes later.
//
// A begun delivery may come twice, late and in any order. Record reads the event again, and
// creates the record only if none exists, so it brings nothing back that has ended. After an
// error the caller repeats Record, which skips what is recorded by then.
func (b *Breaker) Record(ctx context.Context, begun []hook.DeliveryRef) error {
	r := recording{Breaker: b}
	err := r.record(ctx, begun)
	settle.LogRun(ctx, b.Log, "deliveries.recorded", err,
		slog.Int(names.LogBegun, len(begun)), slog.Int64(names.LogRecorded, r.recorded.Load()))
	return err
}

// recording is one call of Record.
type recording struct {
	*Breaker

	recorded atomic.Int64
}

func (r *recording) record(ctx context.Context, begun []hook.DeliveryRef) error {
	chunks := slices.Collect(slices.Chunk(begun, recordChunk))
	found := make([][]hook.DeliveryRef, len(chunks))
	faults := forEach(len(chunks), func(i int) (err error) {
		if found[i], err = r.Store.Unrecorded(ctx, chunks[i]); err != nil {
			return fmt.Errorf("look for begun deliveries: %w", err)
		}
		return nil
	})
	missing := slices.Concat(found...)
	slices.SortStableFunc(missing, func(a, b hook.DeliveryRef) int { return cmp.Compare(a.Event, b.Event) })
	var events [][]hook.DeliveryRef
	for i, ref := range missing {
		if i == 0 || ref.Event != missing[i-1].Event {
			events = append(events, nil)
		}
		events[len(events)-1] = append(events[len(events)-1], ref)
	}
	faults = append(faults, forEach(len(events), func(i int) error { return r.recordEvent(ctx, events[i]) })...)
	return errors.Join(faults...)
}

// recordEvent records the queued deliveries of one event, unless the event is expired or gone.
// The event may be erased: if its erasure was interrupted, a delivery may have no record yet,
// and the next token cancels it. The erasure of a whole tenant waits for processes that read
// data before, so no record written here outlives it.
func (r *recording) recordEvent(ctx context.Context, refs []hook.DeliveryRef) error {
	if !r.hasTime(ctx, reconcileReserve) {
		return errNoTime
	}
	e, err := r.Store.Event(ctx, refs[0].Event)
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound:
		return nil
	case err != nil:
		return fmt.Errorf("read event %s: %w", refs[0].Event, err)
	case e.Expired(r.Now()):
		return nil
	}
	var faults []error
	for _, ref := range refs {
		d, queued, err := r.queued(ctx, e, ref)
		if err == nil && queued {
			var made bool
			if made, err = r.saveDelivery(ctx, d); made {
				r.recorded.Add(1)
			}
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// queued returns the delivery as it is while queued. ok is false if neither the event nor the
// record of the previous generation names it, because another event has the id by now.
func (r *recording) queued(ctx context.Context, e hook.Event, ref hook.DeliveryRef) (d hook.Delivery, ok bool, err error) {
	if own, target := e.Ref(ref.Endpoint, ref.Generation); !target || own != ref {
		return d, false, nil
	}
	before, replay := ref.Predecessor()
	if !replay {
		return hook.QueuedDelivery(e, hook.Target{Endpoint: ref.Endpoint}).At(ref), true, nil
	}
	old, err := r.Store.Delivery(ctx, before)
	if err != nil {
		if hook.CodeOf(err) == hook.CodeNotFound {
			return d, false, nil
		}
		return d, false, fmt.Errorf("read delivery %s: %w", before.DeliveryID, err)
	}
	return hook.QueuedReplay(e, old), old.Replayed.Generation == ref.Generation, nil
}
