// Package ingest accepts events. For each event, the package stores the event once
// and sends one token per subscribed endpoint.
//
// # Acceptance
//
// An event is accepted when the queue holds every token. Without a response, the
// client posts the event again with the same idempotency key, and the repeated
// post sends the missing tokens. So a crash between the write of the event and
// the last token loses no delivery.
//
// # Boundaries
//
// Package ingest knows no HTTP, attempts or transport of tokens.
package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/trace"
)

const (
	// healDelay delays the tokens of a repeated post, so that the tokens of the first
	// post arrive first.
	healDelay = time.Minute
	// concurrentWrites limits the events of a batch written at the same time.
	concurrentWrites = 16
)

// Request is one event to accept.
type Request struct {
	Type           string
	Payload        []byte // a JSON value, delivered byte for byte
	IdempotencyKey string // empty for none
	TraceParent    string // W3C traceparent, empty for none
	// RetainFor is the retention of the event, from hook.MinRetention to the
	// environment's; 0 for none. A shorter retention of the tenant takes precedence.
	RetainFor time.Duration
	// Wrong has the fields of a wrong form, absent above. They are reported with the
	// other wrong fields, and the event is refused.
	Wrong []hook.FieldError
}

// Result is the result of a request.
type Result struct {
	ID         hook.EventID
	Deliveries int  // number of target endpoints
	Duplicate  bool // an earlier request had the same idempotency key and content
	Trace      trace.Trace
	// Warnings say why the event does not fit its event type. The event is accepted.
	Warnings []hook.FieldError
	Err      error
}

// Acceptor accepts events.
type Acceptor struct {
	Store     Store
	Queue     Queue
	Directory *Directory
	Types     *Types        // nil: no event is checked against event types
	Retention time.Duration // the environment's, the longest of an event
	Now       func() time.Time
	NewID     func() (hook.EventID, error)
}

// Accept accepts one event of the tenant. Errors: CodeInvalid names the wrong
// fields; CodeConflict means an earlier event with the same idempotency key and
// other content; CodeThrottled and CodeForbidden mean a limit of the tenant;
// CodeUnavailable means that some deliveries are uncertain and the client must repeat
// the post; CodeMismatch means an event that the event type refuses.
func (a *Acceptor) Accept(ctx context.Context, tenant hook.TenantID, r Request) (Result, error) {
	result := a.AcceptBatch(ctx, tenant, []Request{r})[0]
	return result, result.Err
}

// AcceptBatch accepts each request independently. A failed request has Err set and
// does not affect the others. Past the tenant's limit of events per second, every
// valid request fails with CodeThrottled. Past MaxFilterSteps a request fails with
// CodeTooLarge, and nothing of it is stored.
func (a *Acceptor) AcceptBatch(ctx context.Context, tenant hook.TenantID, requests []Request) []Result {
	known, err := a.Directory.list(ctx, tenant)
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
		posts[i] = a.preparePost(tenant, known.Limits, r, now)
	}
	a.spend(ctx, tenant, known.Limits, posts, now)
	types := a.Types.find(ctx, posts, now)
	left := newBudget()
	for i := range posts {
		if posts[i].err == nil {
			posts[i].judge(known, types, left)
		}
	}
	a.register(ctx, tenant, known, posts)
	return a.storeAndSend(ctx, known, posts)
}

// judge sets the targets, and the refusal or the warnings of a valid post. Filters and
// schemas take the most work, so all else comes before them.
func (p *post) judge(known listing, types types, left *budget) {
	p.event.Targets, p.refusal = known.targets(p.event.Type, p.event.Payload, &left.filters)
	if p.refusal == nil {
		types.check(p, &left.checks)
	}
	if n := len(p.event.Targets); p.refusal == nil && known.Limits.DeliveriesPerEvent > 0 && n > known.Limits.DeliveriesPerEvent {
		p.refusal = known.Limits.TooManyDeliveries(n)
	}
}

// register makes an unknown tenant known before its first event: one write per tenant.
// After a crash, the tenant is known and has no event.
func (a *Acceptor) register(ctx context.Context, tenant hook.TenantID, known listing, posts []post) {
	if known.Version != 0 || !anyValid(posts) {
		return
	}
	if err := a.Store.RegisterTenant(ctx, tenant); err != nil {
		for i := range posts {
			if posts[i].err == nil {
				posts[i].err = fmt.Errorf("register tenant %s: %w", tenant, err)
			}
		}
	}
}

// AcceptFor accepts an event of Surehook for one endpoint, without regard to the
// endpoint's subscriptions. The event counts for the tenant's limit of events per
// second, because a caller asks for the event.
func (a *Acceptor) AcceptFor(ctx context.Context, e hook.Endpoint, eventType string, payload []byte) (Result, error) {
	known, err := a.Directory.list(ctx, e.Tenant)
	if err != nil {
		return Result{}, fmt.Errorf("find limits of tenant %s: %w", e.Tenant, err)
	}
	now := a.Now()
	posts := []post{a.newPost(e.Tenant, known.Limits, Request{Type: eventType, Payload: payload}, now)}
	posts[0].event.Targets = []hook.Target{e.Target()}
	a.spend(ctx, e.Tenant, known.Limits, posts, now)
	result := a.storeAndSend(ctx, known, posts)[0]
	return result, result.Err
}

// ourKeys is the prefix of the idempotency keys of Surehook's own events. The
// prefix ends in a space. No key from a client holds a space.
const ourKeys = "surehook "

// AcceptOurs accepts an event of Surehook for the tenant's endpoints with a
// subscription to the type, once per key and type. A call with the key and another
// payload is a duplicate as well: the first payload stays, and the missing tokens are
// sent. Without such an endpoint AcceptOurs
// stores no event and returns the zero Result. The tenant's limits do not apply.
func (a *Acceptor) AcceptOurs(
	ctx context.Context, tenant hook.TenantID, eventType string, payload []byte, key string,
) (Result, error) {
	known, err := a.Directory.list(ctx, tenant)
	if err != nil {
		return Result{}, fmt.Errorf("find endpoints of tenant %s: %w", tenant, err)
	}
	r := Request{Type: eventType, Payload: payload, IdempotencyKey: ourKeys + key}
	p := a.newPost(tenant, known.Limits, r, a.Now())
	p.ours = true
	left := newBudget()
	if p.event.Targets, p.err = known.targets(eventType, payload, &left.filters); len(p.event.Targets) == 0 {
		return Result{}, p.err
	}
	result := a.storeAndSend(ctx, known, []post{p})[0]
	return result, result.Err
}

// post is one request with the event to store. store replaces a duplicate by the
// stored event.
type post struct {
	event     hook.Event
	duplicate bool
	ours      bool  // by AcceptOurs: the key and the type alone name the event
	refusal   error // of a new event
	warnings  []hook.FieldError
	err       error
}

func anyValid(posts []post) bool {
	return slices.ContainsFunc(posts, func(p post) bool { return p.err == nil })
}

func (a *Acceptor) preparePost(tenant hook.TenantID, l hook.TenantLimits, r Request, now time.Time) post {
	p := a.newPost(tenant, l, r, now)
	fields := append(hook.ValidateEvent(p.event), hook.ValidateRetainFor(r.RetainFor, a.Retention)...)
	if fields = hook.AlsoWrong(r.Wrong, fields); len(fields) > 0 {
		p.err = hook.Invalid(fields...)
	}
	return p
}

func (a *Acceptor) newPost(tenant hook.TenantID, l hook.TenantLimits, r Request, now time.Time) post {
	p := post{event: hook.Event{
		Tenant:         tenant,
		Type:           r.Type,
		Payload:        r.Payload,
		TraceParent:    r.TraceParent,
		IdempotencyKey: r.IdempotencyKey,
		AcceptedAt:     now,
		ExpiresAt:      now.Add(l.Retention(a.Retention, r.RetainFor)),
		Nonce:          hook.NewNonce(),
	}}
	if r.IdempotencyKey != "" {
		p.event.ID = hook.KeyedEventID(tenant, r.IdempotencyKey)
	} else {
		p.event.ID, p.err = a.NewID()
	}
	return p
}
