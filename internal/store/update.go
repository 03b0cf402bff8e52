// Package store changes records that several processes change.
package store

import (
	"cmp"
	"context"
	"errors"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
)

// Tries is how often a change is tried. Each conflict means that another writer has succeeded, so 16
// tries tolerate 15 concurrent writers. The waits between them are 2 s on average, and 3.8 s at most.
const Tries = 16

// ErrAgain, returned by decide, makes Update begin again with the newest record, as after a conflict:
// something else that decide changes was changed meanwhile.
var ErrAgain = errors.New("changed meanwhile")

// Table is how the records of one kind are read and written. K is the key of a record T.
type Table[K, T any] struct {
	Read func(ctx context.Context, key K) (T, error)
	// Write writes next in place of before, and returns the record as stored. It returns CodeConflict,
	// and writes nothing, if the stored version is not that of before.
	Write func(ctx context.Context, before, next T) (T, error)
	Name  string        // of a record, for the error after Tries conflicts
	Wait  conflict.Wait // between two tries; nil: by the real clock
}

// Update reads the record, calls decide, and writes the record that decide returns, unless write is
// false. If another writer was faster it begins again with the newest record: only Update sees the
// conflict, so an error of Read or decide is final, whatever its code. After Tries conflicts the
// error is CodeUnavailable.
//
// decide may be called several times, and must depend on its argument alone. If the answer to a write
// is lost, decide finds the record as written: a nonce in it tells.
//
// after is the record as stored, and before the record from which it was written, or after itself
// if nothing was.
func (t Table[K, T]) Update(ctx context.Context, key K, decide func(T) (next T, write bool, err error)) (before, after T, err error) {
	read, err := t.Read(ctx, key)
	if err != nil {
		return before, after, err
	}
	return t.UpdateFrom(ctx, read, key, decide)
}

// UpdateFrom is Update with a record that was read before.
func (t Table[K, T]) UpdateFrom(ctx context.Context, read T, key K, decide func(T) (next T, write bool, err error)) (before, after T, err error) {
	var final error
	before = read
	first := true
	err = conflict.Repeat(ctx, t.Wait, Tries, func() (err error) {
		if !first {
			if read, final = t.Read(ctx, key); final != nil {
				return nil
			}
		}
		first = false
		next, write, err := decide(read)
		if errors.Is(err, ErrAgain) {
			return hook.Conflict(err.Error())
		}
		if after, final = next, err; final != nil || !write {
			return nil
		}
		before = read
		after, err = t.Write(ctx, read, next)
		return err
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		err = &hook.Error{Code: hook.CodeUnavailable, Message: t.Name + " is being changed by others; try again", Err: err}
	}
	return before, after, cmp.Or(final, err)
}
