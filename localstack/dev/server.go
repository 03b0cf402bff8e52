package dev

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// readHeaderTimeout bounds the time for a client's request header.
const readHeaderTimeout = 10 * time.Second

var errNoKey = errors.New(`the key is not "shk_" and 43 to 64 letters, digits, - and _`)

// Options configures Start.
type Options struct {
	Port int          // on loopback; 0 chooses a free port
	Key  string       // the API key, "shk_" and 43 to 64 characters; empty for a new key
	Log  *slog.Logger // the functions' log; nil for none

	Validation string       // of events: off, warn or reject; empty for off
	Ownership  string       // names.OwnershipChallenge; empty: endpoints need no proof
	Portal     names.Portal // appearance of the portal; may be zero
	SignIn     names.SignIn // of people; zero for API keys alone

	// Keep is the number of deliveries that the process keeps, in any state; each minute it forgets
	// older ones with their events and attempts. 0 stands for the constant Keep.
	Keep int

	// History begins so long ago: three tenants with receivers of their own, whose good and bad hours
	// happen before Start returns. 0: the process begins empty.
	History time.Duration

	// Reads counts the requests that read the table; may be nil.
	Reads *atomic.Int64
}

// Server is a running Surehook.
type Server struct {
	URL string // of the API, without a slash at the end
	Key string // has all permissions for all tenants

	http    *http.Server
	served  chan error
	stop    context.CancelFunc
	workers sync.WaitGroup
}

// Start runs Surehook until Stop is called. The workers end with ctx.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Key == "" {
		o.Key = newKey()
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("start Surehook: %w", err)
	}
	p, err := newProcess(o, l.Addr().String())
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("start Surehook: %w", err)
	}
	if _, err := p.authenticator.Identify(ctx, "Bearer "+o.Key); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("start Surehook: %w", errNoKey)
	}
	if o.History > 0 {
		if err := p.relive(ctx, o.Key, o.History); err != nil {
			_ = l.Close()
			return nil, fmt.Errorf("start Surehook: %w", err)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	s := &Server{
		URL:    "http://" + l.Addr().String(),
		Key:    o.Key,
		http:   &http.Server{Handler: p.handler(), ReadHeaderTimeout: readHeaderTimeout},
		served: make(chan error, 1),
		stop:   stop,
	}
	p.work(ctx, &s.workers)
	go func() { s.served <- s.http.Serve(l) }()
	return s, nil
}

// Stop refuses new requests and waits for the attempts under way, or until ctx
// ends.
func (s *Server) Stop(ctx context.Context) error {
	s.stop()
	err := s.http.Shutdown(ctx)
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	ended := make(chan struct{})
	go func() {
		s.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		err = errors.Join(err, context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("stop Surehook: %w", err)
	}
	return nil
}

// newKey returns an API key of 256 random bits.
func newKey() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return hook.APIKeyPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}
