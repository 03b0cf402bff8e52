package replay

import (
	"context"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// SampleSize limits the sample of a dry run.
const SampleSize = 10

// Preview is what a job would select now. The job would skip those that were already replayed.
type Preview struct {
	Total      int             `json:"total"`
	Complete   bool            `json:"complete"`    // false: there was not enough time, and the counts are lower bounds
	ByEndpoint []EndpointCount `json:"by_endpoint"` // in the order of ids, without zero counts
	Sample     []hook.Delivery `json:"-"`           // the oldest deliveries, at most SampleSize
}

// EndpointCount is the number of deliveries of one endpoint in a selection.
type EndpointCount struct {
	Endpoint hook.EndpointID `json:"endpoint_id"`
	Count    int             `json:"count"`
}

// DryRun returns what a job by Start would select, without making the job. Usually the index
// counts the deliveries. If the filter has event types or a cause, DryRun reads every delivery
// instead.
func (r *Replayer) DryRun(ctx context.Context, tenant hook.TenantID, q JobRequest) (Preview, error) {
	f, err := r.newFilter(ctx, tenant, q, r.now())
	if err != nil {
		return Preview{}, err
	}
	targets, err := r.targets(ctx, tenant, f.Endpoint)
	if err != nil {
		return Preview{}, err
	}
	end := r.answerDeadline(ctx)
	previews := make([]Preview, len(targets))
	if err := forEach(len(targets), func(i int) (err error) {
		previews[i], err = r.previewEndpoint(ctx, f, targets[i], end)
		return err
	}); err != nil {
		return Preview{}, err
	}
	p := Preview{Complete: true}
	for i, e := range previews {
		p.Complete = p.Complete && e.Complete
		p.Total += e.Total
		p.Sample = append(p.Sample, e.Sample...)
		if e.Total > 0 {
			p.ByEndpoint = append(p.ByEndpoint, EndpointCount{Endpoint: targets[i].Endpoint, Count: e.Total})
		}
	}
	slices.SortStableFunc(p.Sample, func(a, b hook.Delivery) int { return a.CreatedAt.Compare(b.CreatedAt) })
	p.Sample = p.Sample[:min(len(p.Sample), SampleSize)]
	return p, nil
}

// previewEndpoint returns the part of a preview for one endpoint. If the index counts, a short sample
// keeps the count complete.
func (r *Replayer) previewEndpoint(ctx context.Context, f Filter, target hook.Target, end time.Time) (p Preview, err error) {
	s, counted := f.selection(target), f.indexed()
	if counted {
		if p.Complete = r.Now().Before(end); !p.Complete {
			return p, nil
		}
		if p.Total, err = r.Store.CountSelected(ctx, s); err != nil || p.Total == 0 {
			return p, err
		}
		s.Limit = SampleSize
	}
	complete, err := r.scan(ctx, s, end, func(d hook.Delivery) bool {
		if !f.matches(d) {
			return true
		}
		if !counted {
			p.Total++
		}
		if len(p.Sample) < SampleSize {
			p.Sample = append(p.Sample, d)
		}
		return !counted || len(p.Sample) < SampleSize
	})
	p.Complete = counted || complete
	return p, err
}
