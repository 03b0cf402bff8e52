package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/retry"
)

// concurrency limits how many tenants, and how many messages to send again, are processed at the
// same time.
const concurrency = 16

// Acceptor accepts events. It is *ingest.Acceptor.
type Acceptor interface {
	AcceptBatch(ctx context.Context, tenant hook.TenantID, requests []ingest.Request) []ingest.Result
}

// Queue holds messages to accept.
type Queue interface {
	// Return sends the message back to the events queue, in the group, after a delay of at most
	// hook.MaxQueueDelay. An empty group means no group.
	Return(ctx context.Context, m Message, group string, delay time.Duration) error
	// Reject sends the message to the rejects.
	Reject(ctx context.Context, m Message) error
}

// Source accepts the events of messages. All fields are required.
type Source struct {
	Reader   Reader
	Acceptor Acceptor
	Queue    Queue
	Rand     func() float64 // in [0, 1); safe for concurrent use
	Metrics  emf.Set
	Log      *slog.Logger
	Now      func() time.Time
}

// post is a message with its event and its result.
type post struct {
	message Message
	tenant  hook.TenantID
	request ingest.Request
	result  ingest.Result
	err     error // of reading the message, accepting its event, or ending it
}

// ProcessBatch accepts the events of the messages, and returns the ids of the messages that must
// come again.
func (s *Source) ProcessBatch(ctx context.Context, messages []Message) (failed []string) {
	posts := make([]post, len(messages))
	var read []*post
	for i, m := range messages {
		p := &posts[i]
		p.message = m
		if p.tenant, p.request, p.err = s.Reader.read(m); p.err == nil {
			read = append(read, p)
		}
	}
	tenants := parallel.Groups(read, func(p *post) hook.TenantID { return p.tenant })
	parallel.Each(len(tenants), concurrency, func(i int) error {
		s.accept(ctx, tenants[i][0].tenant, tenants[i])
		return nil // each post holds its own error
	})
	parallel.Each(len(posts), concurrency, func(i int) error {
		posts[i].err = s.end(ctx, posts[i])
		return nil // as above
	})
	for _, p := range posts {
		if p.err != nil {
			failed = append(failed, p.message.ID)
		}
	}
	return failed
}

// accept accepts the events of one tenant.
func (s *Source) accept(ctx context.Context, tenant hook.TenantID, posts []*post) {
	requests := make([]ingest.Request, len(posts))
	for i, p := range posts {
		requests[i] = p.request
	}
	for i, result := range s.Acceptor.AcceptBatch(ctx, tenant, requests) {
		posts[i].result, posts[i].err = result, result.Err
	}
}

// end ends a message, or returns why it must come again.
func (s *Source) end(ctx context.Context, p post) error {
	if p.err == nil {
		const line = names.LineIngested
		s.Log.LogAttrs(ctx, slog.LevelInfo, line, p.result.Attrs(p.tenant, p.request.Type)...)
		return nil
	}
	switch code := hook.CodeOf(p.err); {
	case code == hook.CodeThrottled:
		return s.wait(ctx, p)
	case code == hook.CodeTenantClosing, errors.Is(p.err, ingest.ErrErased): // nothing may keep the payload
		s.log(ctx, slog.LevelWarn, "event.dropped", p, nil)
		return nil
	case errors.Is(p.err, ingest.ErrSteps), !wrong(code):
		s.log(ctx, slog.LevelError, "event.failed", p, p.err)
		return p.err
	}
	if err := s.Queue.Reject(ctx, p.message.rejected(p.err.Error())); err != nil {
		err = fmt.Errorf("reject message %s: %w", p.message.ID, err)
		s.log(ctx, slog.LevelError, "event.failed", p, err)
		return err
	}
	s.log(ctx, slog.LevelWarn, "event.rejected", p, nil, emf.Count(names.MetricRejected, 1))
	return nil
}

// wrong reports whether the code means that the message can never be accepted. After any other
// error the message comes again.
func wrong(code hook.Code) bool {
	return slices.Contains([]hook.Code{hook.CodeInvalid, hook.CodeMismatch, hook.CodeTooLarge, hook.CodeForbidden, hook.CodeConflict}, code)
}

// wait sends a message past the tenant's limit back to the queue. If a crash leaves both
// messages, the event is still accepted once, because both have the same idempotency key.
func (s *Source) wait(ctx context.Context, p post) error {
	delay := min(retry.Redelivery(p.message.returns()+1, s.Rand()), hook.MaxQueueDelay)
	if err := s.Queue.Return(ctx, p.message.returned(), string(p.tenant), delay); err != nil {
		err = fmt.Errorf("return message %s: %w", p.message.ID, err)
		s.log(ctx, slog.LevelError, "event.failed", p, err)
		return err
	}
	_, at := p.message.First()
	s.log(ctx, slog.LevelInfo, "event.returned", p, nil, emf.Milliseconds(names.MetricEventWait, s.Now().Sub(at)))
	return nil
}

// log logs the code of a refusal, but not its text, which may contain parts of the payload.
func (s *Source) log(ctx context.Context, level slog.Level, line string, p post, err error, metrics ...emf.Metric) {
	attrs := []slog.Attr{slog.String(names.LogMessage, p.message.ID)}
	if p.tenant != "" {
		attrs = append(attrs, slog.String(names.LogTenant, string(p.tenant)))
	}
	if err != nil {
		attrs = append(attrs, slog.Any(names.LogError, err))
	} else if p.err != nil {
		attrs = append(attrs, slog.String(names.LogCode, hook.CodeOf(p.err).String()))
	}
	s.Log.LogAttrs(ctx, level, line, s.Metrics.Append(attrs, s.Now(), metrics...)...) //nolint:sloglint // a constant of the caller
}
