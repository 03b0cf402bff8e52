package isolation_test

import (
	"context"
	"sync"
	"time"
)

// Lambda's rule for event sources of SQS: at first 5 concurrent invocations, and then 300 more per
// minute while all are in use.
const (
	firstInvocations = 5
	oneMoreEvery     = 200 * time.Millisecond
	forgetAfter      = time.Minute // without an invocation; then the event source begins again with 5
)

// source is an event source: it receives batches, and invokes a function with each batch.
type source struct {
	most    int  // limit of concurrent invocations
	instant bool // most invocations from the beginning, and no time between an invocation and the function's first line

	mu       sync.Mutex
	allowed  int
	running  int
	idleFrom time.Time
	pressed  bool          // all allowed invocations were in use since the last step
	busy     time.Duration // of all invocations, up to since
	since    time.Time     // the last change of running
	ended    chan struct{} // capacity 1: an invocation ended, or more are allowed
	work     sync.WaitGroup
}

func newSource(most int, instant bool) *source {
	s := &source{most: most, instant: instant, ended: make(chan struct{}, 1), idleFrom: time.Now(), since: time.Now()}
	s.allowed = s.first()
	return s
}

func (s *source) first() int {
	if s.instant {
		return s.most
	}
	return min(firstInvocations, s.most)
}

// run invokes until ctx ends, and then waits for the invocations. receive waits for a batch and
// returns its invocation; nil if ctx ends first.
func (s *source) run(ctx context.Context, receive func() func()) {
	s.work.Go(func() { s.scale(ctx) })
	for s.free(ctx) {
		invoke := receive()
		if invoke == nil {
			break
		}
		s.count(1)
		s.work.Go(func() {
			defer s.count(-1)
			if !s.instant {
				time.Sleep(invocation)
			}
			invoke()
		})
	}
	s.work.Wait()
}

// free waits until another invocation may begin. It returns false if ctx ends first.
func (s *source) free(ctx context.Context) bool {
	for {
		s.mu.Lock()
		ok := s.running < s.allowed
		s.pressed = s.pressed || !ok
		s.mu.Unlock()
		if ok {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-s.ended:
		}
	}
}

// grow allows most invocations at once, as after a time under load.
func (s *source) grow() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.allowed = s.most
	s.signal()
}

func (s *source) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := time.Now()
	s.busy += time.Duration(s.running) * now.Sub(s.since)
	s.since = now
	s.running += n
	if s.running == 0 {
		s.idleFrom = now
	}
	s.signal()
}

// used returns the total duration of the invocations so far.
func (s *source) used() time.Duration {
	s.count(0)
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.busy
}

// scale allows one more invocation at each tick while all are in use, and the first number again after
// forgetAfter.
func (s *source) scale(ctx context.Context) {
	ticker := time.NewTicker(oneMoreEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.mu.Lock()
		switch {
		case s.pressed && s.allowed < s.most:
			s.allowed++
		case s.running == 0 && time.Since(s.idleFrom) >= forgetAfter:
			s.allowed = s.first()
		}
		s.pressed = s.running >= s.allowed
		s.signal()
		s.mu.Unlock()
	}
}

func (s *source) signal() {
	select {
	case s.ended <- struct{}{}:
	default: // a signal is pending
	}
}
