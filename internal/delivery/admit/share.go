package admit

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

// leaveShares gives back the tenant's shares of ended tasks of the queue slot. A task whose message comes
// again keeps its share, because a copy may be using it. A task that moves to the queue overflow has none; one that
// waits for a rate slot gives its share back. If the process dies first, the shares expire.
func (g *Gate) leaveShares(ctx context.Context, queue hook.Queue, ended []Ended) error {
	if queue != hook.QueueSlot {
		return nil
	}
	var held []admission.Held
	for _, e := range ended {
		if moved := e.Verdict.Decision == admission.Move && !e.Verdict.Reserved; !e.Again && !moved {
			held = append(held, DueOf(e.Task).Share(time.Time{}))
		}
	}
	if len(held) == 0 {
		return nil
	}
	shares := store.Table[hook.TenantID, admission.Limits]{
		Name: "the tenant's shares", Wait: g.Wait, Read: g.Store.Shares,
		Write: func(ctx context.Context, tenant hook.TenantID, before, next admission.Limits) (admission.Limits, error) {
			return next, g.Store.ChangeShares(ctx, tenant, before, next)
		},
	}
	_, _, err := shares.Update(ctx, ended[0].Task.Tenant, func(before admission.Limits) (admission.Limits, bool, error) { return before.End(held...), true, nil })
	return err
}

// DueOf returns the task as the rules see it.
func DueOf(t hook.Task) admission.Due {
	return admission.Due{Delivery: t.Delivery.DeliveryID, Attempt: t.Attempt, Nonce: t.Nonce, Reserved: t.Reserved, Slot: t.Slot, Probe: t.Probe, Test: t.Test()}
}
