package replay

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook/internal/hook"
)

const (
	// saveTries bounds how often a record is written again after someone else wrote it.
	saveTries = 5
	// atOnce is how many records are read or written at the same time.
	atOnce = 16
)

// replaying is a delivery whose replay is asked for.
type replaying struct {
	delivery hook.Delivery // the one to be replayed; in the end, as the replay leaves it
	order    hook.ReplayRequest
	delay    time.Duration // of its token, in whole seconds

	sent    bool  // the token is on the way: the replay will be
	refused error // it cannot be replayed, or somebody else did; nothing is left to do
	failed  error // something of ours did not answer; it is to be tried again
}

// queued reports whether the delivery has no record. A replay of it is not
// another generation, but its first token once more.
func (p *replaying) queued() bool { return p.delivery.Version == 0 }

// ordered reports whether the record says that the replay was made by this
// order: written by us, or by function deliver, which found it in our token.
func (p *replaying) ordered(d hook.Delivery) bool {
	by := d.Replayed
	return by.Generation != 0 && by.Job == p.order.Job && by.JobIndex == p.order.JobIndex && by.By == p.order.By
}

func (p *replaying) token() hook.Token {
	if p.queued() {
		return hook.NewToken(p.delivery.Tenant, p.delivery.ID, 1)
	}
	t := hook.NewToken(p.delivery.Tenant, p.delivery.Successor(), 1)
	t.ReplayRequest = p.order
	return t
}

// enqueue sends the replays' tokens, and then records those that went. What
// came of each is in itself; those that are refused already are left out. Of a
// job, those that it recorded before count without another token.
func (r *Replayer) enqueue(ctx context.Context, all []*replaying) {
	now := r.now()
	var toSend, toRecord []*replaying
	for _, p := range all {
		if p.refused != nil {
			continue
		}
		if p.order.Job != "" && p.ordered(p.delivery) {
			p.sent = true
			toRecord = append(toRecord, p)
			continue
		}
		if _, p.refused = p.delivery.Replay(p.order, now); p.refused == nil {
			toSend = append(toSend, p)
		}
	}
	r.send(ctx, toSend)
	for _, p := range toSend {
		if p.sent && !p.queued() {
			toRecord = append(toRecord, p)
		}
	}
	_ = each(len(toRecord), func(i int) error {
		r.record(ctx, toRecord[i], now)
		return nil // it is in the replay itself
	})
}

// send sends the tokens, those with the same delay together.
func (r *Replayer) send(ctx context.Context, all []*replaying) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].delay == all[0].delay {
			n++
		}
		tokens := make([]hook.Token, n)
		for i, p := range all[:n] {
			tokens[i] = p.token()
		}
		errs := r.Queue.Send(ctx, hook.LaneReplay, tokens, all[0].delay)
		for i, p := range all[:n] {
			if errs != nil && errs[i] != nil {
				p.failed = fmt.Errorf("send token of %s: %w", tokens[i].Delivery, errs[i])
				continue
			}
			p.sent = true
		}
		all = all[n:]
	}
}

// record writes into the old record that it is replayed. Whatever anybody wrote
// since it was read, the token is out and will be taken: only that somebody
// else replayed it, or that it is gone, ends this.
func (r *Replayer) record(ctx context.Context, p *replaying, now time.Time) {
	d := p.delivery
	for range saveTries {
		if p.ordered(d) {
			p.delivery = d
			p.failed = r.supersede(ctx, d)
			return
		}
		next, refused := d.Replay(p.order, now)
		if refused != nil {
			p.refused = refused
			return
		}
		p.delivery = next // as the token makes it, if we cannot
		err := r.Store.SaveDelivery(ctx, next, nil)
		if err == nil {
			p.delivery.Version++
			p.failed = r.supersede(ctx, p.delivery)
			return
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			p.failed = fmt.Errorf("record replay of delivery %s: %w", d.ID, err)
			return
		}
		if d, err = r.Store.Delivery(ctx, next.ID); err != nil {
			err = fmt.Errorf("read delivery %s: %w", next.ID, err)
			if hook.CodeOf(err) == hook.CodeNotFound {
				p.refused = err
				return
			}
			p.failed = err
			return
		}
	}
	p.failed = busy("delivery " + d.ID.String())
}

// supersede sees to what follows when a replay took the place of a delivery in
// progress: that one is settled.
func (r *Replayer) supersede(ctx context.Context, d hook.Delivery) error {
	if !d.Superseded() {
		return nil
	}
	return r.settled(ctx, d)
}

func (r *Replayer) settled(ctx context.Context, d hook.Delivery) error {
	if err := r.Settlement.Complete(ctx, d); err != nil {
		return fmt.Errorf("see to what follows from delivery %s: %w", d.ID, err)
	}
	return nil
}

// now is the time in the milliseconds that times are stored in.
func (r *Replayer) now() time.Time { return r.Now().UTC().Truncate(time.Millisecond) }

func busy(what string) error {
	return &hook.Error{Code: hook.CodeUnavailable, Message: fmt.Sprintf("%s changed %d times meanwhile; try again", what, saveTries)}
}

// each calls f for 0 to n-1, atOnce at a time, and returns the first error.
// All are called, whatever became of the others.
func each(n int, f func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error { return f(i) })
	}
	return group.Wait() //nolint:wrapcheck // it is f's own
}
