package breaker

import (
	"context"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// tell tells the owner and the operators that the circuit opened or closed, and returns the record. The
// write of a transition also says that it is untold, so none is announced that was not written, and after a crash the
// next check announces it. After a crash between the notification and the write here it does so again, under the same
// key.
//
// A notification that fails is tried again with the next check, a minute later: it must not
// keep the endpoint from its probes and releases. Nobody is told of a deleted endpoint.
func (b *Breaker) tell(ctx context.Context, check hook.CircuitCheck) (admission.Record, error) {
	record, err := b.Store.Circuit(ctx, check.Tenant, check.Endpoint)
	if err != nil || record.Untold == (admission.Untold{}) || !b.hasTime(ctx, reserve) {
		return record, err
	}
	_, err = b.Store.Endpoint(ctx, record.Tenant, record.Endpoint)
	deleted := hook.CodeOf(err) == hook.CodeNotFound
	if err != nil && !deleted {
		return record, err
	}
	var told []admission.Transition
	for _, t := range record.Untold.All() {
		if !deleted && !b.completion().Notify(ctx, record.Announcement(t)) {
			break
		}
		told = append(told, t)
	}
	_, record, err = b.circuits().UpdateFrom(ctx, record, check, func(stored admission.Record) (admission.Record, bool, error) {
		next := stored
		next.Untold = stored.Untold.Without(told)
		return next, next != stored, nil
	})
	return record, err
}
