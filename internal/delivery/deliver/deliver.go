package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/send"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/sign"
)

// settleReserve is what an attempt must leave of the invocation's time to settle in.
const settleReserve = 5 * time.Second

// Message is a token as the queue hands it over.
type Message struct {
	ID   string
	Body string
}

// Deliverer works on batches of tokens. All fields are needed; without an
// environment in Metrics there are none.
type Deliverer struct {
	Store       Store
	Queue       Queue
	Schedules   Schedules
	DeadLetters DeadLetters
	Vault       Vault
	Sender      Sender
	Gate        Gate
	Settlement  Settlement
	Notifier    Notifier
	Metrics     emf.Set
	Log         *slog.Logger
	Now         func() time.Time
}

// ProcessBatch works on the messages, concurrently, and returns the ids of those that
// must come again. A message that fails does not touch the others.
func (d *Deliverer) ProcessBatch(ctx context.Context, messages []Message) (failed []string) {
	errs := make([]error, len(messages))
	work, tokens := d.decodeTokens(messages, errs)
	if len(tokens) > 0 {
		snapshot, err := d.Store.Load(ctx, tokens)
		if err != nil {
			err = fmt.Errorf("load what %d tokens are about: %w", len(tokens), err)
			for i := range work {
				errs[work[i].index] = err
			}
		} else {
			d.processTokens(ctx, work, snapshot, errs)
		}
	}
	for i, err := range errs {
		if err != nil {
			d.Log.ErrorContext(ctx, "delivery.postponed", slog.String(names.LogMessage, messages[i].ID), slog.Any(names.LogError, err))
			failed = append(failed, messages[i].ID)
		}
	}
	return failed
}

// job is one message of a batch.
type job struct {
	index int
	token hook.Token
	subject
}

// decodeTokens reads the tokens. A second token of the same attempt in one batch is
// left out: the first stays on the queue until its attempt is settled.
func (d *Deliverer) decodeTokens(messages []Message, errs []error) ([]*job, []hook.Token) {
	type attempt struct {
		hook.DeliveryID
		number int
	}
	var (
		jobs   = make([]*job, 0, len(messages))
		tokens = make([]hook.Token, 0, len(messages))
		seen   = make(map[attempt]bool, len(messages))
	)
	for i, m := range messages {
		token, err := hook.DecodeToken(m.Body)
		if err != nil {
			errs[i] = fmt.Errorf("decode message: %w", err)
			continue
		}
		if key := (attempt{token.Delivery, token.Attempt}); !seen[key] {
			seen[key] = true
			jobs = append(jobs, &job{index: i, token: token})
			tokens = append(tokens, token)
		}
	}
	return jobs, tokens
}

// processTokens judges the jobs, asks the gate once per endpoint and runs them.
func (d *Deliverer) processTokens(ctx context.Context, jobs []*job, snapshot Snapshot, errs []error) {
	jobs = d.beginReplays(ctx, jobs, snapshot, errs)
	now := d.Now()
	made := &results{}
	var wg sync.WaitGroup
	run := func(index int, f func() error) {
		wg.Go(func() { errs[index] = recoverPanic(f) })
	}
	due := make(map[hook.EndpointID][]*job)
	for _, j := range jobs {
		found, ok, err := findSubject(j.token, snapshot)
		if err != nil {
			errs[j.index] = fmt.Errorf("find delivery %s: %w", j.token.Delivery, err)
			continue
		}
		if !ok {
			d.dropToken(ctx, j.token, "its event is gone, or it is no replay")
			continue
		}
		j.subject = found
		s := &j.subject
		switch st, reason := judgeToken(s, now); st {
		case stepDrop:
			d.dropToken(ctx, j.token, reason)
		case stepResume:
			run(j.index, func() error { return d.followUp(ctx, s.delivery) })
		case stepDefer:
			run(j.index, func() error { return d.requeue(ctx, s) })
		case stepExpire:
			run(j.index, func() error {
				result, err := d.settleUnattempted(ctx, s, settleAs(s, hook.StateDead, hook.ReasonExpired, now))
				made.add(result)
				return err
			})
		case stepAttempt:
			due[s.token.Delivery.Endpoint] = append(due[s.token.Delivery.Endpoint], j)
		}
	}
	for id, waiting := range due {
		record, ok := snapshot.Circuits[id]
		if !ok {
			record = gate.NewRecord(waiting[0].token.Tenant, id)
		}
		if most := record.Review.Timeout; most > 0 {
			for _, j := range waiting {
				if j.endpoint != nil {
					j.endpoint.Timeout = min(j.endpoint.Timeout, most)
				}
			}
		}
		wg.Go(func() { made.add(d.processEndpoint(ctx, waiting, record, errs)...) })
	}
	wg.Wait()
	d.logMetrics(ctx, made.results)
}

// processEndpoint asks the gate about the jobs of one endpoint, runs them and tells the
// gate what came of them. It returns the same.
func (d *Deliverer) processEndpoint(ctx context.Context, jobs []*job, record gate.Record, errs []error) []gate.Result {
	q := gate.Query{Tenant: record.Tenant, ID: record.Endpoint, Endpoint: jobs[0].endpoint, Record: record}
	for _, j := range jobs {
		q.Due = append(q.Due, gate.Due{Delivery: j.token.Delivery, Reserved: j.token.Reserved})
	}
	admission, err := d.Gate.Admit(ctx, q)
	if err != nil {
		for _, j := range jobs {
			errs[j.index] = fmt.Errorf("ask gate of endpoint %s: %w", q.ID, err)
		}
		return nil
	}
	var (
		wg   sync.WaitGroup
		made results
	)
	for i, j := range jobs {
		wg.Go(func() {
			errs[j.index] = recoverPanic(func() error {
				result, err := d.applyVerdict(ctx, &j.subject, admission.Verdicts[i])
				made.add(result)
				return err
			})
		})
	}
	wg.Wait()
	// The deliveries are settled. What the gate did not learn it learns from the
	// next attempt, and what it lent runs out, so none of them comes again for this.
	if err := d.Gate.Settle(ctx, admission, made.attempts()); err != nil {
		d.Log.ErrorContext(ctx, "gate.settle_failed", slog.String(names.LogEndpoint, string(q.ID)), slog.Any(names.LogError, err))
	}
	return made.results
}

// applyVerdict does what the gate said. The result has no class when there was no
// attempt, and is zero when nothing was decided either.
func (d *Deliverer) applyVerdict(ctx context.Context, s *subject, v gate.Verdict) (gate.Result, error) {
	switch v.Decision {
	case gate.Park:
		// Also if it is parked for that reason already: whoever released it may not have
		// written so yet, and must find that it was parked again.
		return d.settleUnattempted(ctx, s, settleAs(s, hook.StateParked, v.Reason, d.Now()))
	case gate.Cancel:
		return d.settleUnattempted(ctx, s, settleAs(s, hook.StateCancelled, v.Reason, d.Now()))
	case gate.Delay:
		token := sameToken(s.token)
		token.Reserved, token.Delays = v.Reserved, s.token.Delays+1
		d.Log.LogAttrs(ctx, slog.LevelInfo, "delivery.delayed", append(s.attrs(), slog.Time(names.LogNext, v.Until))...)
		return gate.Result{}, d.sendToken(ctx, token, v.Until)
	case gate.Admit:
		return d.makeAttempt(ctx, s)
	}
	return gate.Result{}, fmt.Errorf("gate answered %d for delivery %s", v.Decision, s.token.Delivery)
}

// makeAttempt sends the request and settles its outcome.
func (d *Deliverer) makeAttempt(ctx context.Context, s *subject) (gate.Result, error) {
	if deadline, ok := ctx.Deadline(); ok && deadline.Sub(d.Now()) < s.endpoint.Timeout+settleReserve {
		return gate.Result{}, errNoTime
	}
	started := d.Now()
	keys, err := d.signingKeys(ctx, s.endpoint, started)
	if err != nil {
		return gate.Result{}, fmt.Errorf("open secrets of endpoint %s: %w", s.endpoint.ID, err)
	}
	outcome := d.Sender.Send(ctx, send.Request{
		Endpoint: *s.endpoint,
		Keys:     keys,
		Event:    s.event,
		Delivery: s.token.Delivery,
		Attempt:  s.token.Attempt,
	})
	now := d.Now()
	recorded, err := d.settleDelivery(ctx, s, attemptOutcome(s, outcome, started, now))
	attrs := append(s.attrs(),
		slog.String(names.LogOutcome, outcome.Class.String()),
		slog.Int(names.LogStatus, outcome.Status),
		slog.Int64(names.LogDuration, outcome.Duration.Milliseconds()),
		slog.Int64(names.LogLatency, now.Sub(s.delivery.CreatedAt).Milliseconds()),
	)
	d.Log.LogAttrs(ctx, slog.LevelInfo, "delivery.attempted", append(attrs, decisionAttrs(recorded)...)...)
	return resultOf(s, outcome, recorded, now), err
}

func (d *Deliverer) signingKeys(ctx context.Context, e *hook.Endpoint, now time.Time) ([]sign.Key, error) {
	var keys []sign.Key
	for _, secret := range e.Active(now) {
		text, err := d.Vault.Open(ctx, secret.Sealed, e.ID)
		if err != nil {
			return nil, fmt.Errorf("open: %w", err)
		}
		key, err := sign.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// requeue sends a token that came before its time once more, for the time it was meant for.
func (d *Deliverer) requeue(ctx context.Context, s *subject) error {
	return d.sendToken(ctx, sameToken(s.token), s.delivery.NextAttemptAt)
}

// sameToken returns the token as it is sent again for the same attempt. It keeps
// its nonce: if the queue hands one message to two functions, and one of them
// makes the attempt and dies before (b) while the other sends the token on, the
// one that arrives goes on from (b). Nothing else would.
func sameToken(t hook.Token) hook.Token {
	return hook.Token{Delivery: t.Delivery, Tenant: t.Tenant, Attempt: t.Attempt, Nonce: t.Nonce}
}

// settleUnattempted settles a delivery without an attempt.
func (d *Deliverer) settleUnattempted(ctx context.Context, s *subject, decide decision) (gate.Result, error) {
	recorded, err := d.settleDelivery(ctx, s, decide)
	d.Log.LogAttrs(ctx, slog.LevelInfo, "delivery.decided", append(s.attrs(), decisionAttrs(recorded)...)...)
	if recorded.State == hook.StateDead {
		d.countDead(ctx, s)
	}
	return resultOf(s, hook.Outcome{}, recorded, d.Now()), err
}

func decisionAttrs(recorded hook.Delivery) []slog.Attr {
	attrs := []slog.Attr{slog.String(names.LogDecision, recorded.State.String())}
	if recorded.Reason != hook.ReasonNone {
		attrs = append(attrs, slog.String(names.LogReason, string(recorded.Reason)))
	}
	if !recorded.NextAttemptAt.IsZero() {
		attrs = append(attrs, slog.Time(names.LogNext, recorded.NextAttemptAt))
	}
	return attrs
}

func (d *Deliverer) dropToken(ctx context.Context, t hook.Token, reason string) {
	d.Log.LogAttrs(ctx, slog.LevelInfo, "token.dropped",
		slog.String(names.LogDelivery, t.Delivery.String()),
		slog.Int(names.LogAttempt, t.Attempt),
		slog.String(names.LogReason, reason))
}

func (s *subject) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String(names.LogTenant, string(s.token.Tenant)),
		slog.String(names.LogEvent, string(s.token.Delivery.Event)),
		slog.String(names.LogEventType, s.event.Type),
		slog.String(names.LogEndpoint, string(s.token.Delivery.Endpoint)),
		slog.String(names.LogDelivery, s.token.Delivery.String()),
		slog.Int(names.LogAttempt, s.token.Attempt),
	}
}

// recoverPanic keeps a panic in one record from taking its neighbours with it.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}
