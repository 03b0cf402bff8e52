package replay

import (
	"context"

	"surehook.example/surehook/internal/hook"
)

// discard discards the deliveries of the page, and each candidate holds its own result. A
// delivery with a replay in progress is skipped: the outcome of the replay decides. A
// delivery that this job discarded before a crash counts as discarded.
func (w *jobRun) discard(ctx context.Context, page []*candidate) {
	why := map[hook.Code]Skip{hook.CodeReplayed: SkipReplayed, hook.CodeNotFound: SkipGone, hook.CodeConflict: SkipChanged}
	_ = forEach(len(page), func(i int) error {
		c := page[i]
		if c.refused != nil {
			return nil //nolint:nilerr // the candidate holds its result
		}
		d, err := w.end(ctx, w.job.Tenant, c.delivery.ID, ending{
			to: hook.StateDiscarded, by: w.job.By, note: "by job " + string(w.job.ID), nonce: string(w.job.ID), ref: new(c.delivery.Ref()),
			can: func(d hook.Delivery) error {
				if d.Replayed.Generation != 0 {
					return &hook.Error{Code: hook.CodeReplayed, Message: "the delivery was replayed as " + d.Successor().String()}
				}
				return discardable(d)
			},
		})
		if err == nil && !w.job.discarded(d) {
			err = hook.Conflict("it was discarded by another request")
		}
		skip, final := why[hook.CodeOf(err)]
		switch {
		case err == nil:
			c.delivery = d
		case final:
			c.refuse(err, skip)
		default:
			c.failed = err
		}
		return nil // the candidate holds the error
	})
}

// discarded reports whether this job discarded the delivery.
func (j Job) discarded(d hook.Delivery) bool {
	return j.Discards && d.State == hook.StateDiscarded && d.Token == string(j.ID)
}
