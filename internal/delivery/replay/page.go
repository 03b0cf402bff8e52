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
	wait, err := w.pause(ctx, len(page))
	if err != nil {
		return err
	}
	now := w.now()
	if wait > 0 {
		j = w.job
		j.NextAt = now.Add(wait)
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
	var (
		enqueued, failed int
		skipped          = make(map[Skip]int)
		fault            error
	)
	for _, c := range page {
		switch {
		case c.skip != "":
			skipped[c.skip]++
		case c.err != nil:
			failed++
			fault = c.err
		default:
			enqueued++
		}
	}
	if failed > 0 {
		return fmt.Errorf("enqueue %d of %d deliveries: %w", failed, len(page), fault)
	}
	return w.countPage(ctx, enqueued, skipped)
}

// pendingReplays returns the replays of the pending page. The records are those that selectPage
// read, or are read again in another process.
func (w *jobRun) pendingReplays(ctx context.Context) ([]*candidate, error) {
	if w.job.Filter.AddTo != "" {
		return w.pendingAdditions(ctx)
	}
	j, now, records := w.job, w.now(), w.records
	if records == nil {
		var err error
		if records, err = w.Store.DeliveriesByRef(ctx, j.Pending); err != nil {
			return nil, err
		}
		w.from = now
	}
	page := make([]*candidate, len(j.Pending))
	for i, ref := range j.Pending {
		d, ok := records[ref]
		c := w.candidateAt(i, now)
		c.delivery, c.request.Force = d, j.Filter.State == hook.StateParked // parked deliveries are not settled
		switch {
		case !ok:
			c.skip = SkipGone
		case !c.recordedIn(d) && !j.discarded(d) && d.State != j.Filter.State:
			c.skip = SkipChanged
		}
		page[i] = c
	}
	return page, nil
}

// candidateAt returns the candidate with the number in the pending page, without its delivery.
func (w *jobRun) candidateAt(i int, now time.Time) *candidate {
	j := &w.job
	return &candidate{
		request: hook.ReplayRequest{By: j.By, Job: j.ID, JobIndex: j.Selected - len(j.Pending) + i},
		delay:   max(0, dueTime(w.from, i, j.Rate).Sub(now)).Truncate(time.Second),
	}
}

// countPage adds the results of the page to the job, and removes the page (3), even if the job
// is cancelled.
func (w *jobRun) countPage(ctx context.Context, enqueued int, skipped map[Skip]int) error {
	page, read := w.job.Pending, w.job
	before, j, err := w.jobs().UpdateFrom(ctx, read, w.message, func(j Job) (Job, bool, error) {
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
	if j.Next != before.Next {
		w.next = new(w.message.successor(j.Next))
	}
	w.job, w.records = j, nil
	return nil
}
