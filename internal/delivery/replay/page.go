package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/hook"
)

// pageSize returns how many deliveries a page has at most: what the rate allows
// within pageTime, one at least.
func pageSize(rate float64) int {
	return min(PageSize, max(1, int(rate*pageTime.Seconds())))
}

// at returns when the rate has room for the n-th delivery after from.
func at(from time.Time, n int, rate float64) time.Time {
	return from.Add(time.Duration(float64(n) / rate * float64(time.Second)))
}

// begin selects a page and writes it into the job (1). From here on it is this
// worker's, or whoever's finds it there.
func (w *work) begin(ctx context.Context) error {
	j := w.job
	page, err := w.choose(ctx, &j, pageSize(j.Rate))
	if err != nil {
		return err
	}
	now := w.now()
	from := j.NextAt
	if earliest := now.Add(-ahead); earliest.After(from) {
		from = earliest
	}
	j.Selected += len(page)
	j.Pending = make([]hook.DeliveryID, len(page))
	for i, d := range page {
		j.Pending[i] = d.ID
	}
	if len(page) == 0 && !j.Selects {
		j.end(JobFinished, now)
	}
	if err := w.save(ctx, &j); err != nil {
		if hook.CodeOf(err) == hook.CodeConflict {
			return errTaken
		}
		return err
	}
	w.job, w.chosen, w.from = j, page, from
	w.pages++
	w.selected += len(page)
	return nil
}

// choose selects the next deliveries, endpoint by endpoint in the order of their
// ids, and moves the job's position behind them. An endpoint that was deleted
// meanwhile is passed over. It stops early when the invocation is running out.
func (w *work) choose(ctx context.Context, j *Job, most int) ([]hook.Delivery, error) {
	if w.walked == nil {
		ids, err := w.endpoints(ctx, j.Tenant, j.Filter.Endpoint)
		if err != nil {
			return nil, err
		}
		w.walked = ids
	}
	var page []hook.Delivery
	for first := true; j.Selects && len(page) < most && (first || !w.late(ctx)); first = false {
		i, found := slices.BinarySearch(w.walked, j.Endpoint)
		if i == len(w.walked) {
			j.Selects = false
			break
		}
		if !found {
			j.Endpoint, j.Cursor = w.walked[i], ""
		}
		s := j.Filter.selection(j.Endpoint)
		s.After, s.Limit = j.Cursor, most-len(page)
		selected, next, err := w.Index.Select(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("select %s deliveries of endpoint %s: %w", s.State, s.Endpoint, err)
		}
		for _, d := range selected {
			// Its own would be selected only if two clocks differ.
			if j.Filter.wants(d.EventType) && d.Job != j.ID {
				page = append(page, d)
			}
		}
		if j.Cursor = next; next != "" {
			continue
		}
		if i+1 == len(w.walked) {
			j.Selects = false
			break
		}
		j.Endpoint = w.walked[i+1]
	}
	return page, nil
}

// finish sends the pending page (2) and writes what came of it (3). If anything
// of it could not be told, the page stays pending as it is, so that each of its
// deliveries keeps its slot.
func (w *work) finish(ctx context.Context) error {
	page, err := w.pending(ctx)
	if err != nil {
		return err
	}
	w.enqueue(ctx, page)
	var (
		enqueued, skipped, failed int
		fault                     error
	)
	for _, p := range page {
		switch {
		case p.refused != nil:
			skipped++
		case p.failed != nil:
			failed++
			fault = p.failed
		default:
			enqueued++
		}
	}
	if failed > 0 {
		return fmt.Errorf("enqueue %d of %d deliveries: %w", failed, len(page), fault)
	}
	return w.count(ctx, enqueued, skipped)
}

// pending returns the replays of the pending page. Those that were selected just
// now are as they were then; else they are read again.
func (w *work) pending(ctx context.Context) ([]*replaying, error) {
	j, now, records := w.job, w.now(), w.chosen
	if records == nil {
		var err error
		if records, err = w.Store.DeliveriesByID(ctx, j.Pending); err != nil {
			return nil, fmt.Errorf("read %d pending deliveries: %w", len(j.Pending), err)
		}
		w.from = now
	}
	byID := make(map[hook.DeliveryID]hook.Delivery, len(records))
	for _, d := range records {
		byID[d.ID] = d
	}
	page := make([]*replaying, len(j.Pending))
	for i, id := range j.Pending {
		d, ok := byID[id]
		p := &replaying{
			delivery: d,
			order: hook.ReplayRequest{
				By: j.By, Job: j.ID, JobIndex: j.Selected - len(j.Pending) + i,
				Force: j.Filter.State == hook.StateParked, // the filter names them
			},
			delay: max(0, at(w.from, i, j.Rate).Sub(now)).Truncate(time.Second),
		}
		switch {
		case !ok:
			p.refused = hook.NotFound("delivery")
		case !p.ordered(d) && d.State != j.Filter.State:
			p.refused = hook.Conflict("it is " + d.State.String() + " now")
		}
		page[i] = p
	}
	return page, nil
}

// count writes what came of the page, and takes it out of the job (3). A job
// that was cancelled meanwhile is told all the same.
func (w *work) count(ctx context.Context, enqueued, skipped int) error {
	page := w.job.Pending
	for range cancelTries {
		j := w.job
		j.Enqueued += enqueued
		j.Skipped += skipped
		j.Pending = nil
		j.NextAt = at(w.from, len(page), j.Rate)
		if j.State == JobRunning && !j.Selects {
			j.end(JobFinished, w.now())
		}
		err := w.save(ctx, &j)
		if err == nil {
			w.job, w.chosen = j, nil
			w.enqueued += enqueued
			w.skips += skipped
			return nil
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return err
		}
		stored, err := w.Jobs.Job(ctx, j.Tenant, j.ID)
		if err != nil {
			return fmt.Errorf("read job: %w", err)
		}
		if stored.Selected != w.job.Selected || !slices.Equal(stored.Pending, page) {
			return errTaken
		}
		w.job = stored
	}
	return busy("the replay")
}
