package world

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"surehook.example/surehook/internal/memory/table"
)

// turns lets the goroutines of a world run one at a time: each waits for its turn before each
// call of a port. When all of them wait, the call whose name comes first has the next turn.
// So the calls of a run have the same order every time, however the goroutines are scheduled.
type turns struct {
	mu      sync.Mutex
	waiting []turn
	arrived chan struct{} // capacity 1
}

type turn struct {
	of      string
	granted chan struct{}
}

// startTurns must be called in a bubble of synctest.
func startTurns(t *testing.T) *turns {
	t.Helper()

	q := &turns{arrived: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-q.arrived:
				for q.next() {
					continue
				}
			}
		}
	}()
	t.Cleanup(func() { close(done) })
	return q
}

// await blocks until it is the turn of the call. A nil turns never blocks.
func (q *turns) await(of string) {
	if q == nil {
		return
	}
	own := turn{of, make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, own)
	q.mu.Unlock()
	select {
	case q.arrived <- struct{}{}:
	default: // a signal is pending
	}
	<-own.granted
}

// next grants the next turn once no goroutine runs; false if none waits.
func (q *turns) next() bool {
	synctest.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()

	if len(q.waiting) == 0 {
		return false
	}
	first := slices.MinFunc(q.waiting, func(a, b turn) int { return cmp.Compare(a.of, b.of) })
	q.waiting = slices.DeleteFunc(q.waiting, func(t turn) bool { return t.granted == first.granted })
	close(first.granted)
	return true
}

// turnOf returns what tells the request from the others that wait.
func turnOf(name string, c *table.Call) string {
	of := name + " " + c.Hash + " " + c.Low
	for _, k := range c.Keys {
		of += " " + k.Hash + " " + k.Sort
	}
	return of
}
