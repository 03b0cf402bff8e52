// Package receiver is a webhook endpoint for demonstrations and tests: it
// records every request exactly, answers as a script says, and verifies
// signatures with the public Standard Webhooks library, which shares no code
// with the product.
package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Request is one request as it arrived.
type Request struct {
	At       time.Time
	Method   string
	Path     string
	Header   http.Header
	Body     []byte  // the exact bytes
	Verified []error // by the library, one per secret of the path, in their order; nil is a good signature
	Answered int     // the status; 0 before the answer, and if there is none: reset, or the sender went away
}

// Genuine reports whether at least one secret of the path verifies the request.
func (r Request) Genuine() bool {
	return slices.Contains(r.Verified, nil)
}

// Receiver is a running server. Its methods are safe for concurrent use.
type Receiver struct {
	URL string // where functions reach it, without a slash at the end

	server *http.Server
	done   chan error
	now    func() time.Time

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each request
	requests map[string][]Request
	rules    map[string]func(Request) Reply
	secrets  map[string][]string
}

// Start listens on a free port of the address bind and calls itself name in
// URLs. The caller must Stop it.
func Start(ctx context.Context, name, bind string) (*Receiver, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(bind, "0"))
	if err != nil {
		return nil, fmt.Errorf("start receiver: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("start receiver: %w", err)
	}
	r := &Receiver{
		URL:      "http://" + net.JoinHostPort(name, port),
		done:     make(chan error, 1),
		now:      time.Now,
		changed:  make(chan struct{}),
		requests: map[string][]Request{},
		rules:    map[string]func(Request) Reply{},
		secrets:  map[string][]string{},
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() { r.done <- r.server.Serve(l) }()
	return r, nil
}

// Stop ends the server and the requests it is still answering.
func (r *Receiver) Stop() error {
	err := r.server.Close()
	if served := <-r.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("stop receiver: %w", err)
	}
	return nil
}

// Script makes the path answer its requests by the replies in their order; the
// last one is repeated. A path without a script answers 200.
func (r *Receiver) Script(path string, replies ...Reply) {
	s := &script{replies: replies}
	r.Decide(path, func(Request) Reply { return s.next() })
}

// Decide makes the path answer each request as the function says. It is asked
// about one request at a time, and must not use the receiver.
func (r *Receiver) Decide(path string, rule func(Request) Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules[path] = rule
}

// Trust sets the secrets (whsec_...) that requests to the path are verified with.
func (r *Receiver) Trust(path string, secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[path] = slices.Clone(secrets)
}

// Requests returns what arrived at the path, oldest first.
func (r *Receiver) Requests(path string) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests[path])
}

// Await returns what arrived at the path as soon as there are n requests, or
// what there is with an error when ctx ends first.
func (r *Receiver) Await(ctx context.Context, path string, n int) ([]Request, error) {
	for {
		r.mu.Lock()
		got, changed := slices.Clone(r.requests[path]), r.changed
		r.mu.Unlock()
		if len(got) >= n {
			return got, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return got, fmt.Errorf("await request %d to %s, of which %d came: %w", n, path, len(got), context.Cause(ctx))
		}
	}
}

// ServeHTTP records the request, then answers it.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := r.now()
	body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		return // the sender went away in the middle
	}
	reply, answered := r.record(Request{At: at, Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body})
	answered(reply.write(req.Context(), w))
}

// record keeps the request and takes the reply that is its turn. The status
// that it is answered with is to be told to answered.
func (r *Receiver) record(req Request) (reply Reply, answered func(status int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	req.Verified = verify(req, r.secrets[req.Path])
	n := len(r.requests[req.Path])
	r.requests[req.Path] = append(r.requests[req.Path], req)
	close(r.changed)
	r.changed = make(chan struct{})
	reply = Status(http.StatusOK)
	if rule := r.rules[req.Path]; rule != nil {
		reply = rule(req)
	}
	return reply, func(status int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests[req.Path][n].Answered = status
	}
}

// verify asks the library about each secret.
func verify(req Request, secrets []string) []error {
	var results []error
	for _, secret := range secrets {
		hook, err := standardwebhooks.NewWebhook(strings.TrimSpace(secret))
		if err == nil {
			err = hook.Verify(req.Body, req.Header)
		}
		results = append(results, err)
	}
	return results
}
