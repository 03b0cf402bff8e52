package memory

import "github.com/tidwall/btree"

// ordered is a set in an order, for callers with a lock.
type ordered[T any] struct{ tree tree }

// tree is the B-tree of an ordered. It is an interface, and of any values, because each package that
// has a queue would otherwise compile the B-trees of all kinds of messages again.
type tree interface {
	Set(item any) (before any, replaced bool)
	Delete(item any) (before any, deleted bool)
	Min() (item any, ok bool)
	Scan(f func(item any) bool)
	Len() int
}

// newOrdered returns an empty set in the order of compare.
func newOrdered[T any](compare func(a, b T) int) ordered[T] {
	return ordered[T]{newTree(func(a, b any) bool { return compare(valueOf[T](a), valueOf[T](b)) < 0 })}
}

//go:noinline
func newTree(less func(a, b any) bool) tree {
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

func valueOf[T any](item any) T {
	v, _ := item.(T)
	return v
}

func (o ordered[T]) set(v T) { o.tree.Set(v) }

func (o ordered[T]) delete(v T) { o.tree.Delete(v) }

func (o ordered[T]) len() int { return o.tree.Len() }

// min returns the first value; ok is false for an empty set.
func (o ordered[T]) min() (v T, ok bool) {
	item, ok := o.tree.Min()
	return valueOf[T](item), ok
}

// scan calls f for each value, in the order, until f returns false.
func (o ordered[T]) scan(f func(v T) bool) {
	o.tree.Scan(func(item any) bool { return f(valueOf[T](item)) })
}
