package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/trace"
)

// ErrErased is the cause of refusing the repeat of an event whose payload was erased.
var ErrErased = errors.New("the event was erased")

// storeAndSend stores the events, sends the tasks and returns the results.
func (a *Acceptor) storeAndSend(ctx context.Context, known *listing, posts []post) []Result {
	events := byEvent(posts)
	a.giveNumbers(ctx, events)
	parallel.Each(len(events), concurrentWrites, func(i int) error {
		a.storeInOrder(ctx, events[i])
		return nil // each post holds its own error
	})
	a.sendTasks(ctx, known, posts, false)
	a.sendTasks(ctx, known, posts, true)
	results := make([]Result, 0, len(posts))
	for _, p := range posts {
		result := Result{Err: p.err}
		if p.err == nil {
			result = Result{ID: p.event.ID, Deliveries: len(p.event.Targets), Duplicate: p.duplicate, Trace: trace.Of(&p.event), Warnings: p.warnings}
		}
		results = append(results, result)
	}
	return results
}

// byEvent returns the valid posts, those with the same event together, in the order of the batch.
func byEvent(posts []post) [][]*post {
	var valid []*post
	for i := range posts {
		if posts[i].err == nil {
			valid = append(valid, &posts[i])
		}
	}
	return parallel.Groups(valid, func(p *post) hook.EventID { return p.event.ID })
}

// storeInOrder stores the first of the posts with one event; the others are its repeats, or
// conflicts. If it is unknown whether a post is stored, the later ones fail as well.
func (a *Acceptor) storeInOrder(ctx context.Context, posts []*post) {
	for i, p := range posts {
		if p.err == nil {
			p.err = a.storeEvent(ctx, p)
		}
		if p.err != nil && !errors.Is(p.err, p.refusal) && hook.CodeOf(p.err) != hook.CodeConflict {
			for _, later := range posts[i+1:] {
				later.err = p.err
			}
			return
		}
	}
}

// storeEvent writes the event. If the id exists, the stored event replaces that of the post.
// Its nonce tells whether it is an earlier event, so that the post is a duplicate, or this very
// write, whose response was lost.
//
// A refused post writes nothing. But if its event is already stored, it is a repeat and may
// send missing tasks.
func (a *Acceptor) storeEvent(ctx context.Context, p *post) error {
	if p.refusal != nil && p.event.IdempotencyKey == "" { // the id is new, so no such event is stored
		return p.refusal
	}
	if p.refusal == nil {
		err := a.Store.PutEvent(ctx, p.event)
		if err == nil {
			return nil
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return fmt.Errorf("store event %s: %w", p.event.ID, err)
		}
	}
	stored, err := a.Store.Event(ctx, p.event.ID)
	if p.refusal != nil && (hook.CodeOf(err) == hook.CodeNotFound || err == nil && stored.Expired(p.event.AcceptedAt)) {
		return p.refusal // PutEvent would have stored a new event
	}
	if err != nil {
		return fmt.Errorf("read event %s: %w", p.event.ID, err)
	}
	if stored.Erased() { // nothing is left to compare
		return &hook.Error{Code: hook.CodeConflict, Message: "the idempotency key was used before, and the payload was erased", Err: ErrErased}
	}
	if stored.Hash() != p.event.Hash() && (!p.ours || stored.Type != p.event.Type) {
		return hook.Conflict("the idempotency key was used before with another type or payload")
	}
	p.duplicate = stored.Nonce != p.event.Nonce
	p.event = stored
	return nil
}

// sendTasks sends the tasks of new events at once, or, after healDelay, the tasks of
// duplicates that may be missing.
func (a *Acceptor) sendTasks(ctx context.Context, known *listing, posts []post, duplicates bool) {
	now := a.Now()
	earliest := now
	if duplicates {
		earliest = now.Add(healDelay)
	}
	var sendings []sending
	var behind []numbered // do not have the turn, as far as their posts know
	for i := range posts {
		p := &posts[i]
		if p.err != nil || p.duplicate != duplicates {
			continue
		}
		missing, err := a.unrecordedTargets(ctx, p)
		if err != nil {
			p.err = err
			continue
		}
		for _, target := range missing {
			d := hook.QueuedDelivery(p.event, target)
			if d.Number > 0 && (p.duplicate || !slices.Contains(p.turns, target.Endpoint)) {
				behind = append(behind, numbered{p, d})
				continue
			}
			to := arrival{queue: hook.QueueLive, at: earliest}
			if e := known.endpoints[target.Endpoint]; e != nil && e.Coalesce.On() && !p.event.ID.IsTest() {
				to = coalesced(e.Coalesce, p.event, earliest)
			}
			sendings = append(sendings, sending{to, d.NextTask(), p})
		}
	}
	sendings = append(sendings, a.due(ctx, behind, arrival{queue: hook.QueueLive, at: earliest}, duplicates)...)
	// There are few arrivals, because all tasks of a window share one. Equal times have one form as a key.
	arrives := func(s sending) arrival { return arrival{s.to.queue, s.to.at.Round(0).UTC()} }
	for _, together := range parallel.Groups(sendings, arrives) {
		to, tasks := together[0].to, make([]hook.Task, len(together))
		for i, s := range together {
			tasks[i] = s.task
		}
		for i, err := range a.Queue.Send(ctx, to.queue, tasks, max(0, to.at.Sub(now))) {
			if p := together[i].owner; err != nil && p.err == nil {
				p.err = fmt.Errorf("send task of %s: %w", tasks[i].Delivery, err)
			}
		}
	}
}

// unrecordedTargets returns the targets that may need a first task: all targets of a new
// event, and those targets of a duplicate whose delivery has no record or is still queued.
func (a *Acceptor) unrecordedTargets(ctx context.Context, p *post) ([]hook.Target, error) {
	if !p.duplicate {
		return p.event.Targets, nil
	}
	deliveries, err := a.Store.Deliveries(ctx, p.event)
	if err != nil {
		return nil, fmt.Errorf("read deliveries of event %s: %w", p.event.ID, err)
	}
	recorded := make(map[hook.EndpointID]bool, len(deliveries))
	for _, d := range deliveries {
		recorded[d.ID.Endpoint] = recorded[d.ID.Endpoint] || d.State != hook.StateQueued
	}
	var missing []hook.Target
	for _, target := range p.event.Targets {
		if !recorded[target.Endpoint] {
			missing = append(missing, target)
		}
	}
	return missing, nil
}
