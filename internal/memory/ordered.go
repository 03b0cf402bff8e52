package memory

import (
	"iter"
	"slices"
	"sort"
)

// blockSize is how many elements a block holds before it is cut in two: few
// enough that moving them costs next to nothing.
const blockSize = 512

// ordered is a set in the order of compare, which tells all elements apart. It
// is a list of short sorted blocks: adding and removing costs two binary
// searches and moves at most blockSize elements.
type ordered[T any] struct {
	compare func(a, b T) int
	blocks  [][]T // none is empty
}

func newOrdered[T any](compare func(a, b T) int) *ordered[T] {
	return &ordered[T]{compare: compare}
}

// add puts x in. An element that is the same to compare must not be in it.
func (o *ordered[T]) add(x T) {
	if len(o.blocks) == 0 {
		o.blocks = [][]T{{x}}
		return
	}
	b, i := o.seek(x)
	if b == len(o.blocks) { // after all: into the last block
		b, i = b-1, len(o.blocks[b-1])
	}
	block := slices.Insert(o.blocks[b], i, x)
	o.blocks[b] = block
	if len(block) < blockSize {
		return
	}
	// Elements come at the end more often than not: then the full block stays full.
	at := blockSize / 2
	if b == len(o.blocks)-1 && i == len(block)-1 {
		at = i
	}
	rest := append(make([]T, 0, blockSize), block[at:]...)
	clear(block[at:])
	o.blocks[b] = block[:at]
	o.blocks = slices.Insert(o.blocks, b+1, rest)
}

// remove takes x out, if it is in.
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

// first returns the first element; ok is false if there is none.
func (o *ordered[T]) first() (x T, ok bool) {
	if len(o.blocks) == 0 {
		return x, false
	}
	return o.blocks[0][0], true
}

// rank returns how many elements come before x.
func (o *ordered[T]) rank(x T) int {
	b, rank := o.seek(x)
	for _, block := range o.blocks[:b] {
		rank += len(block)
	}
	return rank
}

// len returns how many elements there are.
func (o *ordered[T]) len() int {
	n := 0
	for _, block := range o.blocks {
		n += len(block)
	}
	return n
}

// all yields the elements, the first first. Nothing may be changed meanwhile.
func (o *ordered[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) { o.forward(0, 0, yield) }
}

// from yields x, if it is in, and those after it. Nothing may be changed meanwhile.
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

// backward yields the elements, the last first. Nothing may be changed meanwhile.
func (o *ordered[T]) backward() iter.Seq[T] {
	return func(yield func(T) bool) { o.downward(len(o.blocks), 0, yield) }
}

// before yields those before x, the last first. Nothing may be changed meanwhile.
func (o *ordered[T]) before(x T) iter.Seq[T] {
	return func(yield func(T) bool) {
		b, i := o.seek(x)
		o.downward(b, i, yield)
	}
}

// downward yields what is before index i of block b.
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

// seek returns where the first element is that does not come before x: the
// block, len(blocks) if there is none, and the index in it.
func (o *ordered[T]) seek(x T) (b, i int) {
	b = sort.Search(len(o.blocks), func(b int) bool {
		block := o.blocks[b]
		return o.compare(block[len(block)-1], x) >= 0
	})
	if b == len(o.blocks) {
		return b, 0
	}
	i, _ = slices.BinarySearchFunc(o.blocks[b], x, o.compare)
	return b, i
}
