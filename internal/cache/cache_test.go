package cache_test

import (
	"slices"
	"testing"

	"surehook.example/surehook/internal/cache"
)

func TestCache(t *testing.T) {
	t.Parallel()

	var gone []string
	c := cache.New[string](3000, func(v string) { gone = append(gone, v) })
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
	if v, _ := c.Get("a"); v != "again" || c.Bytes() != 1000+100+2*200 {
		t.Errorf("Get(a) = %q with %d bytes in all", v, c.Bytes())
	}
	c.Add("large", "large", 2801)
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
