// Package store changes records that several processes change: it reads, lets the caller decide,
// writes on condition that nobody wrote in between, and begins again after a conflict.
package store

import (
	"cmp"
	"context"
	"errors"

	"surehook.example/surehook/internal/hook"
)

// ErrAgain, returned by decide, makes Update begin again with the newest record, as after a conflict:
// something else that decide changes was changed meanwhile.
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
// decide may be called several times, and must depend on its argument alone. If the answer to a write
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
	var final error
	first := true
	err = Repeat(ctx, t.Wait, Tries, func() (err error) {
		if !first {
			if before, final = t.Read(ctx, key); final != nil {
				return nil
			}
		}
		first = false
		next, write, err := decide(before)
		if errors.Is(err, ErrAgain) {
			return hook.Conflict(err.Error())
		}
		if after, final = next, err; final != nil || !write {
			return nil
		}
		after, err = t.Write(ctx, key, before, next)
		return err
	})
	return before, after, cmp.Or(final, Busy(err, t.Name))
}

// Busy returns err, with CodeUnavailable in place of CodeConflict: every try met another writer of
// what the name says.
func Busy(err error, name string) error {
	if err == nil || hook.CodeOf(err) != hook.CodeConflict {
		return err
	}
	return &hook.Error{Code: hook.CodeUnavailable, Message: "others keep changing " + name + "; try again", Err: err}
}
