package breaker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// list returns a page of the overdue deliveries in the state.
func (r *sweepRun) list(ctx context.Context, state hook.State, from time.Time) ([]hook.Delivery, error) {
	page, err := r.Store.Overdue(ctx, state, from, r.now.Add(-sweepAfter), sweepPage)
	if err != nil {
		return nil, fmt.Errorf("list overdue deliveries: %w", err)
	}
	return page, nil
}

// listInTurns returns a few overdue deliveries of each tenant. The lanes are late, and nobody can
// see whose tokens they hold: those of a tenant with many overdue deliveries are probably there,
// and the tokens of the others may be lost.
func (r *sweepRun) listInTurns(ctx context.Context, state hook.State) (few []hook.Delivery, err error) {
	of := make(map[hook.TenantID]int)
	var from time.Time
	for range maxLatePages {
		page, err := r.list(ctx, state, from)
		if err != nil {
			return nil, err
		}
		for _, d := range page {
			again := slices.ContainsFunc(few, func(other hook.Delivery) bool { return other.Ref() == d.Ref() })
			if again || of[d.Tenant] == maxLateOfTenant {
				continue
			}
			of[d.Tenant]++
			if few = append(few, d); len(few) == maxLate {
				return few, nil
			}
		}
		if len(page) < sweepPage {
			break
		}
		from = afterPage(page, from, false)
	}
	return few, nil
}

// afterPage returns from when on the page after a full one is listed: from the last delivery on, whose
// millisecond may have more. A whole page of one millisecond is listed again if deliveries left it.
func afterPage(page []hook.Delivery, from time.Time, left bool) time.Time {
	if last := page[len(page)-1].OverdueFrom(); last.After(from) || left {
		return last
	}
	return from.Add(time.Millisecond)
}
