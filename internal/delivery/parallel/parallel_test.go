package parallel_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"surehook/internal/delivery/parallel"
)

var errOdd = errors.New("odd")

func TestEach(t *testing.T) {
	t.Parallel()

	for _, n := range []int{0, 1, 2, 3, 10} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()

			calls := make([]int, n)
			errs := parallel.Each(n, 3, func(i int) error {
				calls[i]++
				if i%2 == 1 {
					return errOdd
				}
				return nil
			})
			if slices.ContainsFunc(calls, func(c int) bool { return c != 1 }) {
				t.Errorf("Each(%d) made the calls %v; want one call each", n, calls)
			}
			if len(errs) != n/2 || slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, errOdd) }) {
				t.Errorf("Each(%d) = %v; want the %d errors alone", n, errs, n/2)
			}
		})
	}
}

func TestEach_atOnce(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ n, limit, want int }{{1, 4, 1}, {4, 4, 4}, {9, 4, 4}, {3, 2, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var (
				mu            sync.Mutex
				running, most int
			)
			next := make(chan struct{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				parallel.Each(tt.n, tt.limit, func(int) error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					<-next
					mu.Lock()
					running--
					mu.Unlock()
					return nil
				})
			}()
			for range tt.n {
				synctest.Wait()
				next <- struct{}{}
			}
			<-done
			if most != tt.want {
				t.Errorf("Each(%d, %d) makes %d calls at once; want %d", tt.n, tt.limit, most, tt.want)
			}
		})
	}
}

// TestEach_caller knows the goroutine by its panics: a panic of another goroutine ends the process.
func TestEach_caller(t *testing.T) {
	t.Parallel()

	defer func() {
		if r := recover(); r != "the last call" {
			t.Errorf("the caller recovers %v; want the panic of the last call", r)
		}
	}()
	parallel.Each(3, 2, func(i int) error {
		if i == 2 {
			panic("the last call")
		}
		return nil
	})
}

// TestEach_panic: a panic of another goroutine would end the process, with all other messages of a
// batch, whatever the caller recovers.
func TestEach_panic(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "the first call") || !strings.Contains(r, "TestEach_panic") {
			t.Errorf("the caller recovers %q; want the panic of the first call, with its stack", r)
		}
		if n := calls.Load(); n != 3 {
			t.Errorf("%d calls; want 3: a panic stops no other call", n)
		}
	}()
	parallel.Each(3, 2, func(i int) error {
		calls.Add(1)
		if i == 0 {
			panic("the first call")
		}
		return nil
	})
}
