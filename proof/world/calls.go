package world

import (
	"maps"
	"strings"
	"sync"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// Calls counts the calls of the functions by name: the requests to the table, such as
// "write delivery", and the calls of the other ports, such as "send". The functions beside
// the function under test have a prefix: "deliver: read batch". requestOf names requests.
//
// Calls also holds the faults other than death. Tests set them before or
// between invocations, or in a function of Before.
type Calls struct {
	// Fail is asked before each call of the function under test. Its error fails the call; nil: no call fails.
	Fail func(call string, id hook.EndpointID) error
	// Refuse is asked about each task before the queue takes it, with its index
	// in the request; nil: the queue takes every task.
	Refuse func(i int, task hook.Task) error
	// Twice lets the queue deliver each task of the function under test twice.
	Twice  bool
	mu     sync.Mutex
	n      map[string]int
	before map[string]func()
	lost   string // the call whose next answer is lost
}

// Before runs f once, before the next such call. A test without such a call fails.
func (c *Calls) Before(call string, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.before == nil {
		c.before = make(map[string]func())
	}
	c.before[call] = f
}

// Lose loses the answer of the next such effect: the client repeats the call, and the
// function gets the second answer.
func (c *Calls) Lose(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.lost = call
}

// end checks that Before met its calls. It also forgets the faults: package testing keeps
// what a cleanup names until the parents of the test end, and a fault names its world.
func (c *Calls) end(t *testing.T) func() {
	return func() {
		for call := range c.before {
			t.Errorf("there was no call %q", call)
		}
		c.Fail, c.Refuse, c.before = nil, nil, nil
	}
}

// Disturb calls f once, before the n-th call of the function under test, and returns the
// number of its calls so far. The queries of one list are one call.
func (c *Calls) Disturb(n int, f func(call string)) (calls func() int) {
	var mu sync.Mutex
	var made int
	var last string
	c.Fail = func(call string, _ hook.EndpointID) error {
		mu.Lock()
		if call != last || !strings.HasPrefix(call, "list ") {
			made++
		}
		last = call
		now := made == n
		if now {
			n = 0
		}
		mu.Unlock()
		if now {
			f(call)
		}
		return nil
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()

		return made
	}
}

// loses reports whether the answer is still to be lost, and forgets that.
func (c *Calls) loses(call string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.lost != call {
		return false
	}
	c.lost = ""
	return true
}

// Of returns the number of such calls.
func (c *Calls) Of(call string) int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.n[call]
}

// All returns the number of calls by name.
func (c *Calls) All() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return maps.Clone(c.n)
}

// Own returns the number of calls of the function under test, by name.
func (c *Calls) Own() map[string]int {
	own := c.All()
	maps.DeleteFunc(own, func(call string, _ int) bool { return strings.Contains(call, ": ") })
	return own
}

// Total returns the number of all calls.
func (c *Calls) Total() int {
	n := 0
	for _, times := range c.All() {
		n += times
	}
	return n
}

// count counts the call, and runs a function of Before.
func (c *Calls) count(call string) {
	c.mu.Lock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[call]++
	f := c.before[call]
	delete(c.before, call)
	c.mu.Unlock()
	if f != nil {
		f()
	}
}

// fail returns the fault of the call, or nil.
func (c *Calls) fail(call string, id hook.EndpointID) error {
	if c.Fail == nil {
		return nil
	}
	return c.Fail(call, id)
}
