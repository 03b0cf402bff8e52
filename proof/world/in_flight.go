package world

import "sync"

// InFlight counts what goes on at the same time.
type InFlight struct {
	mu        sync.Mutex
	now, most int
}

// Begin counts one more, until the call of end.
func (f *InFlight) Begin() (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.now++
	f.most = max(f.most, f.now)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()

		f.now--
	}
}

// Most returns the highest number so far.
func (f *InFlight) Most() int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.most
}

// Now returns the number of requests in flight.
func (f *InFlight) Now() int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.now
}
