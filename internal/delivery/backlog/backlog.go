// Package backlog counts the waiting deliveries of an endpoint, and foretells which of them are lost
// if nothing changes. Health and lists show the numbers, and the review warns of a loss: both ask
// here. The package changes nothing.
package backlog

import (
	"context"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/drain"
)

const (
	// maxOldest bounds the parked deliveries of an endpoint that are read: one page of the index. The
	// others are counted.
	maxOldest = 100
	// maxSpans is the number of equal spans in which a long backlog is counted.
	maxSpans = 8
)

// Index finds waiting deliveries. It may lag a moment.
type Index interface {
	replay.Selector
	// Newest returns when the newest indexed delivery of the selection was created; zero without
	// one. It ignores After and Limit, and no selection of it is of delivered deliveries.
	Newest(ctx context.Context, s replay.Selection) (time.Time, error)
}

// Endpoint is an endpoint with what decides how fast its parked deliveries leave.
type Endpoint struct {
	hook.Endpoint

	Admits float64       // share of first attempts that may start now; 0: nothing leaves
	Width  int           // in-flight slots that parked deliveries have now; 0: they need none
	Mean   time.Duration // of recent answers; 0: not known
}

// pace returns how many parked deliveries the endpoint's limits let leave per second. known is false
// without a limit, for slots without a mean, and for a coalescing endpoint, whose limits are of
// requests with any number of deliveries.
func (e *Endpoint) pace() (perSecond float64, known bool) {
	if e.Admits == 0 {
		return 0, true
	}
	if e.Coalesce.On() {
		return 0, false
	}
	perSecond = math.Inf(1)
	if e.RatePerSecond > 0 {
		perSecond = e.RatePerSecond
	}
	if e.Width > 0 && e.Mean > 0 {
		perSecond = min(perSecond, float64(e.Width)/e.Mean.Seconds())
	}
	return perSecond, !math.IsInf(perSecond, 1)
}

// Counts are the waiting deliveries of an endpoint.
type Counts struct {
	Retrying, Parked int
	Oldest           hook.Delivery // of both; zero without any

	// Forecast is what becomes of them; nil without a known pace, or without any. Retrying ones count
	// among those at risk while nothing leaves, because they are parked when their attempts are due.
	Forecast *drain.Forecast
}

// Count counts the waiting deliveries of the endpoint. With an error, the counts are those so far.
//
// A parked delivery is counted once, and one request reads the oldest ones. If there are more than
// maxOldest at a known pace, Count asks for the newest, and counts in maxSpans spans, each with one
// request per shard and page.
func Count(ctx context.Context, index Index, e Endpoint, now time.Time) (c Counts, err error) {
	target := e.Widest()
	pace, known := e.pace()
	var parked parkedCount
	var retrying hook.Delivery // the oldest one
	group, grouped := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		c.Retrying, retrying, err = countRetrying(grouped, index, target)
		return err
	})
	group.Go(func() (err error) {
		parked, err = countParked(grouped, index, target, known && pace > 0, now)
		return err
	})
	err = group.Wait()
	c.Parked, c.Oldest = parked.n, Older(retrying, parked.oldest)
	if known && c.Parked+c.Retrying > 0 {
		f := drain.Of(parked.slices, e.MaxAge, pace, now)
		if pace == 0 && !retrying.CreatedAt.IsZero() {
			f.AtRisk, f.FirstLoss = f.AtRisk+c.Retrying, Earlier(f.FirstLoss, retrying.CreatedAt.Add(e.MaxAge))
		}
		if c.Parked > 0 || f.AtRisk > 0 {
			c.Forecast = &f
		}
	}
	return c, err
}

// countRetrying counts the retrying deliveries, and returns the oldest one; zero without one.
func countRetrying(ctx context.Context, index Index, target hook.Target) (n int, oldest hook.Delivery, err error) {
	s := replay.Selection{Target: target, State: hook.StateRetrying}
	if n, err = index.CountSelected(ctx, s); err != nil || n == 0 {
		return n, oldest, wrap("count retrying deliveries", target, err)
	}
	s.Limit = 1
	first, _, err := index.Select(ctx, s)
	for _, d := range first {
		oldest = d
	}
	return n, oldest, wrap("find oldest retrying delivery", target, err)
}

// parkedCount is a count of the parked deliveries of an endpoint.
type parkedCount struct {
	n      int
	oldest hook.Delivery // zero without any
	slices []drain.Slice // by age, the oldest delivery alone
}

// countParked counts the parked deliveries. A long backlog has slices by age only if it is asked for,
// else one. With an error, the counts are those so far.
func countParked(ctx context.Context, index Index, target hook.Target, byAge bool, now time.Time) (c parkedCount, err error) {
	all := replay.Selection{Target: target, State: hook.StateParked}
	page := all
	page.Limit = maxOldest
	oldest, next, err := index.Select(ctx, page)
	if err != nil {
		return c, wrap("find oldest parked deliveries", target, err)
	}
	c.n = len(oldest)
	for _, d := range oldest {
		c.slices = append(c.slices, drain.Slice{Newest: d.CreatedAt, N: 1})
	}
	if len(oldest) > 0 {
		c.oldest = oldest[0]
	}
	switch {
	case next == "":
		return c, nil
	case len(oldest) == 0:
		c.n, err = index.CountSelected(ctx, all)
		return c, wrap("count parked deliveries", target, err)
	}
	newest, spans := now, 1
	if byAge {
		spans = maxSpans
		if newest, err = index.Newest(ctx, all); err != nil {
			return c, wrap("find newest parked delivery", target, err)
		}
	}
	counted, err := countSpans(ctx, index, all, c.oldest.CreatedAt, newest, spans)
	counted[0].N = max(counted[0].N-1, 0)
	c.slices, c.n = append(c.slices[:1:1], counted...), 0
	for _, s := range c.slices {
		c.n += s.N
	}
	return c, wrap("count parked deliveries", target, err)
}

// countSpans counts the parked deliveries in equal spans from the oldest to the newest. The last
// span has no end, so that all are counted.
func countSpans(ctx context.Context, index Index, all replay.Selection, from, newest time.Time, spans int) ([]drain.Slice, error) {
	counted := make([]drain.Slice, spans)
	group, ctx := errgroup.WithContext(ctx)
	for i := range counted {
		end := func(i int) time.Time {
			return from.Add(newest.Sub(from) / time.Duration(spans) * time.Duration(i)).Truncate(time.Millisecond)
		}
		s := all
		if i > 0 {
			s.From = end(i)
		}
		counted[i].Newest = newest
		if i < spans-1 {
			s.To = end(i + 1)
			counted[i].Newest = s.To
		}
		group.Go(func() (err error) {
			counted[i].N, err = index.CountSelected(ctx, s)
			return err
		})
	}
	return counted, group.Wait()
}

// Earlier returns the earlier of two times; a zero time is none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Older returns the delivery with the earlier CreatedAt. A zero delivery counts as none.
func Older(a, b hook.Delivery) hook.Delivery {
	if a.CreatedAt.IsZero() || !b.CreatedAt.IsZero() && b.CreatedAt.Before(a.CreatedAt) {
		return b
	}
	return a
}

func wrap(action string, target hook.Target, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s of endpoint %s: %w", action, target.Endpoint, err)
}
