package shape

import "sync"

// An evaluation of few steps allocates a sixteenth of MaxMemory at most, so some of them may run at
// a time, beside one that takes more.
const (
	smallSteps  = 15625 // a sixteenth of maxSteps
	smallPlaces = 4
	largePlaces = 1
)

// places limits the evaluations at a time. The zero places is empty.
type places struct {
	once  sync.Once
	taken chan struct{}
}

// within calls f in one of the places, and waits until one is free; false if done is closed before.
func (p *places) within(number int, done <-chan struct{}, f func()) bool {
	p.once.Do(func() { p.taken = make(chan struct{}, number) })
	if closed(done) {
		return false
	}
	select {
	case p.taken <- struct{}{}:
		defer func() { <-p.taken }()
		f()
		return true
	case <-done:
		return false
	}
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
