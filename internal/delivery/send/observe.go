package send

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
)

// moment is a point in time during a request.
type moment int

const (
	lookup moment = iota
	resolved
	dialing
	connected
	shaking
	shaken
	written
	answered
	moments
)

// observed is what the transport reports about one request. It reports from several goroutines,
// and a dial may outlast the request.
type observed struct {
	now func() time.Time

	mu        sync.Mutex
	at        [moments]time.Time // the first time of each
	handshake bool               // failed in the last try
	reused    bool               // the connection was opened by an earlier request
	asked     bool               // a server asked for a client certificate
	presented bool               // and got one
}

// watch returns a context for one request, and what the transport will report about it. The
// connection of the request does not outlast ctx, see stopHard; the caller must call release.
func watch(ctx context.Context, now func() time.Time) (traced context.Context, seen *observed, release func()) {
	seen = &observed{now: now}
	end := func() {}
	traced = egress.OnCertificateRequest(ctx, func(presented bool) {
		seen.set(func() { seen.asked, seen.presented = true, presented })
	})
	traced = httptrace.WithClientTrace(traced, &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { seen.note(lookup, nil) },
		DNSDone:      func(d httptrace.DNSDoneInfo) { seen.note(resolved, d.Err) },
		ConnectStart: func(string, string) { seen.note(dialing, nil) },
		ConnectDone:  func(_, _ string, err error) { seen.note(connected, err) },

		TLSHandshakeStart: func() { seen.note(shaking, nil) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { seen.note(shaken, err) },
		GotConn: func(got httptrace.GotConnInfo) { // called by RoundTrip, and again if a connection was closed before it took a byte
			end()
			end = stopHard(ctx, got.Conn)
			seen.set(func() { seen.reused = got.Reused })
		},
		WroteRequest:         func(w httptrace.WroteRequestInfo) { seen.note(written, w.Err) },
		GotFirstResponseByte: func() { seen.note(answered, nil) },
	})
	return traced, seen, func() { end() }
}

// set makes a change of what was observed.
func (o *observed) set(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()

	change()
}

// note records the time of a moment, or that the handshake failed.
func (o *observed) note(m moment, err error) {
	o.set(func() {
		if m == shaken {
			o.handshake = err != nil
		}
		if err == nil && o.at[m].IsZero() {
			o.at[m] = o.now()
		}
	})
}

// failure returns the failure of the request with err.
func (o *observed) failure(ctx context.Context, err error) failure {
	o.mu.Lock()
	defer o.mu.Unlock()

	return failure{err: err, ended: context.Cause(ctx), handshake: o.handshake, asked: o.asked, presented: o.presented, kept: o.reused && o.at[answered].IsZero()}
}

// phases returns where the time went so far.
func (o *observed) phases() hook.Phases {
	o.mu.Lock()
	defer o.mu.Unlock()

	between := func(from, to moment) time.Duration {
		if o.at[from].IsZero() || o.at[to].IsZero() {
			return 0
		}
		return max(o.at[to].Sub(o.at[from]), 0)
	}
	p := hook.Phases{FirstByte: between(written, answered)}
	if !o.reused {
		p.DNS, p.Connect, p.TLS = between(lookup, resolved), between(dialing, connected), between(shaking, shaken)
	}
	return p
}
