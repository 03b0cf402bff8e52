// Package page divides lists into pages and makes the cursors between pages.
//
// # Cursors
//
// A cursor holds a position in one list, and 8 bytes of a hash over the list's scope and the
// position. A scope names the kind of list, its tenant if it has one, and the filter. After refuses
// truncated cursors, changed cursors and cursors of other lists.
//
// The hash has no key, because a forged cursor gives access to nothing. The path of the request alone
// selects the list, after the caller has been authorized, and the cursor only selects where to start
// in it: package page compares the position, or the store checks that it belongs to the list. So a
// forged position only skips a part of the caller's own list.
package page

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"surehook.example/surehook/internal/hook"
)

// Number of items in a page.
const (
	DefaultLimit = 50
	MaxLimit     = 100
)

// MaxBytes bounds the items of a page as JSON, in bytes. Lambda takes a response of up to 6 MB, which
// contains the page as a JSON string. That string can be six times as long, if the page consists of
// "<", ">" and "&".
const MaxBytes = 1000 << 10

// Request selects a page of a list.
type Request struct {
	Limit  int    // 1 to MaxLimit
	Bytes  int    // of the items as JSON; 0: MaxBytes
	Cursor string // Next of the previous page; empty for the first page
}

// List is a page of a list.
type List[T any] struct {
	Data []T
	Next string // cursor of the following page; empty at the end
}

// Of returns the page of all that r selects, in the order of the keys. Keys must be unique.
// CodeInvalid for the cursor of another list.
func Of[T any](all []T, scope string, r Request, key func(T) string) (List[T], error) {
	return After(scope, r, func(after string) ([]T, string, error) {
		all = slices.DeleteFunc(slices.Clone(all), func(t T) bool { return after != "" && key(t) <= after })
		slices.SortFunc(all, func(a, b T) int { return strings.Compare(key(a), key(b)) })
		first, next := First(all, r.Limit, key)
		return first, next, nil
	})
}

// After returns the page of the list that begins after the cursor of r. read returns the items after a
// position, and the position for the next page; "" is the begin, and the end. CodeInvalid for the cursor
// of another list.
func After[T any](scope string, r Request, read func(after string) (data []T, next string, err error)) (List[T], error) {
	after, err := openCursor(scope, r.Cursor)
	if err != nil {
		return List[T]{}, err
	}
	data, next, err := read(after)
	if err != nil {
		return List[T]{}, err
	}
	return List[T]{Data: data, Next: NewCursor(scope, next)}, nil
}

// First returns the first items, at most limit, for After. key returns the position of an item.
func First[T any](items []T, limit int, key func(T) string) (first []T, next string) {
	if len(items) <= limit {
		return items, ""
	}
	return items[:limit], key(items[limit-1])
}

// Encode reads a page and encodes its items. The page has at least one item, unless read returns
// none. If the items take more than r.Bytes, Encode reads the page again with the number of items that
// fit, because only the list knows the cursor after them.
func Encode[T any](r Request, read func(Request) (List[T], error), encode func(T) ([]byte, error)) (List[[]byte], error) {
	most := r.Bytes
	if most == 0 {
		most = MaxBytes
	}
	for {
		list, err := read(r)
		if err != nil {
			return List[[]byte]{}, err
		}
		page, size := List[[]byte]{Data: make([][]byte, 0, len(list.Data)), Next: list.Next}, 0
		for _, item := range list.Data {
			text, err := encode(item)
			if err != nil {
				return List[[]byte]{}, err
			}
			if size += len(text); size > most && len(page.Data) > 0 {
				break
			}
			page.Data = append(page.Data, text)
		}
		if len(page.Data) == len(list.Data) {
			return page, nil
		}
		r.Limit = len(page.Data)
	}
}

// Scope joins the parts of a list's name, for After and NewCursor.
func Scope(parts ...string) string { return strings.Join(parts, "\x00") }

// cursorTag is the number of hash bytes in a cursor.
const cursorTag = 8

// maxPosition bounds positions in bytes: a position is part of a key of the store, which has at
// most 1,024 bytes.
const maxPosition = 512

// NewCursor returns the cursor of the list for the items after the position. An empty position is the
// end of the list, and gives an empty cursor.
func NewCursor(scope, position string) string {
	if position == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(tag(scope, position), position...))
}

// openCursor returns the position in a cursor of NewCursor for the same scope, or "" for an empty
// cursor. CodeInvalid for any other text, also for another base64 form of the same bytes.
func openCursor(scope, cursor string) (position string, err error) {
	if cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= cursorTag || cursor != NewCursor(scope, string(raw[cursorTag:])) {
		return "", InvalidCursor()
	}
	if position = string(raw[cursorTag:]); len(position) > maxPosition || !utf8.ValidString(position) {
		return "", InvalidCursor() // forged: not a valid key of any store
	}
	return position, nil
}

// InvalidCursor returns the CodeInvalid error for a cursor of another list.
func InvalidCursor() error {
	return hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not one that this list returned"})
}

func tag(scope, position string) []byte {
	sum := sha256.Sum256([]byte(scope + "\x00" + position))
	return sum[:cursorTag]
}
