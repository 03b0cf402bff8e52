// Package receiver is a receiver of webhooks for demonstrations and tests. It
// records every request, answers by a script, and verifies signatures with the
// public Standard Webhooks library, which shares no code with the functions.
package receiver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Request is one received request.
type Request struct {
	At       time.Time
	Method   string
	Path     string
	Header   http.Header
	Body     []byte  // the exact bytes, at most 1 MiB
	Verified []error // the results of the library, one for each secret of the path, in order; nil: the signature is valid
	Client   string  // the subject of the client certificate, such as CN=surehook
	Answered int     // the status of the answer; 0 before the answer, after a reset, and if the sender disconnected
}

// Genuine reports whether at least one secret of the path verifies the request.
func (r Request) Genuine() bool {
	return slices.Contains(r.Verified, nil)
}

// Receiver is a running server. It is safe for concurrent use.
type Receiver struct {
	URL string // the address at which the functions reach the receiver, without a slash at the end

	server *http.Server
	done   chan error
	now    func() time.Time

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each request
	requests map[string][]Request
	open     map[string]int // requests that wait for their answers
	most     map[string]int // the largest number in open so far
	rules    map[string]func(Request) Reply
	secrets  map[string][]string
}

// Start listens on a free port of the address bind. The URL has name as the host.
// The caller must call Stop.
func Start(ctx context.Context, name, bind string) (*Receiver, error) {
	return start(ctx, name, bind, nil)
}

// StartTLS is Start with TLS.
func StartTLS(ctx context.Context, name, bind string, config *tls.Config) (*Receiver, error) {
	return start(ctx, name, bind, config)
}

// start serves without TLS if config is nil.
func start(ctx context.Context, name, bind string, config *tls.Config) (*Receiver, error) {
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
		open:     map[string]int{},
		most:     map[string]int{},
		rules:    map[string]func(Request) Reply{},
		secrets:  map[string][]string{},
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	if config != nil {
		r.server.ErrorLog = log.New(io.Discard, "", 0) // tests break handshakes on purpose
		r.URL = "https://" + net.JoinHostPort(name, port)
		l = tls.NewListener(l, config)
	}
	go func() { r.done <- r.server.Serve(l) }()
	return r, nil
}

// Stop ends the server, and the requests that wait for answers.
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

// Script sets the path's replies in order; the last reply repeats. A path
// without a script answers 200.
func (r *Receiver) Script(path string, replies ...Reply) {
	s := &script{replies: replies}
	r.Decide(path, func(Request) Reply { return s.next() })
}

// Decide sets a function for the path's replies. The receiver calls the
// function for one request at a time. The function must not use the receiver.
func (r *Receiver) Decide(path string, rule func(Request) Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules[path] = rule
}

// Trust sets the secrets (whsec_...) with which the path's requests are verified.
func (r *Receiver) Trust(path string, secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[path] = slices.Clone(secrets)
}

// Requests returns the path's requests, oldest first.
func (r *Receiver) Requests(path string) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests[path])
}

// AtOnce returns the largest number of the path's requests that waited for their
// answers at the same time.
func (r *Receiver) AtOnce(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most[path]
}

// Await returns the path's requests as soon as there are n requests. If ctx
// ends first, Await returns the requests so far with an error.
func (r *Receiver) Await(ctx context.Context, path string, n int) ([]Request, error) {
	for {
		r.mu.Lock()
		arrived, changed := len(r.requests[path]), r.changed
		r.mu.Unlock()
		if arrived >= n {
			return r.Requests(path), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			got := r.Requests(path)
			return got, fmt.Errorf("await request %d to %s: %d arrived: %w", n, path, len(got), context.Cause(ctx))
		}
	}
}

// ServeHTTP records the request, then answers.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := r.now()
	body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		return // the sender disconnected
	}
	got := Request{At: at, Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body}
	if req.TLS != nil && len(req.TLS.PeerCertificates) > 0 {
		got.Client = req.TLS.PeerCertificates[0].Subject.String()
	}
	reply, answered := r.record(got)
	reply.hold(req.Context())
	r.leave(req.URL.Path) // before the answer: the sender may make the next request at once
	answered(reply.write(req.Context(), w))
}

// record stores the request, and returns the reply to it. The caller passes the
// status of the answer to answered.
func (r *Receiver) record(req Request) (reply Reply, answered func(status int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	req.Verified = verify(req, r.secrets[req.Path])
	n := len(r.requests[req.Path])
	r.requests[req.Path] = append(r.requests[req.Path], req)
	r.open[req.Path]++
	r.most[req.Path] = max(r.most[req.Path], r.open[req.Path])
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

// leave counts one request less that waits for its answer.
func (r *Receiver) leave(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[path]--
}

// verify verifies the request with each secret.
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
