// Package parallel groups a batch, runs the calls for it concurrently, and helps to recover from their panics.
package parallel

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Recover turns a panic of the function that defers it into its error, so that a panic about
// one message or endpoint does not affect the others.
func Recover(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// Each calls f for 0 to n-1, at most limit calls at a time, and returns the errors that are
// not nil, in the order of the calls. For two calls or more, limit must be at least 2. An error
// stops no other call.
//
// If a call panics, Each panics in the calling goroutine after all calls, so that the caller can
// recover. Otherwise a panic about one message would end the process, and fail all messages of
// the batch.
//
// The calling goroutine makes the last call, because a new goroutine would first have to grow its
// stack.
func Each(n, limit int, f func(i int) error) []error {
	if n == 0 {
		return nil
	}
	errs := make([]error, n)
	var (
		others   errgroup.Group
		panicked atomic.Pointer[string] // one of the panics, with its stack
	)
	call := func(i int) {
		defer func() {
			if p := recover(); p != nil {
				panicked.Store(new(fmt.Sprintf("%v\n%s", p, debug.Stack())))
			}
		}()
		errs[i] = f(i)
	}
	others.SetLimit(limit - 1)
	for i := range n - 1 {
		others.Go(func() error {
			call(i)
			return nil // errs holds the error of each call
		})
	}
	call(n - 1)
	_ = others.Wait()
	if text := panicked.Load(); text != nil {
		panic(*text)
	}
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// Groups returns the items with equal keys together, in the order in which the keys come.
func Groups[K comparable, V any](items []V, key func(V) K) [][]V {
	var groups [][]V
	at := make(map[K]int)
	for _, item := range items {
		k := key(item)
		i, known := at[k]
		if !known {
			i = len(groups)
			at[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], item)
	}
	return groups
}
