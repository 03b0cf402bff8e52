package cache_test

import (
	"fmt"
	"slices"
	"testing"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/proof/work"
)

func TestCache(t *testing.T) {
	t.Parallel()

	var gone []string
	c := cache.New[string](3600, func(v string) { gone = append(gone, v) })
	c.Add("a", "first", 800)
	c.Add("b", "second", 800)
	if v, ok := c.Get("a"); !ok || v != "first" { // b is now unused for longest
		t.Errorf("Get(a) = %q, %t", v, ok)
	}
	c.Add("c", "third", 1000)
	if _, ok := c.Get("b"); ok || !slices.Equal(gone, []string{"second"}) {
		t.Errorf("b is kept, or other values are gone: %v", gone)
	}
	c.Add("a", "again", 100)
	if v, _ := c.Get("a"); v != "again" || c.Bytes() != 1000+100+2*500 {
		t.Errorf("Get(a) = %q with %d bytes in all", v, c.Bytes())
	}
	c.Add("large", "large", 3101)
	if _, ok := c.Get("large"); ok {
		t.Error("a value beyond the bound is kept")
	}
	if _, ok := c.Get("c"); !ok {
		t.Error("a value beyond the bound took the place of another")
	}
	c.Remove("a")
	c.Remove("c")
	if c.Bytes() != 0 {
		t.Errorf("%d bytes without a value", c.Bytes())
	}
}

// The overhead covers what the caller does not count: the table, the list, and keys and values of
// several words without their texts.
func TestCache_overhead(t *testing.T) { //nolint:paralleltest // counts the memory of the process
	type words [7]string // as large as the largest key
	const entries = 1_000
	said := 0
	got := work.Heap(10, func() any {
		c := cache.New[words, [3]string](1<<30, nil)
		for i := range entries {
			c.Add(words{fmt.Sprint("key", i)}, [3]string{}, 8)
		}
		said = c.Bytes()
		return c
	})
	if got > said {
		t.Errorf("%d entries take %d bytes, and the cache says %d", entries, got, said)
	}
}
