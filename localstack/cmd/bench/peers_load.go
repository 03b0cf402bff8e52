package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// arrivalLimit is how long the events of a load may take to arrive.
const arrivalLimit = 2 * time.Minute

// sink is the receiver of a load. It notes when each event was sent, and when it came first.
type sink struct {
	url    string
	server *httptest.Server
	stop   chan struct{}

	mu      sync.Mutex
	want    int
	sentAt  map[int]time.Time
	came    map[int]time.Time
	allCame chan struct{}
}

func newSink() *sink {
	s := &sink{stop: make(chan struct{})}
	s.server = httptest.NewServer(s)
	s.url = s.server.URL
	return s
}

func (s *sink) close() {
	close(s.stop)
	s.server.Close()
}

// expect begins a load of n events.
func (s *sink) expect(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want, s.sentAt, s.came, s.allCame = n, make(map[int]time.Time, n), make(map[int]time.Time, n), make(chan struct{})
}

// sent notes that event i is posted now.
func (s *sink) sent(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sentAt[i] = time.Now()
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/slow" {
		select {
		case <-time.After(hang):
		case <-s.stop:
		}
		return
	}
	_, after, _ := strings.Cut(string(body), `"n":"`)
	number, _, _ := strings.Cut(after, `"`)
	i, err := strconv.Atoi(number)
	if err != nil {
		return // not an event of a load, such as a test by the server
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.sentAt[i]; !known {
		return // again, of the load before
	}
	if _, again := s.came[i]; again {
		return
	}
	if s.came[i] = now; len(s.came) == s.want {
		close(s.allCame)
	}
}

// wait waits for all events, and returns how long each took.
func (s *sink) wait(ctx context.Context) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, arrivalLimit)
	defer cancel()
	var err error
	select {
	case <-s.allCame:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%d of %d events came: %w", len(s.came), s.want, err)
	}
	var waits []time.Duration
	for i, at := range s.came {
		waits = append(waits, at.Sub(s.sentAt[i]))
	}
	slices.Sort(waits)
	return waits, nil
}

// together calls do for 0 to n-1 in order, on several goroutines, until an error.
func together(goroutines, n int, do func(i int) error) error {
	var next atomic.Int64
	var once sync.Once
	var first error
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
				}
			}
		})
	}
	all.Wait()
	return first
}
