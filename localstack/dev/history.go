package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"surehook.example/surehook/internal/hook"
)

// The pace of a history.
const (
	postEvery = 4 * time.Minute  // acme posts
	slowPosts = 10 * time.Minute // globex and initech post
	quantum   = 5 * time.Second  // the longest step of the clock
)

// relive runs the span before now with a moved clock: the tenants are made, their backends post, and
// the process does its work, all through the API and the handlers of the functions. The same span
// gives the same history, but for ids. Afterwards the clock is real.
func (p *process) relive(ctx context.Context, key string, span time.Duration) error {
	end := time.Now()
	p.clock.set(end.Add(-span))
	p.shops.end = end
	defer p.clock.set(time.Time{})

	past := &history{process: p, key: key}
	past.furnish(ctx)
	for n, next := 0, p.clock.Now(); past.err == nil && p.clock.Now().Before(end); n++ {
		if !p.clock.Now().Before(next) {
			past.minute(ctx, end)
			next = next.Add(tickEvery)
		}
		p.drain(ctx)
		p.clock.reach(p.wake(next))
	}
	return past.err
}

// wake returns the time of the next work: of a message, or else the next minute.
func (p *process) wake(minute time.Time) time.Time {
	now := p.clock.Now()
	at := now.Add(quantum)
	if minute.Before(at) {
		at = minute
	}
	for _, next := range []func() (time.Time, bool){p.queue.Next, p.circuits.Next} {
		if due, ok := next(); ok && due.Before(at) {
			at = due
		}
	}
	return at
}

// drain processes all messages that are visible now.
func (p *process) drain(ctx context.Context) {
	for more := true; more; {
		more = false
		for _, queue := range hook.Queues() {
			if received := p.queue.Receive(queue, queue.BatchSize()); len(received) > 0 {
				p.process(ctx, queue, received)
				more = true
			}
		}
		if received := p.circuits.Receive(batch); len(received) > 0 {
			p.check(ctx, received)
			more = true
		}
	}
}

// history is the hands of people and backends during a history.
type history struct {
	*process

	key     string
	desk    string // the key of the support desk
	minutes int
	orders  int
	err     error // the first refusal
}

func (h *history) furnish(ctx context.Context) {
	for _, s := range allShops() {
		fields := map[string]any{"uid": s.uid, "url": s.url(), "description": s.description, "event_types": json.RawMessage(s.types)}
		maps.Copy(fields, s.settings)
		h.call(ctx, h.key, http.MethodPost, "/v1/tenants/"+s.tenant+"/endpoints", fields)
	}
	made := h.call(ctx, h.key, http.MethodPost, "/v1/keys", map[string]any{"name": "support desk", "tenant": "*", "scopes": []string{"endpoints:write", "read", "replay", "tenants:read"}})
	h.desk, _ = made["key"].(string)
}

// minute does what is due in the minute: posts, changes by people, and the ticks of the functions.
func (h *history) minute(ctx context.Context, end time.Time) {
	if h.minutes%int(postEvery/time.Minute) == 0 {
		h.post(ctx, "acme", []string{"order.paid", "order.shipped", "invoice.created"}[h.orders%3])
	}
	if h.minutes%int(slowPosts/time.Minute) == 0 {
		h.post(ctx, "globex", []string{"order.paid", "order.cancelled", "order.paid"}[h.orders%3])
		h.post(ctx, "initech", "report.ready")
	}
	const minutesOfHour = 60
	switch int(end.Sub(h.clock.Now()) / time.Minute) {
	case 17 * minutesOfHour:
		h.call(ctx, h.desk, http.MethodPatch, "/v1/tenants/acme/endpoints/warehouse", map[string]any{"timeout": "20s", "max_age": "96h"})
	case 12 * minutesOfHour:
		h.call(ctx, h.desk, http.MethodPost, "/v1/tenants/globex/endpoints/shop/rotate-secret", map[string]any{"overlap": "24h"})
	case 8 * minutesOfHour:
		h.call(ctx, h.desk, http.MethodPatch, "/v1/tenants/acme/endpoints/crm", map[string]any{"description": "CRM of the sales team (provider informed)"})
	case 5 * minutesOfHour:
		h.call(ctx, h.desk, http.MethodPost, "/v1/tenants/initech/endpoints/archive/pause", nil)
	case 4 * minutesOfHour:
		h.call(ctx, h.desk, http.MethodPost, "/v1/tenants/initech/endpoints/archive/resume", nil)
	}
	h.tick(ctx)
	if h.minutes%int(sweepEvery/time.Minute) == 0 {
		h.sweep(ctx)
	}
	if h.minutes%int(reviewEvery/time.Minute) == 0 {
		h.review(ctx)
	}
	if h.minutes%minutesOfHour == 0 {
		h.forget(ctx)
	}
	h.minutes++
}

func (h *history) post(ctx context.Context, tenant, eventType string) {
	h.orders++
	h.call(ctx, h.key, http.MethodPost, "/v1/tenants/"+tenant+"/events", map[string]any{
		"event_type": eventType, "idempotency_key": fmt.Sprintf("%s-%d", tenant, 1000+h.orders),
		"payload": map[string]any{"order": 1000 + h.orders, "total": fmt.Sprintf("%d.90", 19+h.orders%80), "currency": "EUR", "items": []any{map[string]any{"sku": "A-17", "count": 2}}},
	})
}

// call makes a request to the API, and returns the answer's object. After the first refusal it does
// nothing.
func (h *history) call(ctx context.Context, key, method, path string, body any) map[string]any {
	if h.err != nil {
		return nil
	}
	var sent []byte
	if body != nil {
		sent, h.err = json.Marshal(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, bytes.NewReader(sent))
	if err != nil {
		h.err = fmt.Errorf("make a history: %w", err)
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = "127.0.0.1:1"
	w := &answer{header: make(http.Header), status: http.StatusOK}
	h.handler().ServeHTTP(w, r)
	if w.status >= http.StatusBadRequest {
		h.err = fmt.Errorf("make a history: %s %s: %d %s", method, path, w.status, w.body.String())
		return nil
	}
	var got map[string]any
	_ = json.Unmarshal(w.body.Bytes(), &got) // an answer without an object has nothing to say
	return got
}

// answer is a response in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) } //nolint:wrapcheck // never fails
