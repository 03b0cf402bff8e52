package memory

import (
	"iter"
	"slices"
	"sort"
)

// blockSize is the number of elements at which a block is split: small, so that an
// insertion moves few elements.
const blockSize = 512

// ordered is a set in the order of compare. compare returns 0 for the same element
// only. The set is a list of short sorted blocks: add and remove make two binary
// searches and move at most blockSize elements.
type ordered[T any] struct {
	compare func(a, b T) int
	blocks  [][]T // none is empty
}

func newOrdered[T any](compare func(a, b T) int) *ordered[T] {
	return &ordered[T]{compare: compare}
}

// add adds x. The set must not contain x.
func (o *ordered[T]) add(x T) {
	if len(o.blocks) == 0 {
		o.blocks = [][]T{{x}}
		return
	}
	b, i := o.seek(x)
	if b == len(o.blocks) { // after all elements: append to the last block
		b, i = b-1, len(o.blocks[b-1])
	}
	block := slices.Insert(o.blocks[b], i, x)
	o.blocks[b] = block
	if len(block) < blockSize {
		return
	}
	// Most additions are at the end: then the full block stays full.
	at := blockSize / 2
	if b == len(o.blocks)-1 && i == len(block)-1 {
		at = i
	}
	rest := append(make([]T, 0, blockSize), block[at:]...)
	clear(block[at:])
	o.blocks[b] = block[:at]
	o.blocks = slices.Insert(o.blocks, b+1, rest)
}

// remove removes x. remove does nothing when the set does not contain x.
func (o *ordered[T]) remove(x T) {
	b, i := o.seek(x)
	if b == len(o.blocks) || o.compare(o.blocks[b][i], x) != 0 {
		return
	}
	o.blocks[b] = slices.Delete(o.blocks[b], i, i+1)
	switch left := len(o.blocks[b]); {
	case left == 0:
		o.blocks = slices.Delete(o.blocks, b, b+1)
	case b+1 < len(o.blocks) && left+len(o.blocks[b+1]) < blockSize/4:
		o.blocks[b] = append(o.blocks[b], o.blocks[b+1]...)
		o.blocks = slices.Delete(o.blocks, b+1, b+2)
	}
}

// first returns the first element; ok is false for an empty set.
func (o *ordered[T]) first() (x T, ok bool) {
	if len(o.blocks) == 0 {
		return x, false
	}
	return o.blocks[0][0], true
}

// rank returns the number of elements before x.
func (o *ordered[T]) rank(x T) int {
	b, rank := o.seek(x)
	for _, block := range o.blocks[:b] {
		rank += len(block)
	}
	return rank
}

// len returns the number of elements.
func (o *ordered[T]) len() int {
	n := 0
	for _, block := range o.blocks {
		n += len(block)
	}
	return n
}

// all yields all elements in order. The set must not change during the iteration.
func (o *ordered[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) { o.forward(0, 0, yield) }
}

// from yields the elements not before x, in order. The set must not change during
// the iteration.
func (o *ordered[T]) from(x T) iter.Seq[T] {
	return func(yield func(T) bool) {
		b, i := o.seek(x)
		o.forward(b, i, yield)
	}
}

func (o *ordered[T]) forward(b, i int, yield func(T) bool) {
	for ; b < len(o.blocks); b, i = b+1, 0 {
		for _, x := range o.blocks[b][i:] {
			if !yield(x) {
				return
			}
		}
	}
}

// backward yields all elements in reverse order. The set must not change during
// the iteration.
func (o *ordered[T]) backward() iter.Seq[T] {
	return func(yield func(T) bool) { o.downward(len(o.blocks), 0, yield) }
}

// before yields the elements before x in reverse order. The set must not change
// during the iteration.
func (o *ordered[T]) before(x T) iter.Seq[T] {
	return func(yield func(T) bool) {
		b, i := o.seek(x)
		o.downward(b, i, yield)
	}
}

// downward yields the elements before index i of block b, in reverse order.
func (o *ordered[T]) downward(b, i int, yield func(T) bool) {
	for {
		for i > 0 {
			i--
			if !yield(o.blocks[b][i]) {
				return
			}
		}
		if b == 0 {
			return
		}
		b--
		i = len(o.blocks[b])
	}
}

// seek returns block and index of the first element not before x. The block is
// len(blocks) when all elements are before x.
func (o *ordered[T]) seek(x T) (b, i int) {
	if last := len(o.blocks) - 1; last < 0 || o.compare(o.blocks[last][len(o.blocks[last])-1], x) < 0 {
		return len(o.blocks), 0 // most additions are at the end
	}
	b = sort.Search(len(o.blocks), func(b int) bool {
		block := o.blocks[b]
		return o.compare(block[len(block)-1], x) >= 0
	})
	i, _ = slices.BinarySearchFunc(o.blocks[b], x, o.compare)
	return b, i
}
