package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/hook"
)

// SampleSize is how many deliveries a dry run shows at most.
const SampleSize = 10

// Preview is what a job would select now. Deliveries among them that were
// replayed before would be skipped.
type Preview struct {
	Total      int
	ByEndpoint []EndpointCount // in the order of their ids, without those that have none
	Sample     []hook.Delivery // the oldest
	Complete   bool            // false: there was no time to see all; the counts are too small
}

// EndpointCount is how many deliveries of one endpoint a job would select.
type EndpointCount struct {
	Endpoint hook.EndpointID
	Count    int
}

// DryRun returns what Start would make a job of, and makes none. The index
// counts; only if there are types must every delivery be looked at.
func (r *Replayer) DryRun(ctx context.Context, tenant hook.TenantID, q JobRequest) (Preview, error) {
	f, err := r.filter(ctx, tenant, q, r.now())
	if err != nil {
		return Preview{}, err
	}
	ids, err := r.endpoints(ctx, tenant, f.Endpoint)
	if err != nil {
		return Preview{}, err
	}
	end := r.lookUntil(ctx)
	looks := make([]look, len(ids))
	if err := each(len(ids), func(i int) (err error) {
		looks[i], err = r.look(ctx, f, ids[i], end)
		return err
	}); err != nil {
		return Preview{}, err
	}
	p := Preview{Complete: true}
	for i, l := range looks {
		p.Complete = p.Complete && l.complete
		p.Total += l.count
		p.Sample = append(p.Sample, l.oldest...)
		if l.count > 0 {
			p.ByEndpoint = append(p.ByEndpoint, EndpointCount{Endpoint: ids[i], Count: l.count})
		}
	}
	slices.SortStableFunc(p.Sample, func(a, b hook.Delivery) int { return a.CreatedAt.Compare(b.CreatedAt) })
	p.Sample = p.Sample[:min(len(p.Sample), SampleSize)]
	return p, nil
}

// look is what a filter selects of one endpoint.
type look struct {
	count    int
	oldest   []hook.Delivery // SampleSize at most
	complete bool
}

func (r *Replayer) look(ctx context.Context, f Filter, id hook.EndpointID, end time.Time) (l look, err error) {
	s := f.selection(id)
	counted := len(f.Types) == 0
	if counted {
		if !r.Now().Before(end) {
			return look{}, nil
		}
		if l.count, err = r.Index.CountSelected(ctx, s); err != nil {
			return look{}, fmt.Errorf("count %s deliveries of endpoint %s: %w", f.State, id, err)
		}
		if l.count == 0 {
			return look{complete: true}, nil
		}
		s.Limit = SampleSize
	}
	l.complete, err = r.walk(ctx, s, end, func(d hook.Delivery) bool {
		if f.wants(d.EventType) {
			if len(l.oldest) < SampleSize {
				l.oldest = append(l.oldest, d)
			}
			if !counted {
				l.count++
			}
		}
		return !counted || len(l.oldest) < SampleSize
	})
	l.complete = l.complete || counted // that the sample is short does not matter
	return l, err
}
