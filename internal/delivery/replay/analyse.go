package replay

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/deadletter"
)

const (
	// MaxHours limits the hours of an analysis: 14 days of 24 hours.
	MaxHours = 336
	// MaxAnalysed limits the dead deliveries of an analysis.
	MaxAnalysed = 20_000

	// maxDeathDelay is the longest time from the expiry of a parked delivery to the
	// check that ends the delivery.
	maxDeathDelay = 24 * time.Hour
)

// Analysis groups the deliveries that died within the last hours by common causes.
type Analysis struct {
	Hours    int
	Total    int  // deliveries in all groups
	Complete bool // false: more dead deliveries exist than Analyse read
	Groups   []deadletter.Group
}

// Analyse groups the tenant's dead deliveries of the last hours, 1 to MaxHours.
// A replayed delivery stays dead until the replay settles.
func (r *Replayer) Analyse(ctx context.Context, tenant hook.TenantID, hours int) (Analysis, error) {
	if hours < 1 || hours > MaxHours {
		return Analysis{}, hook.Invalid(hook.FieldError{Field: "hours", Message: fmt.Sprintf("must be 1 to %d", MaxHours)})
	}
	targets, err := r.targets(ctx, tenant, "")
	if err != nil {
		return Analysis{}, err
	}
	since, end := r.now().Add(-time.Duration(hours)*time.Hour), r.answerDeadline(ctx)
	// The index holds the time of creation, not the time of death.
	f := Filter{State: hook.StateDead, From: since.Add(-hook.MaxMaxAge - maxDeathDelay)}
	var analyzer deadletter.Analyzer
	a, read := Analysis{Hours: hours, Complete: true}, 0
	for _, target := range targets {
		complete, err := r.scan(ctx, f.selection(target), end, func(d hook.Delivery) bool {
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
