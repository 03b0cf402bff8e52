// Package ingest accepts events: it stores each one once and sends one token
// per subscribed endpoint. An event is accepted when every token is on the
// queue, not before; a client that saw no answer asks again with the same
// idempotency key and whatever is missing is made up for.
//
// It knows nothing of HTTP, of attempts or of how tokens travel.
package ingest

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook/internal/hook"
)

const (
	// healDelay holds back the tokens that are sent again for a repeated post,
	// so that those already on their way win.
	healDelay = time.Minute
	// concurrentWrites bounds the events of a batch written at the same time.
	concurrentWrites = 16
)

// Request is one event to accept.
type Request struct {
	Type           string
	Payload        []byte // a JSON value; its exact bytes are delivered
	IdempotencyKey string // empty for none
	TraceParent    string // W3C traceparent, empty for none
}

// Result is what became of a request.
type Result struct {
	ID         hook.EventID
	Deliveries int  // endpoints the event goes to
	Duplicate  bool // the idempotency key was used before, with the same content
	Err        error
}

// Acceptor accepts events.
type Acceptor struct {
	Store     Store
	Queue     Queue
	Directory *Directory
	Retention time.Duration // how long events are kept
	Now       func() time.Time
	NewID     func() (hook.EventID, error)
}

// Accept accepts one event of the tenant. Errors: CodeInvalid names the wrong
// fields; CodeConflict when the idempotency key was used with other content;
// CodeUnavailable when it is not certain that every delivery will happen, and
// the client must ask again.
func (a *Acceptor) Accept(ctx context.Context, tenant hook.TenantID, r Request) (Result, error) {
	result := a.AcceptBatch(ctx, tenant, []Request{r})[0]
	return result, result.Err
}

// AcceptBatch accepts each request for itself; one that fails has its Err set
// and does not touch the others.
func (a *Acceptor) AcceptBatch(ctx context.Context, tenant hook.TenantID, requests []Request) []Result {
	endpoints, err := a.Directory.endpoints(ctx, tenant)
	if err != nil {
		results := make([]Result, len(requests))
		for i := range results {
			results[i].Err = fmt.Errorf("find endpoints of tenant %s: %w", tenant, err)
		}
		return results
	}
	now := a.Now()
	posts := make([]post, len(requests))
	for i, r := range requests {
		posts[i] = a.prepare(tenant, r, now)
		posts[i].event.Targets = targets(endpoints, r.Type)
	}
	return a.finish(ctx, posts)
}

// AcceptFor accepts an event of ours for one endpoint, whatever it subscribes to.
func (a *Acceptor) AcceptFor(ctx context.Context, e hook.Endpoint, eventType string, payload []byte) (Result, error) {
	p := a.newPost(e.Tenant, Request{Type: eventType, Payload: payload}, a.Now())
	p.event.Targets = []hook.EndpointID{e.ID}
	result := a.finish(ctx, []post{p})[0]
	return result, result.Err
}

// ourKeys begins the idempotency keys of events of ours. No caller's key has a space.
const ourKeys = "surehook "

// AcceptOurs accepts an event of ours for the tenant's endpoints that subscribe
// to its type, once per key. Without any there is no event, and the result is zero.
func (a *Acceptor) AcceptOurs(
	ctx context.Context, tenant hook.TenantID, eventType string, payload []byte, key string,
) (Result, error) {
	endpoints, err := a.Directory.endpoints(ctx, tenant)
	if err != nil {
		return Result{}, fmt.Errorf("find endpoints of tenant %s: %w", tenant, err)
	}
	p := a.newPost(tenant, Request{Type: eventType, Payload: payload, IdempotencyKey: ourKeys + key}, a.Now())
	if p.event.Targets = targets(endpoints, eventType); len(p.event.Targets) == 0 {
		return Result{}, nil
	}
	result := a.finish(ctx, []post{p})[0]
	return result, result.Err
}

// post is one request on its way through: the event to be stored, then the
// event as it is stored.
type post struct {
	event     hook.Event
	duplicate bool
	err       error
}

func (a *Acceptor) prepare(tenant hook.TenantID, r Request, now time.Time) post {
	p := a.newPost(tenant, r, now)
	if fields := hook.ValidateEvent(p.event); len(fields) > 0 {
		p.err = hook.Invalid(fields...)
	}
	return p
}

func (a *Acceptor) newPost(tenant hook.TenantID, r Request, now time.Time) post {
	p := post{event: hook.Event{
		Tenant:         tenant,
		Type:           r.Type,
		Payload:        r.Payload,
		TraceParent:    r.TraceParent,
		IdempotencyKey: r.IdempotencyKey,
		AcceptedAt:     now,
		ExpiresAt:      now.Add(a.Retention),
		Nonce:          hook.NewNonce(),
	}}
	if r.IdempotencyKey != "" {
		p.event.ID = hook.KeyedEventID(tenant, r.IdempotencyKey)
	} else {
		p.event.ID, p.err = a.NewID()
	}
	return p
}

// finish stores the events, sends their tokens and says what became of each.
func (a *Acceptor) finish(ctx context.Context, posts []post) []Result {
	var group errgroup.Group
	group.SetLimit(concurrentWrites)
	for i := range posts {
		if posts[i].err != nil {
			continue
		}
		group.Go(func() error {
			posts[i].err = a.store(ctx, &posts[i])
			return nil // each post carries its own error
		})
	}
	_ = group.Wait()
	a.sendTokens(ctx, posts, false)
	a.sendTokens(ctx, posts, true)
	results := make([]Result, 0, len(posts))
	for _, p := range posts {
		result := Result{Err: p.err}
		if p.err == nil {
			result = Result{ID: p.event.ID, Deliveries: len(p.event.Targets), Duplicate: p.duplicate}
		}
		results = append(results, result)
	}
	return results
}

// store writes the event. If its id is taken, the stored event takes its
// place: as a duplicate, or as our own write whose answer was lost.
func (a *Acceptor) store(ctx context.Context, p *post) error {
	err := a.Store.PutEvent(ctx, p.event)
	if err == nil {
		return nil
	}
	if hook.CodeOf(err) != hook.CodeConflict {
		return fmt.Errorf("store event %s: %w", p.event.ID, err)
	}
	stored, err := a.Store.Event(ctx, p.event.ID)
	if err != nil {
		return fmt.Errorf("read event %s: %w", p.event.ID, err)
	}
	if stored.Hash() != p.event.Hash() {
		return hook.Conflict("the idempotency key was used before with another type or payload")
	}
	p.duplicate = stored.Nonce != p.event.Nonce
	p.event = stored
	return nil
}

// sendTokens sends the tokens of the fresh posts at once, or those that the
// duplicates may lack after a while.
func (a *Acceptor) sendTokens(ctx context.Context, posts []post, duplicates bool) {
	var (
		tokens []hook.Token
		owner  []*post
	)
	for i := range posts {
		p := &posts[i]
		if p.err != nil || p.duplicate != duplicates {
			continue
		}
		missing, err := a.unrecorded(ctx, p)
		if err != nil {
			p.err = err
			continue
		}
		for _, endpoint := range missing {
			id := hook.DeliveryID{Event: p.event.ID, Endpoint: endpoint, Generation: 1}
			tokens = append(tokens, hook.NewToken(p.event.Tenant, id, 1))
			owner = append(owner, p)
		}
	}
	if len(tokens) == 0 {
		return
	}
	var delay time.Duration
	if duplicates {
		delay = healDelay
	}
	for i, err := range a.Queue.Send(ctx, hook.LaneLive, tokens, delay) {
		if err != nil && owner[i].err == nil {
			owner[i].err = fmt.Errorf("send token of %s: %w", tokens[i].Delivery, err)
		}
	}
}

// unrecorded returns the targets that may still need a first token: all of a
// fresh event, those without a delivery record of a duplicate.
func (a *Acceptor) unrecorded(ctx context.Context, p *post) ([]hook.EndpointID, error) {
	if !p.duplicate {
		return p.event.Targets, nil
	}
	deliveries, err := a.Store.Deliveries(ctx, p.event.ID)
	if err != nil {
		return nil, fmt.Errorf("read deliveries of event %s: %w", p.event.ID, err)
	}
	recorded := make(map[hook.EndpointID]bool, len(deliveries))
	for _, d := range deliveries {
		recorded[d.ID.Endpoint] = true
	}
	var missing []hook.EndpointID
	for _, target := range p.event.Targets {
		if !recorded[target] {
			missing = append(missing, target)
		}
	}
	return missing, nil
}

func targets(endpoints []hook.Endpoint, eventType string) []hook.EndpointID {
	var ids []hook.EndpointID
	for _, e := range endpoints {
		if e.Subscribes(eventType) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}
