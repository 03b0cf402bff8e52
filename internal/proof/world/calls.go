package world

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"surehook/internal/hook"
)

// Calls counts the calls of the ports by name, such as "save delivery". The
// functions beside the function under test have a prefix: "deliver: load".
//
// Calls also holds the faults other than death. Tests set them before or
// between invocations, or in a function of Before.
type Calls struct {
	// Fail is asked before each call of the function under test. Its error fails the call; nil: no call fails.
	Fail func(call string, id hook.EndpointID) error
	// Refuse is asked about each token before the queue takes it, with its index
	// in the request; nil: the queue takes every token.
	Refuse func(i int, token hook.Token) error
	// Twice lets the queue deliver each token of the function under test twice.
	Twice bool
	// LoseAnswer names a call. Its next effect is made, and the caller gets a conflict,
	// as from a client's own retry after a lost answer.
	LoseAnswer string
	// WaveLag is how many waves the index of due circuits is behind the records.
	WaveLag int

	mu      sync.Mutex
	n       map[string]int
	largest map[string]int
	before  map[string]func()
}

// Before runs f once, before the next such call.
func (c *Calls) Before(call string, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.before == nil {
		c.before = make(map[string]func())
	}
	c.before[call] = f
}

// Lose loses the answer of the next such effect: see LoseAnswer.
func (c *Calls) Lose(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.LoseAnswer = call
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

// Largest returns the largest page of such calls: deliveries of "select",
// pending deliveries of "save job", tokens of "send".
func (c *Calls) Largest(call string) int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.largest[call]
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

func (c *Calls) size(call string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.largest == nil {
		c.largest = make(map[string]int)
	}
	c.largest[call] = max(c.largest[call], n)
}

// fail returns the fault of the call, or nil.
func (c *Calls) fail(call string, id hook.EndpointID) error {
	if c.Fail == nil {
		return nil
	}
	return c.Fail(call, id)
}

// answer returns the error of an effect that was made, or the conflict after its lost answer.
func (c *Calls) answer(call string, err error) error {
	c.mu.Lock()
	lost := c.LoseAnswer == call
	if lost {
		c.LoseAnswer = ""
	}
	c.mu.Unlock()
	if lost && err == nil {
		return fmt.Errorf("write again: %w", hook.Conflict("it was written"))
	}
	return err
}
