package replay

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/deadletter"
)

const (
	// MinPeriod is the shortest period of an analysis.
	MinPeriod = time.Hour
	// MaxPeriod is the longest period of an analysis.
	MaxPeriod = 14 * 24 * time.Hour
	// MaxAnalysed limits the dead deliveries of an analysis.
	MaxAnalysed = 20_000

	// maxDeathDelay is the longest time from the expiry of a parked delivery to the check that
	// ends it.
	maxDeathDelay = 24 * time.Hour
)

// Analysis groups the deliveries that died within a period by their causes.
type Analysis struct {
	Period   time.Duration      `json:"period"`
	Total    int                `json:"total"`    // deliveries in all groups
	Complete bool               `json:"complete"` // false: more dead deliveries exist than Analyse read
	Groups   []deadletter.Group `json:"groups"`
}

// Analyse groups the tenant's deliveries that died within the period before now, from MinPeriod
// to MaxPeriod. A replayed delivery counts as dead until its replay settles.
func (r *Replayer) Analyse(ctx context.Context, tenant hook.TenantID, period time.Duration) (Analysis, error) {
	if period < MinPeriod || period > MaxPeriod {
		return Analysis{}, hook.Invalid(hook.FieldError{
			Field: "period", Message: "must be " + hook.FormatDuration(MinPeriod) + " to " + hook.FormatDuration(MaxPeriod),
		})
	}
	targets, err := r.targets(ctx, tenant, "")
	if err != nil {
		return Analysis{}, err
	}
	end := r.answerDeadline(ctx)
	f := Filter{State: hook.StateDead, DiedSince: r.now().Add(-period)}
	var analyzer deadletter.Analyzer
	a, read := Analysis{Period: period, Complete: true}, 0
	for _, target := range targets {
		complete, err := r.scan(ctx, f.selection(target), end, func(d hook.Delivery) bool {
			if read++; read > MaxAnalysed {
				return false
			}
			if f.matches(d) {
				analyzer.Add(d)
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
