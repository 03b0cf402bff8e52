package memory

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// take returns the first n of seq.
func take(seq iter.Seq[int], n int) []int {
	var some []int
	for x := range seq {
		if len(some) == n {
			break
		}
		some = append(some, x)
	}
	return some
}

func reversed(all []int) []int {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

// The test compares a set with a sorted slice. The set grows and shrinks over many
// blocks: at random positions, at the end like an index by age, and at the beginning
// like a queue.
func TestOrdered_EqualsASortedSlice(t *testing.T) {
	t.Parallel()

	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		o, want := newOrdered(cmp.Compare[int]), []int(nil)
		for step := range 30_000 {
			x := r.IntN(20_000)
			switch r.IntN(8) {
			case 0:
				x = 1_000_000 + step
			case 1:
				if len(want) > 0 && step > 15_000 {
					x = want[0]
				}
			}
			i, in := slices.BinarySearch(want, x)
			if in || step > 15_000 && r.IntN(8) > 0 { // first mostly additions, then mostly removals
				if !in && len(want) > 0 {
					i = r.IntN(len(want))
					in, x = true, want[i]
				}
				o.remove(x)
				if in {
					want = slices.Delete(want, i, i+1)
				}
			} else {
				o.add(x)
				want = slices.Insert(want, i, x)
			}
			if step%1000 == 0 {
				compare(t, o, want, x)
			}
		}
		compare(t, o, want, 10_000)
	}
}

func compare(t *testing.T, o *ordered[int], want []int, x int) {
	t.Helper()

	if got := slices.Collect(o.all()); !slices.Equal(got, want) || o.len() != len(want) {
		t.Fatalf("all() = %d elements, len() = %d; want %d elements", len(got), o.len(), len(want))
	}
	if got := slices.Collect(o.backward()); !slices.Equal(got, reversed(want)) {
		t.Fatalf("backward() = %d elements; want all %d in reverse order", len(got), len(want))
	}
	i, _ := slices.BinarySearch(want, x)
	if got := slices.Collect(o.from(x)); !slices.Equal(got, want[i:]) {
		t.Fatalf("from(%d) = %d elements; want %d", x, len(got), len(want)-i)
	}
	if got := slices.Collect(o.before(x)); !slices.Equal(got, reversed(want[:i])) {
		t.Fatalf("before(%d) = %d elements; want %d", x, len(got), i)
	}
	if got := take(o.all(), 3); !slices.Equal(got, want[:min(3, len(want))]) {
		t.Fatalf("first three of all() = %v; want %v", got, want[:min(3, len(want))])
	}
	if got := o.rank(x); got != i {
		t.Fatalf("rank(%d) = %d; want %d", x, got, i)
	}
	if first, ok := o.first(); ok != (len(want) > 0) || ok && first != want[0] {
		t.Fatalf("first() = %d, %t; want the first of %d elements", first, ok, len(want))
	}
	if half := blockSize / 8; len(o.blocks) > 2+len(want)/half*2 {
		t.Fatalf("%d elements are in %d blocks; want at most twice the minimum", len(want), len(o.blocks))
	}
}
