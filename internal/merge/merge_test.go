package merge_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"surehook.example/surehook/internal/merge"
)

// of returns a source of the numbers, and counts its reads. A page that ends at the look has more, even at
// the end of the numbers.
func of(reads *[]int, numbers ...int) merge.Source[int] {
	*reads = append(*reads, 0)
	at := len(*reads) - 1
	return func(_ context.Context, after *int, look int) (rows []int, more *int, err error) {
		(*reads)[at]++
		for _, n := range numbers {
			if after != nil && n < *after { // the row at after comes again
				continue
			}
			if rows = append(rows, n); len(rows) == look {
				return rows, &n, nil
			}
		}
		return rows, nil, nil
	}
}

func TestList(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		list    merge.List[int]
		sources [][]int
		take    int
		want    []int
		rest    int // 0: none
		reads   []int
	}{
		{name: "no source", take: 3},
		{name: "empty sources", sources: [][]int{{}, {}}, take: 3, reads: []int{1, 1}},
		{name: "in order, to the end", sources: [][]int{{1, 4, 5}, {2, 6}, {3}}, take: 9, want: []int{1, 2, 3, 4, 5, 6}, reads: []int{2, 1, 1}},
		{name: "no further than asked for", sources: [][]int{{1, 4, 5}, {2, 6}}, take: 2, want: []int{1, 2}, reads: []int{1, 1}},
		{name: "reads on only where the next row may be", sources: [][]int{{1, 2, 3, 4}, {1, 7, 8, 9}}, take: 5, want: []int{1, 1, 2, 3, 4}, reads: []int{2, 1}},
		{name: "after a row", list: merge.List[int]{After: new(4)}, sources: [][]int{{1, 4, 5}, {2, 6}}, take: 9, want: []int{5, 6}, reads: []int{1, 1}},
		{name: "no reads left", list: merge.List[int]{Left: -1}, sources: [][]int{{1, 2, 3, 4}, {5, 6, 7, 8}}, take: 9, want: []int{1, 2, 3}, rest: 3, reads: []int{1, 1}},
		{name: "the reads left", list: merge.List[int]{Left: 1}, sources: [][]int{{1, 2, 3, 4, 5, 6, 7}, {5, 6, 7, 8}}, take: 9, want: []int{1, 2, 3, 4}, rest: 4, reads: []int{2, 1}},
		{name: "the reads of one source", list: merge.List[int]{Each: 2}, sources: [][]int{{1, 2, 3, 4, 5, 6, 7}, {2}}, take: 9, want: []int{1, 2, 2, 3, 4}, rest: 4, reads: []int{2, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			l := tt.list
			l.Compare, l.First, l.Next, l.AtOnce = cmp.Compare[int], 3, 2, 1
			if l.Left == 0 {
				l.Left = 100
			}
			var reads []int
			for _, numbers := range tt.sources {
				l.Add(of(&reads, numbers...))
			}
			got, err := l.Take(t.Context(), tt.take)
			rest := 0
			if at := l.Rest(); at != nil && len(got) < tt.take {
				rest = *at
			}
			if err != nil || !slices.Equal(got, tt.want) || rest != tt.rest || !slices.Equal(reads, tt.reads) {
				t.Errorf("Take(%d) = %v, %v, rest %d, in %v reads; want %v, rest %d, in %v", tt.take, got, err, rest, reads, tt.want, tt.rest, tt.reads)
			}
		})
	}
}

func TestList_failure(t *testing.T) {
	t.Parallel()

	wrong := errors.New("no answer")
	l := merge.List[int]{Compare: cmp.Compare[int], First: 3, AtOnce: 2}
	l.Add(func(context.Context, *int, int) ([]int, *int, error) { return []int{1}, nil, nil })
	l.Add(func(context.Context, *int, int) ([]int, *int, error) { return nil, nil, wrong })
	if got, err := l.Take(t.Context(), 1); !errors.Is(err, wrong) || got != nil {
		t.Errorf("Take() = %v, %v; want the failure of a source, and no row", got, err)
	}
}
