// Package page cuts lists into pages and makes the cursors between them.
package page

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"surehook/internal/hook"
)

// Bounds of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 100
)

// Request asks for a part of a list.
type Request struct {
	Limit  int    // 1 to MaxLimit
	Cursor string // the Next of the page before, or empty for the first
}

// List is a part of a list.
type List[T any] struct {
	Data []T
	Next string // cursor of the page after; empty at the end
}

// Of returns the part of all that r asks for, in the order of their keys,
// which must be unique.
func Of[T any](all []T, scope string, r Request, key func(T) string) (List[T], error) {
	after, err := OpenCursor(scope, r.Cursor)
	if err != nil {
		return List[T]{}, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(t T) bool { return after != "" && key(t) <= after })
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	if len(all) <= r.Limit {
		return List[T]{Data: all}, nil
	}
	all = all[:r.Limit]
	return List[T]{Data: all, Next: NewCursor(scope, key(all[len(all)-1]))}, nil
}

// Scope names the list that a cursor belongs to.
func Scope(parts ...string) string { return strings.Join(parts, "\x00") }

// cursorTag is how many bytes of a hash bind a cursor to its list: to the
// tenant, to what is listed and to its state. One that was cut or changed, or is
// another list's, is refused.
//
// The hash has no key, because there is nothing to forge a cursor for. What is
// read is decided by the request's path alone, after the caller was found to be
// of its tenant; a cursor only says where in that to begin, and its position is
// compared, or checked by the store to be one of the endpoint in the path. Who
// computes the hash for a position of their own choice skips a part of their
// own list; another tenant's position begins nothing but that list.
const cursorTag = 8

// NewCursor returns the cursor of the list that scope names, for what comes after
// the position; empty for the end.
func NewCursor(scope, position string) string {
	if position == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(tag(scope, position), position...))
}

// OpenCursor is the inverse of NewCursor. It takes the very text that NewCursor
// returned: base64 has several for the same bytes.
func OpenCursor(scope, cursor string) (position string, err error) {
	if cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= cursorTag || cursor != NewCursor(scope, string(raw[cursorTag:])) {
		return "", InvalidCursor()
	}
	return string(raw[cursorTag:]), nil
}

func InvalidCursor() error {
	return hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not one that this list returned"})
}

func tag(scope, position string) []byte {
	sum := sha256.Sum256([]byte(scope + "\x00" + position))
	return sum[:cursorTag]
}
