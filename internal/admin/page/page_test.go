package page_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"surehook.example/surehook/internal/admin/page"
)

// numbers is a list of the numbers from 1 to 9, with the positions as cursors.
func numbers(r page.Request) (page.List[int], error) {
	all := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	return page.Of(all, "numbers", r, strconv.Itoa)
}

// long encodes a number as that many bytes.
func long(n int) ([]byte, error) { return []byte(strings.Repeat(strconv.Itoa(n), n)), nil }

func TestEncode(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name         string
		limit, bytes int
		want         [][]int // the pages
	}{
		{name: "all fit", limit: 9, bytes: 45, want: [][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9}}},
		{name: "all but one fit", limit: 9, bytes: 44, want: [][]int{{1, 2, 3, 4, 5, 6, 7, 8}, {9}}},
		{name: "the limit is less", limit: 4, bytes: 44, want: [][]int{{1, 2, 3, 4}, {5, 6, 7, 8}, {9}}},
		{name: "items of more than the bound come alone", limit: 9, bytes: 5, want: [][]int{{1, 2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}}},
		{name: "the default bound", limit: 9, bytes: 0, want: [][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := page.Request{Limit: tt.limit, Bytes: tt.bytes}
			for i, want := range tt.want {
				got, err := page.Encode(r, numbers, long)
				if err != nil {
					t.Fatalf("Encode = %v", err)
				}
				var lengths []int
				for _, text := range got.Data {
					lengths = append(lengths, len(text))
				}
				if last := i == len(tt.want)-1; !slices.Equal(lengths, want) || (got.Next == "") != last {
					t.Fatalf("page %d = %v with cursor %q; want %v", i, lengths, got.Next, want)
				}
				r.Cursor = got.Next
			}
		})
	}
}

// The items of a list may have grown between two reads. The later page is bounded, too.
func TestEncode_growing(t *testing.T) {
	t.Parallel()

	reads := 0
	read := func(r page.Request) (page.List[int], error) {
		reads++
		return page.List[int]{Data: slices.Repeat([]int{reads}, r.Limit), Next: "more"}, nil
	}
	got, err := page.Encode(page.Request{Limit: 100, Bytes: 12}, read, long)
	if err != nil || len(got.Data) != 2 || reads != 6 {
		t.Errorf("Encode = %d items, %v after %d reads; want 2 of 6 bytes after 6 reads", len(got.Data), err, reads)
	}
}

func TestEncode_errors(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")
	if _, err := page.Encode(page.Request{Limit: 1}, numbers, func(int) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("Encode = %v; want the error of the encoding", err)
	}
	read := func(page.Request) (page.List[int], error) { return page.List[int]{}, broken }
	if _, err := page.Encode(page.Request{Limit: 1}, read, long); !errors.Is(err, broken) {
		t.Errorf("Encode = %v; want the error of the read", err)
	}
}
