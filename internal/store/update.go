// Package store changes records that several processes change: it reads, lets the caller decide,
// writes on condition that nobody wrote in between, and begins again after a conflict.
package store

import (
	"context"
	"errors"

	"surehook.example/surehook/internal/hook"
)

// ErrAgain makes Update begin again with the newest record, if decide returns it: something else that
// decide changes was changed meanwhile.
var ErrAgain = errors.New("changed meanwhile")

// Table is how the records of one kind are read and written. K is the key of a record T.
type Table[K, T any] struct {
	Read func(ctx context.Context, key K) (T, error)
	// Write writes next in place of before, and returns the record as stored. It returns CodeConflict,
	// and writes nothing, if the stored record is not before.
	Write func(ctx context.Context, key K, before, next T) (T, error)
	Name  string // of a record, for the error after Tries conflicts
	Wait  Wait   // between two tries; nil: by the real clock
}

// Update reads the record, calls decide, and writes the record that decide returns, unless write is
// false. If another writer was faster it begins again with the newest record. Only Update sees the
// conflict: an error of Read or decide is final, whatever its code, and after Tries conflicts the
// error is CodeUnavailable.
//
// decide may be called several times, and must be repeatable with another record. If the answer to a write
// is lost, decide finds the record as written: a nonce in it tells.
//
// before is the record that decide got last, and after the record as stored.
func (t Table[K, T]) Update(ctx context.Context, key K, decide func(T) (next T, write bool, err error)) (before, after T, err error) {
	before, err = t.Read(ctx, key)
	if err != nil {
		return before, before, err
	}
	return t.UpdateFrom(ctx, before, key, decide)
}

// UpdateFrom is Update with a record that was read before.
func (t Table[K, T]) UpdateFrom(ctx context.Context, read T, key K, decide func(T) (next T, write bool, err error)) (before, after T, err error) {
	before = read
	for try := 1; ; try++ {
		next, write, err := decide(before)
		switch {
		case err == nil && write:
			after, err = t.Write(ctx, key, before, next)
			if err == nil || hook.CodeOf(err) != hook.CodeConflict {
				return before, after, err
			}
		case !errors.Is(err, ErrAgain):
			return before, next, err
		}
		if try == Tries || !t.Wait.pause(ctx, try) {
			return before, next, busy(err, t.Name)
		}
		if before, err = t.Read(ctx, key); err != nil {
			return before, next, err
		}
	}
}

// Busy returns err, with CodeUnavailable in place of CodeConflict: every try met another writer of
// what the name says.
func Busy(err error, name string) error {
	if err == nil || hook.CodeOf(err) != hook.CodeConflict {
		return err
	}
	return busy(err, name)
}

func busy(err error, name string) error {
	return &hook.Error{Code: hook.CodeUnavailable, Message: "others keep changing " + name + "; try again", Err: err}
}
