package replay

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/deadletter"
)

const (
	// MaxHours bounds how far back an analysis looks.
	MaxHours = 336
	// MaxAnalysed bounds how many dead deliveries it reads.
	MaxAnalysed = 20_000

	// lateDeath is how much older than max_age a parked delivery may be when
	// somebody looks at it and it dies.
	lateDeath = 24 * time.Hour
)

// Analysis is what the deliveries that died within some hours have in common.
type Analysis struct {
	Hours    int
	Total    int  // deliveries in all groups
	Complete bool // false: there were more than could be read
	Groups   []deadletter.Group
}

// Analyse groups the dead deliveries of the tenant that died within the hours
// before now, 1 to MaxHours. Those that are replayed and not settled again are
// dead as well.
func (r *Replayer) Analyse(ctx context.Context, tenant hook.TenantID, hours int) (Analysis, error) {
	if hours < 1 || hours > MaxHours {
		return Analysis{}, hook.Invalid(hook.FieldError{Field: "hours", Message: fmt.Sprintf("must be 1 to %d", MaxHours)})
	}
	ids, err := r.endpoints(ctx, tenant, "")
	if err != nil {
		return Analysis{}, err
	}
	since, end := r.now().Add(-time.Duration(hours)*time.Hour), r.lookUntil(ctx)
	// The index knows when a delivery was made, not when it died.
	f := Filter{State: hook.StateDead, From: since.Add(-hook.MaxMaxAge - lateDeath)}
	var analyzer deadletter.Analyzer
	a, read := Analysis{Hours: hours, Complete: true}, 0
	for _, id := range ids {
		complete, err := r.walk(ctx, f.selection(id), end, func(d hook.Delivery) bool {
			if read++; read > MaxAnalysed {
				return false
			}
			if !d.UpdatedAt.Before(since) {
				analyzer.Add(deadletter.LetterOf(d))
				a.Total++
			}
			return true
		})
		if err != nil {
			return Analysis{}, err
		}
		if !complete || read > MaxAnalysed {
			a.Complete = false
			break
		}
	}
	a.Groups = analyzer.Groups()
	return a, nil
}
