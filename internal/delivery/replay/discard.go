package replay

import (
	"context"

	"surehook.example/surehook/internal/hook"
)

// discard discards the deliveries of the page, and each candidate holds its own result. A
// delivery with a replay in progress is skipped: the outcome of the replay decides. A
// delivery that this job discarded before a crash counts as discarded.
func (w *jobRun) discard(ctx context.Context, page []*candidate) {
	_ = forEach(len(page), func(i int) error {
		c := page[i]
		if c.skip != "" {
			return nil
		}
		d, err := w.end(ctx, c.delivery, ending{
			to: hook.StateDiscarded, by: w.job.By, note: "by job " + string(w.job.ID), nonce: string(w.job.ID),
			can: func(d hook.Delivery) error {
				if d.Replayed.Generation != 0 {
					return &hook.Error{Code: hook.CodeReplayed, Message: "the delivery was replayed as " + d.Successor().String()}
				}
				return discardable(d)
			},
		})
		switch code := hook.CodeOf(err); {
		case err == nil && w.job.discarded(d):
			c.delivery = d
		case err == nil, code == hook.CodeConflict: // discarded by another request, or not dead
			c.skip = SkipChanged
		case code == hook.CodeReplayed:
			c.skip = SkipReplayed
		case code == hook.CodeNotFound:
			c.skip = SkipGone
		default:
			c.err = err
		}
		return nil // the candidate holds the error
	})
}

// discarded reports whether this job discarded the delivery.
func (j Job) discarded(d hook.Delivery) bool {
	return j.Action == ActionDiscard && d.State == hook.StateDiscarded && d.DecidedBy == string(j.ID)
}
