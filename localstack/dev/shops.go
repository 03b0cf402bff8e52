package dev

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Hosts of the receivers of a history.
const shopDomain = ".example"

// The deploy of a history, before its end.
const (
	deployed     = 6*time.Hour + 30*time.Minute
	deployLasted = 7 * time.Minute
)

// shops answers the requests to the receivers of a history, and sends all others. The receivers
// live on after the history, as they were at its end.
type shops struct {
	clock  *clock
	others http.RoundTripper
	end    time.Time

	mu     sync.Mutex
	random *rand.Rand // always the same
}

func newShops(c *clock, begin time.Time, span time.Duration) *shops {
	return &shops{clock: c, end: begin.Add(span), random: rand.New(rand.NewPCG(1, 2))}
}

// trouble is what a receiver answers in place of 200, for a part of the history.
type trouble struct {
	from, until time.Duration // before the end of the history; until 0: it lasts
	status      int
	body        string
	share       float64 // of the requests; 0: all
}

// shop is a receiver of a history.
type shop struct {
	tenant, uid, description string
	types                    string         // JSON
	settings                 map[string]any // of the endpoint, beside the default ones
	latency                  time.Duration
	troubles                 []trouble
}

func (s shop) url() string { return "https://hooks." + s.tenant + shopDomain + "/" + s.uid }

func allShops() []shop {
	const all = `["*"]`
	// In these minutes a deploy of the events' producer broke two receivers.
	deploy := trouble{from: deployed, until: deployed - deployLasted, status: 500, body: "TypeError: order.customer is undefined"}
	return []shop{
		{tenant: "acme", uid: "orders", description: "Order management", types: `["order.*"]`, settings: map[string]any{"record_headers": true}, latency: 90 * time.Millisecond, troubles: []trouble{deploy}},
		{tenant: "acme", uid: "crm", description: "CRM of the sales team", types: all, settings: map[string]any{"max_age": "24h"}, latency: 160 * time.Millisecond, troubles: []trouble{
			{from: 9 * time.Hour, status: 503, body: "down for maintenance"},
		}},
		{tenant: "acme", uid: "billing", description: "Billing", types: `["invoice.*"]`, latency: 210 * time.Millisecond, troubles: []trouble{
			{from: 3 * time.Hour, status: 401, body: `{"error":"invalid token"}`},
		}},
		{tenant: "acme", uid: "warehouse", description: "Warehouse", types: `["order.shipped"]`, latency: 120 * time.Millisecond, troubles: []trouble{
			{from: 20 * time.Hour, until: 18 * time.Hour, status: 502, body: "bad gateway"},
		}},
		{tenant: "globex", uid: "erp", description: "ERP", types: all, latency: 900 * time.Millisecond, troubles: []trouble{
			{from: 1000 * time.Hour, status: 500, body: "deadlock, try again", share: 0.06},
		}},
		{tenant: "globex", uid: "shop", description: "Web shop", types: all, latency: 60 * time.Millisecond, troubles: []trouble{deploy}},
		{tenant: "globex", uid: "chat", description: "Alerts in the chat", types: `["order.cancelled"]`, latency: 240 * time.Millisecond, troubles: []trouble{
			{from: 14 * time.Hour, until: 13 * time.Hour, status: 429, body: "slow down"},
		}},
		{tenant: "initech", uid: "archive", description: "Archive", types: all, latency: 45 * time.Millisecond},
		{tenant: "initech", uid: "reports", description: "Reports of the old office", types: all, latency: 70 * time.Millisecond, troubles: []trouble{
			{from: 7 * time.Hour, status: 410, body: "this hook was removed"},
		}},
	}
}

// RoundTrip implements http.RoundTripper.
func (s *shops) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Host, shopDomain) {
		return s.others.RoundTrip(r) //nolint:wrapcheck // the transport's own error
	}
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	began := s.clock.Now()
	status, body, took := s.answer(r.URL.String(), began)
	if !s.clock.reach(began.Add(took)) {
		select {
		case <-time.After(took):
		case <-r.Context().Done():
			return nil, fmt.Errorf("wait for the answer: %w", r.Context().Err())
		}
	}
	header := http.Header{"Content-Type": {"text/plain"}, "Date": {s.clock.Now().UTC().Format(http.TimeFormat)}, "X-Request-Id": {fmt.Sprintf("req-%d", began.UnixMilli())}}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// answer returns the answer of the receiver at the time, and how long it takes.
func (s *shops) answer(url string, at time.Time) (status int, body string, took time.Duration) {
	s.mu.Lock()
	chance, spread := s.random.Float64(), s.random.ExpFloat64()
	s.mu.Unlock()
	for _, of := range allShops() {
		if of.url() != url {
			continue
		}
		took = time.Duration(float64(of.latency) * (0.7 + 0.4*min(spread, 5)))
		before := s.end.Sub(at)
		for _, t := range of.troubles {
			if before <= t.from && (t.until == 0 || before > t.until) && (t.share == 0 || chance < t.share) {
				return t.status, t.body, took
			}
		}
		return http.StatusOK, "ok", took
	}
	return http.StatusNotFound, "no such hook", 20 * time.Millisecond
}
