package parallel_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"surehook.example/surehook/internal/delivery/parallel"
)

var errOdd = errors.New("odd")

func TestEach_CallsAllAndReturnsTheErrors(t *testing.T) {
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

func TestEach_LimitsConcurrentCalls(t *testing.T) {
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

// The goroutine of a test is the one that began in tRunner.
func TestEach_MakesTheLastCallInTheCaller(t *testing.T) {
	t.Parallel()

	var inCaller [3]bool
	parallel.Each(len(inCaller), 2, func(i int) error {
		inCaller[i] = strings.Contains(string(debug.Stack()), "testing.tRunner(")
		return nil
	})
	if want := [3]bool{2: true}; inCaller != want {
		t.Errorf("calls in the goroutine of the caller: %v; want %v", inCaller, want)
	}
}

// A caller cannot recover a panic of another goroutine: it would end the process with all messages
// of a batch.
func TestEach_PanicsInTheCallerAfterAllCalls(t *testing.T) {
	t.Parallel()

	for panics := range 3 {
		t.Run(fmt.Sprintf("call %d", panics), func(t *testing.T) {
			t.Parallel()

			var ended atomic.Int32
			caller := make(chan struct{}) // closed when the last call ends
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, "a panic") || !strings.Contains(r, "TestEach_PanicsInTheCallerAfterAllCalls") {
					t.Errorf("the caller recovers %q; want the panic, with its stack", r)
				}
				if n := ended.Load(); n != 3 {
					t.Errorf("%d calls ended; want 3, because a panic waits for the other calls", n)
				}
			}()
			parallel.Each(3, 3, func(i int) error {
				defer ended.Add(1)
				if i == 2 {
					close(caller)
				} else {
					<-caller
				}
				if i == panics {
					panic("a panic")
				}
				return nil
			})
		})
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()

	got := parallel.Groups([]string{"b1", "a1", "b2", "c1", "a2"}, func(s string) byte { return s[0] })
	if want := "[[b1 b2] [a1 a2] [c1]]"; fmt.Sprint(got) != want {
		t.Errorf("Groups() = %v; want %v", got, want)
	}
}
