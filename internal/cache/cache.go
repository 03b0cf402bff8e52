// Package cache keeps values in memory, bounded in bytes: what a function keeps across invocations
// must not depend on how many tenants it serves, nor on how much they store.
//
// It knows no value: whoever adds one says how many bytes it takes.
package cache

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// overhead is more than an entry takes beside the texts of its key and of its value.
const overhead = 500

// Cache keeps values up to a bound; those unused for longest go first. It is safe for concurrent
// use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	kept  *simplelru.LRU[K, entry[V]]
	bytes int
	most  int
	gone  func(V)
}

type entry[V any] struct {
	value V
	bytes int
}

// New returns an empty cache of at most so many bytes. gone is called with each value that leaves
// it; nil for nothing to do.
func New[K comparable, V any](most int, gone func(V)) *Cache[K, V] {
	c := &Cache[K, V]{most: most, gone: gone}
	c.kept, _ = simplelru.NewLRU(math.MaxInt, func(_ K, e entry[V]) { // fails only for a size of 0
		c.bytes -= e.bytes
		if c.gone != nil {
			c.gone(e.value)
		}
	})
	return c
}

// Get returns the value; false if it is not kept.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	e, ok := c.kept.Get(key)
	return e.value, ok
}

// Add keeps a value of so many bytes with its key, in place of an earlier one. A value beyond the
// bound is not kept.
func (c *Cache[K, V]) Add(key K, value V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.kept.Remove(key)
	c.add(key, value, bytes)
}

// add adds a value whose key is new.
func (c *Cache[K, V]) add(key K, value V, bytes int) {
	bytes += overhead
	if bytes > c.most {
		return
	}
	for c.bytes+bytes > c.most {
		c.kept.RemoveOldest()
	}
	c.kept.Add(key, entry[V]{value, bytes})
	c.bytes += bytes
}

// GetOrAdd returns the value that is kept with the key; else it adds this one, and returns it.
func (c *Cache[K, V]) GetOrAdd(key K, value V, bytes int) V {
	c.mu.Lock()
	defer c.mu.Unlock()

	if e, ok := c.kept.Get(key); ok {
		return e.value
	}
	c.add(key, value, bytes)
	return value
}

// Remove drops the value.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.kept.Remove(key)
}

// Bytes returns how many bytes are kept.
func (c *Cache[K, V]) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.bytes
}
