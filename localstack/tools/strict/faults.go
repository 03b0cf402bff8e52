package strict

import (
	"math/rand/v2"
	"sync"
)

// Faults are what AWS does now and then, and emulators never do. The zero
// Faults are none.
type Faults struct {
	Seed   uint64  // of the random choices
	Copies float64 // probability that a sent message, or batch of messages, arrives twice
	// Throttle is the probability that DynamoDB throttles a read or a write of
	// items. The same request again passes, so a client that retries succeeds.
	Throttle float64
}

// faults are the current Faults and their effects so far.
type faults struct {
	mu        sync.Mutex
	now       Faults
	dice      *rand.Rand
	copied    []string // bodies of messages
	throttled int
	refused   map[string]bool // throttled requests that did not come again yet
}

// Inject replaces the current faults. The order of concurrent requests depends
// on the machine, so two runs with one seed can differ.
func (f *Front) Inject(now Faults) {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()

	f.faults.now, f.faults.dice = now, rand.New(rand.NewPCG(now.Seed, 0))
}

// Copied returns the bodies of the messages sent twice so far.
func (f *Front) Copied() []string {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()

	return append([]string(nil), f.faults.copied...)
}

// Throttled returns the number of requests throttled by Faults so far.
func (f *Front) Throttled() int {
	f.faults.mu.Lock()
	defer f.faults.mu.Unlock()

	return f.faults.throttled
}

// throttles reports whether to throttle the call.
func (s *faults) throttles(c *call) bool {
	switch c.operation {
	case "PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "BatchGetItem", "BatchWriteItem", "TransactWriteItems", "TransactGetItems":
	default:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.dice == nil || s.now.Throttle == 0 {
		return false
	}
	id := identity(c.operation, c.input)
	if s.refused[id] {
		delete(s.refused, id)
		return false
	}
	if s.dice.Float64() >= s.now.Throttle {
		return false
	}
	if s.refused == nil {
		s.refused = map[string]bool{}
	}
	s.refused[id] = true
	s.throttled++
	return true
}

// copies reports whether to send the call's messages twice.
func (s *faults) copies(c *call) bool {
	if c.service != "sqs" || c.operation != "SendMessage" && c.operation != "SendMessageBatch" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.dice == nil || s.dice.Float64() >= s.now.Copies {
		return false
	}
	if c.operation == "SendMessage" {
		s.copied = append(s.copied, c.input.text("MessageBody"))
	}
	for _, e := range c.input.list("Entries") {
		s.copied = append(s.copied, e.text("MessageBody"))
	}
	return true
}
