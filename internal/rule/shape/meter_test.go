package shape_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/proof/work"
)

// A transformation that uses no number of the payload parses none: the allocations are those of
// decoding alone, whatever the numbers are.
func TestShaper_Shape_parsesNumbersOfUseAlone(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all goroutines
	array := func(number string) string { return "[" + strings.Repeat(number+",", 9_999) + number + "]" }
	count := func(number string) float64 {
		var s shape.Shaper
		return testing.AllocsPerRun(3, func() {
			if _, err := s.Shape(nil, &hook.Endpoint{Transformation: `{"body": [1]}`}, event(array(number))); err != nil {
				t.Fatal(err)
			}
		})
	}
	usual := count("11111")
	for _, number := range []string{"9e308", "5e-324", "1e-400", "11.5", strings.Repeat("9", 40)} {
		if got := count(number); got > usual*1.01 {
			t.Errorf("%s: %.0f allocations; want at most %.0f, as for small integers", number, got, usual)
		}
	}
}

// A number is what strconv parses. One that needs exact arithmetic has its price, and one beyond the
// range of a double needs none.
func TestNumber(t *testing.T) {
	t.Parallel()

	const dear = 200
	for text, want := range map[string]int{
		"0": 1, "-0": 1, "0.0": 1, "-0.0": 1, "0e99999": 1 + dear, "7": 1, "1.5": 1, "1e22": 1, "-1e23": 1, "9007199254740993.0": 2, "18446744073709551615": 3, "18446744073709551616": 3, "-9223372036854775809": 3,
		"9e308": 1, "-9e308": 1, "9e400": 1, "1.7976931348623157e308": 3, "1.797693134862315807937289714053e308": 4 + dear, "1.797693134862315807937289714054e308": 4, "1e99999": 1 + dear,
		"2.3e-308": 1, "2.2e-308": 1 + dear, "5e-324": 1 + dear, "2.5e-324": 1 + dear, "-2.5e-324": 1 + dear, "2.4e-324": 1, "-2.4e-324": 1, "1e-400": 1, "1e-99999": 1 + dear,
		"2.225073858513201136057e-308": 3 + dear, "0." + strings.Repeat("1", 40): 5 + dear, strings.Repeat("9", 50): 6 + dear,
	} {
		got, steps := shape.Number(text)
		if steps != want {
			t.Errorf("%s takes %d steps; want %d", text, steps, want)
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			if got != n {
				t.Errorf("%s = %v; want %d", text, got, n)
			}
			continue
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			if got != n {
				t.Errorf("%s = %v; want %d", text, got, n)
			}
			continue
		}
		double, ok := got.(float64)
		if n, _ := strconv.ParseFloat(text, 64); !ok || math.Float64bits(double) != math.Float64bits(n) {
			t.Errorf("%s = %v; want %v", text, got, n)
		}
	}
}

const (
	little = `{"body": {"text": event.data[0]}}`
	much   = `{"body": {"text": event.data.filter(x, event.data.all(y, x == y)).size()}}`
)

// A large evaluation of one tenant does not delay the small ones of another, and nor do those that
// wait for their turn.
func TestShaper_Shape_smallBesideLarge(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var s shape.Shaper
		leave := s.HoldLarge()
		payload := `[` + strings.Repeat("1,", 100) + `1]`
		var shaped atomic.Int32
		for range 10 { // more than the places of small ones: they leave theirs
			go func() {
				if _, err := s.Shape(t.Context().Done(), &hook.Endpoint{Transformation: much}, event(payload)); err != nil {
					t.Errorf("Shape() = %v", err)
				}
				shaped.Add(1)
			}()
		}
		synctest.Wait()
		if got, err := s.Shape(nil, &hook.Endpoint{Transformation: little}, event(payload)); err != nil || string(got.Body) != `{"text":1}` {
			t.Errorf("Shape() = %s, %v; want the body at once", got.Body, err)
		}
		if n := shaped.Load(); n != 0 {
			t.Errorf("%d large ones are shaped beside another", n)
		}
		leave()
		synctest.Wait()
		if n := shaped.Load(); n != 10 {
			t.Errorf("%d large ones are shaped; want 10", n)
		}
	})
}

// Keys are paid for before they are sorted: maps that differ in their first key cost what others do.
func TestShaper_Shape_paysForKeysThatDiffer(t *testing.T) {
	t.Parallel()

	const number = 1_000
	object := func(first string) string {
		return `{"` + first + `":1,` + work.Parts(number, `"k$":1`) + `}`
	}
	compared := func(a, b string) int {
		steps, err := shape.Steps(`{"body": [event.data.a == event.data.b]}`, event(`{"a":`+object(a)+`,"b":`+object(b)+`}`), shape.MaxSteps, nil)
		if err != nil {
			t.Fatal(err)
		}
		return steps
	}
	if same, different := compared("a", "a"), compared("a", "b"); different < same/2 {
		t.Errorf("maps of %d keys that differ in the first one take %d steps, and equal ones %d; want at least half of them", number, different, same)
	}
}

// Nobody works or waits for a caller who is gone.
func TestShaper_Shape_stops(t *testing.T) {
	t.Parallel()

	done := make(chan struct{})
	synctest.Test(t, func(t *testing.T) {
		var s shape.Shaper
		done := make(chan struct{})
		defer s.HoldLarge()()
		go func() {
			if _, err := s.Shape(done, &hook.Endpoint{Transformation: much}, event(`[`+strings.Repeat("1,", 200)+`1]`)); !errors.Is(err, shape.ErrStopped) {
				t.Errorf("Shape() = %v; want %v", err, shape.ErrStopped)
			}
		}()
		synctest.Wait() // it waits for its place
		close(done)
		synctest.Wait()
	})
	close(done)
	if steps, err := shape.Steps(much, event(`[`+strings.Repeat("1,", 1000)+`1]`), shape.MaxSteps, done); err == nil || steps > 5000 {
		t.Errorf("an evaluation takes %d steps after the end of its caller, %v", steps, err)
	}
}
