package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Payloads have a fixed size. The event's number has a fixed position.
const (
	payloadSize = 500
	numberFrom  = len(`{"number":"`)
	numberTo    = numberFrom + 10
)

// payloadOf returns the payload of event n, a JSON object.
func payloadOf(n int) []byte {
	p := fmt.Appendf(make([]byte, 0, payloadSize), `{"number":"%010d","text":"`, n)
	for len(p) < payloadSize-2 {
		p = append(p, 'x')
	}
	return append(p, `"}`...)
}

// sink is the receiver: it answers 200 at once and records each event's first
// arrival.
type sink struct {
	url    string
	server *http.Server
	served chan error
	room   chan struct{} // one entry per posted event without an arrival

	// The times are since the start: a list without pointers keeps the collections of
	// garbage beside a measurement short.
	started time.Time

	mu      sync.Mutex
	arrived []time.Duration // by number; 0: not yet
	came    int             // events
	again   int             // requests with an event seen before
}

// startSink starts a receiver for events 0 to most-1, with at most atOnce
// events under way.
func startSink(ctx context.Context, most, atOnce int) (*sink, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the receiver: %w", err)
	}
	s := &sink{
		url:     "http://" + l.Addr().String(),
		served:  make(chan error, 1),
		room:    make(chan struct{}, atOnce),
		started: time.Now(),
		arrived: make([]time.Duration, most),
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { s.served <- s.server.Serve(l) }()
	return s, nil
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body [payloadSize]byte
	_, err := io.ReadFull(r.Body, body[:])
	n, bad := strconv.Atoi(string(body[numberFrom:numberTo]))
	if err != nil || bad != nil || n >= len(s.arrived) {
		http.Error(w, "not an event of the load", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	first := s.arrived[n] == 0
	if first {
		s.arrived[n] = time.Since(s.started)
		s.came++
	} else {
		s.again++
	}
	s.mu.Unlock()
	if first {
		<-s.room
	}
}

// count returns the number of arrived events.
func (s *sink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.came
}

// await returns when no event is under way, or when ctx ends.
func (s *sink) await(ctx context.Context) error {
	for len(s.room) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("await the last events: %d did not arrive: %w", len(s.room), context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

func (s *sink) stop() error {
	err := s.server.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("stop the receiver: %w", err)
	}
	return nil
}
