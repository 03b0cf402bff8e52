package breaker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// recordChunk is the number of deliveries that one request looks up.
const recordChunk = 100

// Record writes a record for each begun delivery that is still queued, because its task is
// late or lost. With a record SweepTasks finds the delivery, so it survives the loss of its
// task. begun are the deliveries of accepted events and of replays, some minutes later.
//
// A delivery that waits for its turn gets no record, so that its wait costs nothing: SweepTurns looks after its
// sequence. Only one that is kept for a shorter time than those before it does, because its time may end first.
//
// A begun delivery may come twice, late and in any order. Record reads the event again, and
// creates the record only if none exists, so it brings nothing back that has ended. After an
// error the caller repeats Record, which skips what is recorded by then.
func (b *Breaker) Record(ctx context.Context, begun []hook.DeliveryRef) error {
	chunks := slices.Collect(slices.Chunk(begun, recordChunk))
	found := make([][]hook.DeliveryRef, len(chunks))
	faults := forEach(len(chunks), func(i int) (err error) {
		found[i], err = b.Store.Unrecorded(ctx, chunks[i])
		return err
	})
	events := parallel.Groups(slices.Concat(found...), func(ref hook.DeliveryRef) hook.EventID { return ref.Event })
	var recorded atomic.Int64
	err := errors.Join(append(faults, forEach(len(events), func(i int) error { return b.recordEvent(ctx, events[i], &recorded) })...)...)
	settle.LogRun(ctx, b.Log, "deliveries.recorded", err,
		slog.Int(names.LogBegun, len(begun)), slog.Int64(names.LogRecorded, recorded.Load()))
	return err
}

// recordEvent records the queued deliveries of one event, unless the event is expired or gone.
// The event may be erased: if its erasure was interrupted, a delivery may have no record yet,
// and the next task cancels it. The erasure of a whole tenant waits for processes that read
// data before, so no record written here outlives it.
func (b *Breaker) recordEvent(ctx context.Context, refs []hook.DeliveryRef, recorded *atomic.Int64) error {
	if !b.hasTime(ctx, reserve) {
		return errNoTime
	}
	e, err := b.Store.Event(ctx, refs[0].Event)
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound:
		return nil
	case err != nil:
		return err
	case e.Expired(b.Now()):
		return nil
	}
	var faults []error
	for _, ref := range refs {
		d, err := settle.Queued(ctx, b.Store, e, ref)
		waits, made := false, false
		if err == nil {
			waits, err = b.orders().Watch(ctx, d)
		}
		if err == nil && !waits {
			made, err = b.saveDelivery(ctx, d)
		}
		if made {
			recorded.Add(1)
		}
		if hook.CodeOf(err) != hook.CodeNotFound { // another event has the id by now
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
