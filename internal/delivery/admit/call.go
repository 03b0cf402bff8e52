package admit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// call is one call of Fill or HandOver.
type call struct {
	*Releaser

	endpoint hook.Endpoint
	record   admission.Record
	parked   []hook.Delivery // parked just now: the index may not list them yet
	freed    []admission.Held
	kept     []admission.Held
	answers  []admission.Answer
	since    time.Time         // see Freed
	last     time.Time         // see Freed
	failed   bool              // see Freed
	read     *admission.Limits // the limits before the claim; nil: not read yet
	listed   []hook.Delivery   // the oldest parked deliveries without a lease; nil: not read yet
	fault    error             // of the last list: without one the slots are given back all the same

	tries    int              // of the write
	after    admission.Limits // the limits after the claim
	rateWait time.Duration    // until the next rate slot, if that is too far away for a claim; otherwise 0
}

// run writes the claims, and then sends their tasks.
func (c *call) run(ctx context.Context) (released int, err error) {
	table := c.limits()
	if c.read == nil {
		read, err := table.Read(ctx, c.record.Endpoint)
		if err != nil {
			return 0, err
		}
		c.read = &read
	}
	var chosen []admission.Claim
	_, c.after, err = table.UpdateFrom(ctx, *c.read, c.record.Endpoint, func(before admission.Limits) (next admission.Limits, write bool, err error) {
		if len(chosen) > 0 && before.Holds(chosen[0]) {
			return before, false, nil // the response to the write was lost
		}
		next, chosen = c.choose(ctx, before, c.Now())
		return next, true, nil
	})
	if err != nil {
		return 0, fmt.Errorf("claim slots of endpoint %s: %w", c.record.Endpoint, err)
	}
	released, err = c.send(ctx, chosen)
	return released, errors.Join(err, c.fault)
}

// choose returns the limits without the freed leases, with the kept ones as claims, and with the answers; and in the
// slots that are free then, claims for parked deliveries.
func (c *call) choose(ctx context.Context, before admission.Limits, now time.Time) (next admission.Limits, chosen []admission.Claim) {
	next = before.Live(now).End(c.freed...).Reclaim(c.kept...)
	for _, answer := range c.answers {
		if c.since.Equal(c.record.SpeedAt) {
			next = next.Answered(answer, c.record.InitialSlots(), c.since, now)
		}
	}
	width := c.width(next, now)
	c.tries++
	crowded := c.tries > patience && len(c.freed)+len(c.kept) > 0
	if crowded || width <= len(next.Leases) || !c.record.Waiting && len(c.parked) == 0 {
		return next, nil
	}
	waiting := next.Free(slices.Concat(c.listOnce(ctx, next), c.parked))
	admission.Order(waiting, now)
	next, chosen, c.rateWait = next.Claim(waiting, width, c.record.RateNow(&c.endpoint, now), c.maxWait(now), now)
	return next, chosen
}

// width returns through how many slots parked deliveries may be sent now, by the limits.
func (c *call) width(l admission.Limits, now time.Time) int {
	if !c.record.Passes(&c.endpoint, now) {
		return 0
	}
	return c.record.SlotsNow(l, c.record.Width(&c.endpoint, now), now)
}

// maxWait returns how long a claim may wait for a rate slot.
func (c *call) maxWait(now time.Time) time.Duration {
	if c.record.MostSlots(&c.endpoint, now) == 0 {
		return c.record.RateWait(&c.endpoint, now)
	}
	return maxSlotWait
}

// listOnce returns the prefetched list of parked deliveries the first time, and then reads a
// new one.
func (c *call) listOnce(ctx context.Context, l admission.Limits) (listed []hook.Delivery) {
	if listed, c.listed = c.listed, nil; listed != nil || c.fault != nil {
		return listed
	}
	limit := choice
	if len(c.freed) == 0 { // Fill
		limit = page
	}
	listed, c.fault = c.list(ctx, limit, Except{len(l.Leases), l.Leased})
	return listed
}

// list returns the oldest parked deliveries. After a failed attempt it prefers younger ones,
// from halfway between the creation of the failed delivery and now: so a burst of deliveries
// that always fail gets at most every second attempt of a slot.
func (c *call) list(ctx context.Context, limit int, leased Except) ([]hook.Delivery, error) {
	if c.failed {
		younger, err := c.parkedSince(ctx, c.last.Add(c.Now().Sub(c.last)/2), limit, leased)
		if err != nil || len(younger) > 0 {
			return younger, err
		}
	}
	return c.parkedSince(ctx, time.Time{}, limit, leased)
}

func (c *call) parkedSince(ctx context.Context, since time.Time, limit int, leased Except) ([]hook.Delivery, error) {
	listed, err := c.Store.Parked(ctx, c.endpoint.Widest(), since, limit, leased)
	if err != nil {
		return nil, fmt.Errorf("list parked deliveries: %w", err)
	}
	return listed, nil
}

// send sends the tasks of the claims to the queue overflow, because the shares in the queue slot
// are for deliveries that have not waited. If the queue refuses a task, its lease expires and
// the delivery stays parked.
func (c *call) send(ctx context.Context, chosen []admission.Claim) (released int, err error) {
	now := c.Now()
	due := func(claim admission.Claim) time.Time { // rounded up to whole seconds from now, the unit of the queue
		return now.Add((max(0, claim.At.Sub(now)) + time.Second - 1).Truncate(time.Second))
	}
	var errs []error
	for len(chosen) > 0 { // in the order of their times: those of one second go together
		at := due(chosen[0])
		var tasks []hook.Task
		for ; len(chosen) > 0 && due(chosen[0]).Equal(at); chosen = chosen[1:] {
			tasks = append(tasks, chosen[0].Task)
		}
		delay := max(0, at.Sub(c.Now())) // not from now: the previous send may have taken long
		for i, err := range c.Queue.Send(ctx, hook.QueueOverflow, tasks, delay) {
			if err != nil {
				released--
				errs = append(errs, fmt.Errorf("send task of %s: %w", tasks[i].Delivery, err))
			}
		}
		released += len(tasks)
	}
	return released, errors.Join(errs...)
}

// prefetch reads the endpoint's circuit and limits, and the oldest parked deliveries if some
// are known to wait, all at the same time, because a parked delivery waits for this hand-over. The list waits for the
// limits before it reads the records of deliveries without a lease.
func (c *call) prefetch(ctx context.Context, f Freed) error {
	group, groupCtx := errgroup.WithContext(ctx)
	var left admission.Limits
	known := make(chan struct{})
	if f.Leased > 0 {
		group.Go(func() error {
			c.listed, c.fault = c.list(groupCtx, choice, Except{f.Leased, func(d hook.DeliveryID) bool {
				<-known
				return left.Leased(d)
			}})
			return nil
		})
	}
	group.Go(func() (err error) {
		c.record, err = c.Store.Circuit(groupCtx, f.Tenant, f.ID)
		return err
	})
	group.Go(func() error {
		defer close(known)
		limits, err := c.Store.Limits(groupCtx, f.ID)
		c.read, left = &limits, limits.Live(c.Now()).End(f.Held...)
		return err
	})
	return group.Wait()
}
