// Package ingest accepts events: it stores each event once, and sends one task per subscribed
// endpoint.
//
// # Acceptance
//
// An event is accepted when the queue has every task. If the client gets no response, it posts
// the event again with the same idempotency key, and the repeated post sends the missing
// tasks. So a crash between writing the event and sending the last task loses no delivery.
//
// # Boundaries
//
// The package knows nothing of HTTP, of attempts, or of how tasks are transported.
package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/trace"
	"surehook.example/surehook/internal/store"
)

const (
	// healDelay delays the tasks of a repeated post, so that those of the first post arrive
	// first.
	healDelay = time.Minute
	// concurrentWrites limits the events of a batch written at the same time.
	concurrentWrites = 16
)

// Request is one event to accept.
type Request struct {
	Type           string
	Payload        []byte // a JSON value, delivered byte for byte
	IdempotencyKey string // empty for none
	OrderingKey    string // of events that ordered endpoints get one after the other; empty for none
	TraceParent    string // W3C traceparent, empty for none
	// RetainFor is the retention that the event asks for, from hook.MinRetention to the
	// environment's; 0 for none. A shorter retention of the tenant takes precedence.
	RetainFor time.Duration
	// Wrong has the malformed fields, which are absent above. They are reported with the other
	// wrong fields, and the event is refused.
	Wrong []hook.FieldError
}

// Result is the result of a request.
type Result struct {
	ID         hook.EventID
	Deliveries int  // number of target endpoints
	Duplicate  bool // an earlier request had the same idempotency key and content
	Trace      trace.Trace
	// Warnings say why the event does not fit its event type, or cannot be ordered. The event is accepted.
	Warnings []hook.FieldError
	Err      error
}

// Acceptor accepts events.
type Acceptor struct {
	Store     Store
	Queue     settle.TaskQueue
	Directory *Directory
	Types     *Types        // nil: no event is checked against event types
	Retention time.Duration // of the environment: the longest that an event can have
	Now       func() time.Time
	Wait      store.Wait // between two tries of a write; nil: by the real clock
	NewID     func() hook.EventID
}

// Accept accepts one event of the tenant. CodeInvalid names the wrong fields. CodeConflict
// means an earlier event with the same idempotency key and other content. CodeThrottled and
// CodeForbidden mean a limit of the tenant. CodeMismatch means that the event does not fit its
// event type. CodeUnavailable means that some tasks may be missing, and the client must post
// the event again.
func (a *Acceptor) Accept(ctx context.Context, tenant hook.TenantID, r Request) (Result, error) {
	result := a.AcceptBatch(ctx, tenant, []Request{r})[0]
	return result, result.Err
}

// AcceptBatch accepts each request independently: a failed one has Err set and does not affect
// the others. If the valid requests exceed the tenant's limit of events per second, all of them
// fail with CodeThrottled. When MaxFilterSteps are used up, a request fails with CodeTooLarge,
// and nothing of it is stored.
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
		posts[i] = a.preparePost(tenant, known.limits, r, now)
	}
	a.spend(ctx, tenant, known.limits, posts, now)
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

// judge sets the targets of a valid post, and its refusal or warnings. Filters and schemas take
// the most work, so everything else is checked before.
func (p *post) judge(known *listing, types types, left *budget) {
	p.event.Targets, p.refusal = known.targets(p.event.Type, p.event.Payload, &left.filters)
	if p.refusal == nil {
		types.check(p, &left.checks)
	}
	p.event.Numbers = known.ordered(&p.event)
	if p.event.OrderingKey != "" && p.event.Numbers == nil {
		p.warnings = append(p.warnings, hook.FieldError{Field: "ordering_key", Message: "no endpoint that gets the event is ordered"})
	}
	if n, most := len(p.event.Targets), known.limits.MostDeliveries(); p.refusal == nil && n > most {
		p.refusal = hook.TooManyDeliveries(n, most)
	}
}

// register makes an unknown tenant known before its first event is stored. This takes one write
// per tenant. After a crash the tenant may be known without having an event.
func (a *Acceptor) register(ctx context.Context, tenant hook.TenantID, known *listing, posts []post) {
	if known.mark.Version != 0 || !anyValid(posts) {
		return
	}
	if err := a.Store.RegisterTenant(ctx, tenant); err != nil {
		failValid(posts, fmt.Errorf("register tenant %s: %w", tenant, err))
	}
}

// AcceptFor accepts a test event for one endpoint, whatever the endpoint subscribes to. Its id has
// the mark of a test. named: only a body that names the type may carry the payload.
// The event counts towards the tenant's limit of events per second, because a caller asked for
// it, and a tenant can send TestsPerMinute: nothing but max_in_flight holds a test event back.
func (a *Acceptor) AcceptFor(ctx context.Context, e hook.Endpoint, eventType string, payload []byte, named bool) (Result, error) {
	known, err := a.Directory.list(ctx, e.Tenant)
	if err != nil {
		return Result{}, fmt.Errorf("find limits of tenant %s: %w", e.Tenant, err)
	}
	now := a.Now()
	posts := []post{a.newPost(e.Tenant, known.limits, Request{Type: eventType, Payload: payload}, now)}
	posts[0].event.ID = posts[0].event.ID.ForTest(named)
	posts[0].event.Targets = []hook.Target{e.Target()}
	a.spend(ctx, e.Tenant, known.limits, posts, now)
	a.spendTest(ctx, e.Tenant, posts, now)
	result := a.storeAndSend(ctx, known, posts)[0]
	return result, result.Err
}

// ourKeys is the prefix of the idempotency keys of Surehook's own events. It ends with a space,
// which no key of a client can contain.
const ourKeys = "surehook "

// AcceptOurs accepts an event of Surehook for the tenant's endpoints that subscribe to its
// type, once per key and type. A call with the same key and another payload is also a
// duplicate: the first payload stays, and missing tasks are sent. If no endpoint subscribes,
// no event is stored, and the Result is zero. The tenant's limits do not apply; of more than
// hook.MaxTargets endpoints, the first get the event.
func (a *Acceptor) AcceptOurs(
	ctx context.Context, tenant hook.TenantID, eventType string, payload []byte, key string,
) (Result, error) {
	known, err := a.Directory.list(ctx, tenant)
	if err != nil {
		return Result{}, fmt.Errorf("find endpoints of tenant %s: %w", tenant, err)
	}
	r := Request{Type: eventType, Payload: payload, IdempotencyKey: ourKeys + key}
	p := a.newPost(tenant, known.limits, r, a.Now())
	p.ours = true
	left := newBudget()
	if p.event.Targets, p.err = known.targets(eventType, payload, &left.filters); len(p.event.Targets) == 0 {
		return Result{}, p.err
	}
	p.event.Targets = p.event.Targets[:min(len(p.event.Targets), hook.MaxTargets)]
	result := a.storeAndSend(ctx, known, []post{p})[0]
	return result, result.Err
}

// post is one request with the event to store. For a duplicate, storeEvent replaces the event
// by the stored one.
type post struct {
	event     hook.Event
	duplicate bool
	ours      bool  // by AcceptOurs: the key and the type alone name the event
	refusal   error // applies only if the event is new
	warnings  []hook.FieldError
	turns     []hook.EndpointID // the endpoints whose delivery is the next one of its ordering key
	err       error
}

func anyValid(posts []post) bool {
	return slices.ContainsFunc(posts, func(p post) bool { return p.err == nil })
}

// failValid fails the valid posts with the error.
func failValid(posts []post, err error) {
	for i := range posts {
		if posts[i].err == nil {
			posts[i].err = err
		}
	}
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
		OrderingKey:    r.OrderingKey,
		AcceptedAt:     now,
		ExpiresAt:      now.Add(l.Retention(a.Retention, r.RetainFor)),
		Nonce:          hook.NewNonce(),
	}}
	if r.IdempotencyKey != "" {
		p.event.ID = hook.KeyedEventID(tenant, r.IdempotencyKey)
	} else {
		p.event.ID = a.NewID()
	}
	return p
}
