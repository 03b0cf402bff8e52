// Package backlog counts the waiting and dead deliveries of an endpoint, and foretells which of the
// waiting ones are lost if nothing changes. Health and lists show the numbers, and the review warns of
// a loss: both ask here. The package changes nothing.
//
// A look counts up to Exact deliveries of each state. Of more, a review counts all of them, and keeps
// the Tally with the endpoint's circuit: a look shows it, with its time.
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
	// Exact is how many deliveries of a state a look counts of an endpoint with one shard; of several, it
	// is leastRows of each at least.
	Exact = 100
	// leastRows are read for the least price of a request, half a read unit.
	leastRows = 20
)

// Row is a delivery in the index.
type Row struct {
	ID        hook.DeliveryID
	State     hook.State
	CreatedAt time.Time
}

// Index finds retrying, parked and dead deliveries. It may lag a moment.
type Index interface {
	// Oldest returns the oldest rows of the selection, at most Limit of each shard, the oldest first.
	// more is true if a shard has more. It ignores After.
	Oldest(ctx context.Context, s replay.Selection) (rows []Row, more bool, err error)
	// Newest returns when the newest indexed delivery of the selection was created; zero without
	// one. It ignores After and Limit.
	Newest(ctx context.Context, s replay.Selection) (time.Time, error)
	// CountSelected returns the number of indexed deliveries in the selection. It ignores After and
	// Limit. With an error the number is the count so far.
	CountSelected(ctx context.Context, s replay.Selection) (int, error)
}

// Endpoint is an endpoint with what decides how fast its parked deliveries leave.
type Endpoint struct {
	hook.Endpoint

	Passes bool          // deliveries may start now; otherwise nothing leaves
	Rate   float64       // attempts per second now; 0: no limit
	Width  int           // in-flight slots that parked deliveries have now; 0: they need none
	Mean   time.Duration // of recent answers; 0: not known
}

// pace returns how many parked deliveries the endpoint's limits let leave per second. known is false
// without a limit, for slots without a mean, and for a coalescing endpoint, whose limits are of
// requests with any number of deliveries.
func (e *Endpoint) pace() (perSecond float64, known bool) {
	if !e.Passes {
		return 0, true
	}
	if e.Coalesce.On() {
		return 0, false
	}
	perSecond = math.Inf(1)
	if e.Rate > 0 {
		perSecond = e.Rate
	}
	if e.Width > 0 && e.Mean > 0 {
		perSecond = min(perSecond, float64(e.Width)/e.Mean.Seconds())
	}
	return perSecond, !math.IsInf(perSecond, 1)
}

// Look is what the index shows of an endpoint for a few read units.
type Look struct{ retrying, parked, dead found }

// found are the oldest deliveries in a state.
type found struct {
	rows []Row
	more bool // there are others
}

// LookAt makes a request for each of three states and each shard of the endpoint.
func LookAt(ctx context.Context, index Index, target hook.Target) (Look, error) {
	var l Look
	group, ctx := errgroup.WithContext(ctx)
	for _, of := range []struct {
		state hook.State
		found *found
	}{{hook.StateRetrying, &l.retrying}, {hook.StateParked, &l.parked}, {hook.StateDead, &l.dead}} {
		group.Go(func() (err error) {
			s := replay.Selection{Target: target, State: of.state, Limit: leastRows * max(1, Exact/leastRows/max(1, target.Shards))}
			if of.found.rows, of.found.more, err = index.Oldest(ctx, s); err != nil {
				return fmt.Errorf("find %s deliveries of endpoint %s: %w", of.state, target.Endpoint, err)
			}
			return nil
		})
	}
	return l, group.Wait()
}

// Whole reports whether the look shows all deliveries.
func (l *Look) Whole() bool { return !l.retrying.more && !l.parked.more && !l.dead.more }

// Counted says how far counts of deliveries are to be trusted.
type Counted struct {
	Complete bool      `json:"complete"`       // false: they are lower bounds
	AsOf     time.Time `json:"as_of,omitzero"` // when a review counted some of them, the earliest; zero: all are of now
}

// Add lets c speak of other counts, too.
func (c *Counted) Add(other Counted) {
	c.AsOf, c.Complete = Earlier(c.AsOf, other.AsOf), c.Complete && other.Complete
}

// Counts are the waiting and dead deliveries of an endpoint.
type Counts struct {
	Retrying, Parked, Dead int
	Oldest                 Row // of the waiting ones; zero without any
	Counted

	// Forecast is what becomes of the waiting ones; nil without a known pace, or without any. Retrying
	// ones count among those at risk while nothing leaves, because they are parked when their attempts
	// are due.
	Forecast *drain.Forecast
}

// Counts returns the numbers of the look, and those of the tally where the look does not show all.
func (l *Look) Counts(e Endpoint, t drain.Tally, now time.Time) Counts {
	c := Counts{Oldest: oldest(l.retrying, l.parked), Counted: Counted{Complete: true}}
	c.Retrying = c.number(l.retrying, t, t.Retrying)
	c.Parked = c.number(l.parked, t, t.Parked.Sum())
	c.Dead = c.number(l.dead, t, t.Dead)
	pace, known := e.pace()
	switch {
	case !known:
	case pace == 0 && c.Parked+c.Retrying > 0:
		c.Forecast = &drain.Forecast{AtRisk: c.Parked + c.Retrying, FirstLoss: c.Oldest.CreatedAt.Add(e.MaxAge)}
	case pace > 0 && c.Parked > 0:
		slices, at := l.parked.slices(), now
		if c.Parked > len(slices) {
			slices, at = t.Slices(), t.At
		}
		f := drain.Of(slices, e.MaxAge, pace, at)
		c.Forecast = &f
	}
	return c
}

// number returns how many deliveries were found, or were counted if not all were found.
func (c *Counts) number(f found, t drain.Tally, counted int) int {
	switch {
	case !f.more:
		return len(f.rows)
	case counted < len(f.rows): // before there were so many
		c.Complete = false
		return len(f.rows)
	}
	c.AsOf, c.Complete = t.At, c.Complete && !t.Partial
	return counted
}

// oldest returns the oldest row that was found; zero without any.
func oldest(all ...found) (oldest Row) {
	for _, f := range all {
		if len(f.rows) > 0 && (oldest.ID == hook.DeliveryID{} || f.rows[0].CreatedAt.Before(oldest.CreatedAt)) {
			oldest = f.rows[0]
		}
	}
	return oldest
}

func (f found) slices() []drain.Slice {
	slices := make([]drain.Slice, len(f.rows))
	for i, r := range f.rows {
		slices[i] = drain.Slice{Newest: r.CreatedAt, N: 1}
	}
	return slices
}

// Count counts all deliveries of the states of which the look does not show all, parked ones in spans of
// age. It reads 20 for half a read unit. With an error, the tally has those so far.
func (l *Look) Count(ctx context.Context, index Index, target hook.Target, now time.Time) (t drain.Tally, err error) {
	t.At = now
	all := func(state hook.State) replay.Selection { return replay.Selection{Target: target, State: state} }
	if l.parked.more {
		t.Oldest = oldest(l.parked).CreatedAt
		if t.Newest, err = index.Newest(ctx, all(hook.StateParked)); err != nil {
			return t, fmt.Errorf("find newest parked delivery of endpoint %s: %w", target.Endpoint, err)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	count := func(s replay.Selection, n *int) {
		group.Go(func() (err error) {
			if *n, err = index.CountSelected(ctx, s); err != nil {
				return fmt.Errorf("count %s deliveries of endpoint %s: %w", s.State, target.Endpoint, err)
			}
			return nil
		})
	}
	if l.retrying.more {
		count(all(hook.StateRetrying), &t.Retrying)
	}
	if l.dead.more {
		count(all(hook.StateDead), &t.Dead)
	}
	if l.parked.more {
		s := all(hook.StateParked)
		for i := range t.Parked {
			if s.To = t.End(i); i == drain.Spans-1 {
				s.To = time.Time{} // also those parked since
			}
			count(s, &t.Parked[i])
			s.From = s.To
		}
	}
	return t, group.Wait()
}

// Earlier returns the earlier of two times; a zero time is none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
