package client

import "iter"

// pages yields the items of all pages of a list, one after the other, and reads the next page only
// when its first item is asked for. A list ends after an error. Limit in the parameters is the size of
// a page. read returns the page at the cursor, nil for the first page, and the cursor of the next page.
func pages[T any](read func(cursor *string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var cursor *string
		for {
			data, next, err := read(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range data {
				if !yield(item, nil) {
					return
				}
			}
			if cursor = next; cursor == nil {
				return
			}
		}
	}
}
