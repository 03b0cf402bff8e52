package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// dueTime returns when the rate allows the n-th delivery after from.
func dueTime(from time.Time, n int, rate float64) time.Time {
	return from.Add(time.Duration(float64(n) / rate * float64(time.Second)))
}

// selectPage selects a page and saves it in the job (1), if the tenant's limit has room; otherwise it
// saves the time from which the page is selected again. With the save the page belongs to this
// worker. After a crash any worker can continue with the saved page.
func (w *jobRun) selectPage(ctx context.Context) error {
	j := w.job
	size := j.pageSize()
	j.Selects = j.Selects && size > 0 // otherwise the limit is reached
	page, err := w.selectNext(ctx, &j, size)
	if err != nil {
		return err
	}
	var wait time.Duration
	if j.Action != ActionDiscard {
		if _, wait, err = w.countReplays(ctx, j.Tenant, len(page)); err != nil {
			return err
		}
	}
	now := w.now()
	if wait > 0 {
		j = w.job
		j.NextAt = now.Add(max(wait, leastPause))
		return w.takeJob(ctx, j)
	}
	from := j.NextAt
	if earliest := now.Add(-pageLead); earliest.After(from) {
		from = earliest
	}
	j.Selected += len(page)
	j.Pending = make([]hook.DeliveryRef, len(page))
	records := make(map[hook.DeliveryRef]hook.Delivery, len(page))
	for i, d := range page {
		j.Pending[i], records[d.Ref()] = d.Ref(), d
	}
	if len(page) == 0 && !j.Selects {
		j.end(JobFinished, now)
	}
	if err := w.takeJob(ctx, j); err != nil {
		return err
	}
	w.records, w.from = records, from
	w.pages++
	return nil
}

// takeJob saves the job: of two workers with the same job, one continues.
func (w *jobRun) takeJob(ctx context.Context, j Job) error {
	err := w.saveJob(ctx, &j)
	if err == nil {
		w.job = j
	} else if hook.CodeOf(err) == hook.CodeConflict {
		return errTaken
	}
	return err
}

// sendPage sends the pending page (2) and counts the results (3). After a failure the whole
// page stays pending, so that each delivery keeps its JobIndex.
func (w *jobRun) sendPage(ctx context.Context) error {
	page, err := w.pendingReplays(ctx)
	if err != nil {
		return err
	}
	if w.job.Action == ActionDiscard {
		w.discard(ctx, page)
	} else {
		w.enqueue(ctx, page)
	}
	var faults []error
	enqueued, skipped := 0, make(map[Skip]int)
	for _, c := range page {
		switch {
		case c.skip != "":
			skipped[c.skip]++
		case c.err != nil:
			faults = append(faults, c.err)
		default:
			enqueued++
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("enqueue %d of %d deliveries: %w", len(faults), len(page), faults[0])
	}
	return w.countPage(ctx, enqueued, skipped)
}

// pendingReplays returns the replays of the pending page. The records are those that selectPage
// read, or are read again in another process. A job that adds an endpoint adds it to the events of the page,
// and replays the added records; repeating that changes nothing.
func (w *jobRun) pendingReplays(ctx context.Context) ([]*candidate, error) {
	j, now, adds := w.job, w.now(), w.job.Filter.AddTo != ""
	if w.records == nil {
		w.from = now
		if !adds {
			var err error
			if w.records, err = w.Store.DeliveriesByRef(ctx, j.Pending); err != nil {
				return nil, err
			}
		}
	}
	page := make([]*candidate, len(j.Pending))
	err := forEach(len(page), func(i int) (err error) {
		c := &candidate{
			request: hook.ReplayRequest{By: j.By, Job: j.ID, JobIndex: j.Selected - len(page) + i},
			delay:   max(0, dueTime(w.from, i, j.Rate).Sub(now)).Truncate(time.Second),
		}
		page[i] = c
		if adds {
			c.delivery, c.skip, err = w.added(ctx, j.Pending[i])
			return err
		}
		d, ok := w.records[j.Pending[i]]
		c.delivery, c.request.Force = d, j.Filter.State == hook.StateParked // parked deliveries are not settled
		switch {
		case !ok:
			c.skip = SkipGone
		case !c.recordedIn(d) && !j.discarded(d) && d.State != j.Filter.State:
			c.skip = SkipChanged
		}
		return nil
	})
	return page, err
}

// countPage adds the results of the page to the job, and removes the page (3), even if the job
// is cancelled.
func (w *jobRun) countPage(ctx context.Context, enqueued int, skipped map[Skip]int) error {
	page, read := w.job.Pending, w.job
	_, j, err := w.jobs().UpdateFrom(ctx, read, w.message, func(j Job) (Job, bool, error) {
		if j.Selected != read.Selected || !slices.Equal(j.Pending, page) {
			return j, false, errTaken
		}
		j.Enqueued += enqueued
		j.countSkipped(skipped)
		j.Selects = j.Selects && (j.Limit == 0 || j.Enqueued < j.Limit)
		j.Pending = nil
		j.NextAt = dueTime(w.from, len(page), j.Rate)
		if j.State == JobRunning && !j.Selects {
			j.end(JobFinished, w.now())
		}
		if j.State == JobRunning && w.mustWait(ctx, j) {
			j.PassOn()
		}
		return j, true, nil
	})
	if err != nil {
		return err
	}
	w.job, w.records = j, nil
	return nil
}
