package circuit_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

var (
	start    = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	settings = circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}
)

func closed(failures int) circuit.Circuit {
	return circuit.Circuit{State: circuit.Closed, Generation: 3, Failures: failures, Version: 7}
}

// failing returns a closed circuit with failures, the first in its stored version.
func failing(failures int) circuit.Circuit {
	c := closed(failures)
	c.FailedIn, c.Threshold = 7, 5
	return c
}

// begun returns the circuit with its first failures, to be stored as the next version. row
// failures in a row open it.
func begun(c circuit.Circuit, failures, row int) circuit.Circuit {
	c.Failures, c.FailedIn, c.Threshold = failures, c.Version+1, row
	return c
}

// since returns a circuit that has been closed again for d.
func since(d time.Duration) circuit.Circuit {
	c := closed(0)
	c.ClosedAt = start.Add(-d)
	return c
}

func open() circuit.Circuit {
	return circuit.Circuit{State: circuit.Open, Generation: 4, Cooldown: 10 * time.Second, OpenedAt: start, ProbeAt: start.Add(10 * time.Second), Version: 7}
}

func halfOpen() circuit.Circuit {
	c := open()
	c.State, c.Holder, c.ProbeAt, c.LeaseUntil = circuit.HalfOpen, "dlv_a", start, start.Add(circuit.ProbeLease)
	return c
}

func TestCircuit_AfterBatch(t *testing.T) {
	t.Parallel()

	fragile, every := settings, settings
	fragile.Fragile = true
	every.Rate = 1
	of := func(c circuit.Circuit, row int) circuit.Circuit {
		c.Threshold = row
		return c
	}
	recovering := func(failures int) circuit.Circuit {
		c := closed(0)
		if failures > 0 {
			c = failing(failures)
		}
		c.ClosedAt = start.Add(-time.Minute)
		c.OpenedAt, c.Cooldown = start.Add(-2*time.Minute), 15*time.Second
		return c
	}
	answered := func(c circuit.Circuit) circuit.Circuit {
		c.OpenedAt, c.Cooldown = time.Time{}, 0
		return c
	}
	again := func(failures int, since, cooldown time.Duration) circuit.Circuit {
		c := open()
		c.Failures = failures
		c.OpenedAt, c.Cooldown, c.ProbeAt = start.Add(-since), cooldown, start.Add(cooldown)
		return c
	}
	strained := func(successes int) circuit.Circuit {
		c := closed(0)
		c.StrainedAt, c.Successes = start, successes
		return c
	}
	works := func(c circuit.Circuit) circuit.Circuit {
		c.ClosedAt = start
		return c
	}
	opened := func(failures int) circuit.Circuit {
		c := open()
		c.Failures = failures
		return c
	}
	tests := []struct {
		name     string
		from     circuit.Circuit
		results  circuit.Results
		window   circuit.Counts
		earlier  int64 // versions between the admission and the circuit
		gen      int64
		settings circuit.Settings
		want     circuit.Circuit
	}{
		{name: "one failure is counted", from: closed(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 1}, gen: 3, settings: settings, want: begun(closed(0), 1, 5)},
		{name: "the fourth does not open", from: failing(3), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 4}, gen: 3, settings: settings, want: failing(4)},
		{name: "nor the fifth of a longer row", from: of(failing(4), 14), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 70, Failed: 35}, gen: 3, settings: settings, want: of(failing(5), 14)},
		{name: "the last of a longer row opens", from: of(failing(13), 14), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 70, Failed: 44}, gen: 3, settings: settings, want: opened(14)},
		{name: "the fifth opens", from: failing(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 5}, gen: 3, settings: settings, want: opened(5)},
		{name: "five at once open", from: closed(0), results: circuit.Results{Failed: 5}, window: circuit.Counts{Failed: 5}, gen: 3, settings: settings, want: opened(5)},
		{name: "another result resets the count", from: failing(4), results: circuit.Results{Alive: true}, window: circuit.Counts{}, gen: 3, settings: settings, want: closed(0)},
		{name: "failures after the last other result count", from: failing(4), results: circuit.Results{Failed: 4, Alive: true, Trailing: 2}, window: circuit.Counts{OK: 1, Failed: 4}, gen: 3, settings: settings, want: begun(closed(0), 2, 8)},
		{name: "a failure in flight before the first does not count", from: failing(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 9, Failed: 5}, earlier: 1, gen: 3, settings: settings, want: failing(4)},
		{name: "many of them do not", from: failing(1), results: circuit.Results{Failed: 10}, window: circuit.Counts{OK: 90, Failed: 11}, earlier: 1, gen: 3, settings: settings, want: failing(1)},
		{name: "but they open if nothing succeeded", from: failing(1), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 10}, earlier: 1, gen: 3, settings: settings, want: opened(1)},
		{name: "a success in flight before the first resets the count", from: failing(4), results: circuit.Results{Alive: true}, window: circuit.Counts{OK: 9}, earlier: 1, gen: 3, settings: settings, want: closed(0)},
		{name: "the first failure counts whenever admitted", from: closed(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 1}, earlier: 5, gen: 3, settings: settings, want: begun(closed(0), 1, 5)},
		{name: "failures of a record from before count", from: closed(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 5}, gen: 3, settings: settings, want: opened(5)},
		{name: "a fragile endpoint opens at the third", from: of(failing(2), 3), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 3}, gen: 3, settings: fragile, want: opened(3)},
		{name: "a fragile endpoint does not at the second", from: failing(1), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 2}, gen: 3, settings: fragile, want: failing(2)},
		{name: "a fragile endpoint's row begins with fewer", from: closed(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 60, Failed: 1}, gen: 3, settings: fragile, want: begun(closed(0), 1, 3)},
		{name: "nine of ten are a strain", from: closed(0), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 1, Failed: 9}, gen: 3, settings: settings, want: begun(strained(0), 1, 13)},
		{name: "eight of ten are luck", from: closed(0), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 2, Failed: 8}, gen: 3, settings: settings, want: begun(closed(0), 1, 12)},
		{name: "700 of 1,000 are a strain", from: closed(0), results: circuit.Results{Alive: true, Passed: 2}, window: circuit.Counts{OK: 300, Failed: 700}, gen: 3, settings: settings, want: strained(2)},
		{name: "all but one of 1,000 are a strain", from: closed(0), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 1, Failed: 999}, gen: 3, settings: settings, want: begun(strained(0), 1, 150)},
		{name: "a few more successes stop it", from: strained(2), results: circuit.Results{Alive: true, Passed: 1}, window: circuit.Counts{OK: 500, Failed: 500}, gen: 3, settings: settings, want: closed(0)},
		{name: "a row of successes beyond luck stops it", from: strained(9), results: circuit.Results{Alive: true, Passed: 1}, window: circuit.Counts{OK: 300, Failed: 700}, gen: 3, settings: settings, want: works(closed(0))},
		{name: "a shorter row does not", from: strained(8), results: circuit.Results{Alive: true, Passed: 1}, window: circuit.Counts{OK: 300, Failed: 700}, gen: 3, settings: settings, want: strained(9)},
		{name: "a failure ends the row of successes", from: strained(8), results: circuit.Results{Failed: 1, Alive: true, Passed: 1}, window: circuit.Counts{OK: 300, Failed: 700}, gen: 3, settings: settings, want: strained(1)},
		{name: "nine of nine are too few", from: failing(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 9}, earlier: 1, gen: 3, settings: settings, want: failing(4)},
		{name: "all of ten open at any rate", from: failing(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 10}, earlier: 1, gen: 3, settings: every, want: opened(4)},
		{name: "a rate of 1 is never a strain", from: failing(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 1, Failed: 999}, earlier: 1, gen: 3, settings: every, want: failing(4)},
		{name: "soon after an outage there is no strain", from: since(circuit.Window - 1), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 1, Failed: 9}, gen: 3, settings: settings, want: begun(since(circuit.Window-1), 1, 13)},
		{name: "until the first success after an outage the configured row opens, whatever the history", from: recovering(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 100, Failed: 100}, gen: 3, settings: settings, want: begun(recovering(0), 1, 5)},
		{name: "and the outage goes on", from: recovering(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 100, Failed: 100}, gen: 3, settings: settings, want: again(5, 2*time.Minute, time.Minute)},
		{name: "half of the attempts of this minute failed", from: closed(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 10_000, Failed: 51, LastOK: 50, LastFailed: 51}, gen: 3, settings: settings, want: begun(closed(0), 1, 18)},
		{name: "none of this minute did", from: closed(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 50, Failed: 51, LastOK: 10, LastFailed: 1}, gen: 3, settings: settings, want: begun(closed(0), 1, 18)},
		{name: "a success ends the outage", from: recovering(3), results: circuit.Results{Alive: true}, window: circuit.Counts{OK: 2, Failed: 8}, gen: 3, settings: settings, want: answered(recovering(0))},
		{name: "an opening after it is a new outage", from: answered(recovering(4)), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 2, Failed: 9}, gen: 3, settings: settings, want: again(5, 0, 10*time.Second)},
		{name: "results of an earlier generation change nothing", from: failing(4), results: circuit.Results{Failed: 9}, window: circuit.Counts{Failed: 99}, gen: 2, settings: settings, want: failing(4)},
		{name: "an open circuit is unchanged", from: open(), results: circuit.Results{Alive: true}, window: circuit.Counts{}, gen: 4, settings: settings, want: open()},
		{name: "a half-open circuit too", from: halfOpen(), results: circuit.Results{Failed: 9}, window: circuit.Counts{Failed: 9}, gen: 4, settings: settings, want: halfOpen()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			admitted := circuit.Circuit{State: circuit.Closed, Generation: tt.gen, Version: tt.from.Version - tt.earlier}
			got := tt.from.AfterBatch(tt.results, tt.window, admitted, tt.settings, start)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("AfterBatch(%+v, %+v) differs (-want +got):\n%s", tt.results, tt.window, diff)
			}
		})
	}
}

// All five slots fail from now on: the circuit opens at the fourth attempt admitted after the
// first failure. With one success among those, it stays closed.
func TestCircuit_SlotsFailTogether(t *testing.T) {
	t.Parallel()

	for _, alive := range []bool{false, true} {
		c := circuit.New()
		before := c
		settle := func(admitted circuit.Circuit, r circuit.Results) {
			if next := c.AfterBatch(r, circuit.Counts{OK: 1000, Failed: 10}, admitted, settings, start); next != c {
				c = next
				c.Version++
			}
		}
		for range 5 {
			settle(before, circuit.Results{Failed: 1})
		}
		after := c
		for i := range 4 {
			settle(after, circuit.Results{Failed: 1})
			if i == 2 && alive {
				settle(after, circuit.Results{Alive: true})
			}
			if want := i == 3 && !alive; (c.State == circuit.Open) != want {
				t.Errorf("a success (%t), and %d failures later: %s with %d failures; want open: %t", alive, i+1, c.State, c.Failures, want)
			}
		}
	}
}

// A circuit without failures was opened by hand. Whatever the batch, one that failures opened has some: the window
// has the results of the batch, so one of failures alone has no success in the batch.
func TestCircuit_OpensWithFailures(t *testing.T) {
	t.Parallel()

	opened := 0
	for i := range 8 * 3 * 3 * 2 * 2 {
		before, failed, passed, earlier, late := i%8, i/8%3, i/24%3, i/72%2, i/144
		c := failing(before)
		if before == 0 {
			c = closed(0)
		}
		admitted := c
		admitted.Version -= int64(late)
		r := circuit.Results{Failed: failed, Alive: passed > 0, Trailing: failed, Passed: passed}
		if passed > 0 {
			r.Trailing = 0
		}
		c = c.AfterBatch(r, circuit.Counts{OK: passed, Failed: before + failed + earlier*settings.Minimum}, admitted, settings, start.Add(time.Hour))
		if c.State == circuit.Open {
			opened++
		}
		if c.State == circuit.Open && c.Failures == 0 {
			t.Errorf("%d failures, then %+v admitted at version %d: opened as if by hand", before, r, admitted.Version)
		}
	}
	if opened == 0 {
		t.Error("nothing opened")
	}
}

// The length of the row that opens a circuit depends on the attempts of the ten minutes before
// it.
func TestCircuit_Row(t *testing.T) {
	t.Parallel()

	tests := []struct {
		ok, failed int
		failures   int // configured
		want       int
	}{
		{0, 0, 5, 5},
		{100, 0, 5, 5},
		{99, 1, 5, 5},
		{95, 5, 5, 6},
		{90, 10, 5, 7},
		{80, 20, 5, 10},
		{70, 30, 5, 12},
		{60, 40, 5, 15},
		{50, 50, 5, 18},
		{700_000, 300_000, 5, 14},
		{400_000, 600_000, 5, 32},
		{300_000, 700_000, 5, 46},
		{200_000, 800_000, 5, 73},
		{1, 999_999, 5, 150},
		{0, 8, 5, 5},
		{70, 30, 2, 5},
		{70, 30, 10, 24},
		{1, 100, 30, 150},
		{0, 0, 100, 100},
	}
	for _, tt := range tests {
		s := settings
		s.Failures = tt.failures
		from := closed(0)
		window := circuit.Counts{OK: tt.ok, Failed: tt.failed + 1}
		got := from.AfterBatch(circuit.Results{Failed: 1}, window, from, s, start).Threshold
		if got != tt.want {
			t.Errorf("after %d successes and %d failures a row of %d opens (configured: %d); want %d", tt.ok, tt.failed, got, tt.failures, tt.want)
		}
	}
}

// The examples in docs/circuit.md, such as 15 of 20, are the fewest failures at which first attempts
// wait.
func TestCircuit_Document(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../../docs/circuit.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`\b(\d+) of (\d+)\b`).FindAllStringSubmatch(string(text), -1)
	if len(examples) != 2 {
		t.Fatalf("docs/circuit.md has %d examples of the rate; want 2", len(examples))
	}
	for _, example := range examples {
		failed, _ := strconv.Atoi(example[1])
		attempts, _ := strconv.Atoi(example[2])
		strained := func(failed int) bool {
			r := circuit.Results{Failed: 1, Alive: true, Trailing: 1}
			return closed(0).AfterBatch(r, circuit.Counts{OK: attempts - failed, Failed: failed}, closed(0), settings, start).Strained(start)
		}
		if strained(failed-1) || !strained(failed) {
			t.Errorf("%s: strained: %t, and with one failure less: %t; want only the first", example[0], strained(failed), strained(failed-1))
		}
	}
}

func TestCircuit_Probe(t *testing.T) {
	t.Parallel()

	leased := func(holder string, at time.Time) circuit.Circuit {
		c := halfOpen()
		c.Holder, c.LeaseUntil = holder, at.Add(circuit.ProbeLease)
		return c
	}
	due, over := start.Add(10*time.Second), start.Add(2*time.Minute)
	first := leased("dlv_b", due)
	first.ProbeAt = due
	tests := []struct {
		name   string
		from   circuit.Circuit
		holder string
		now    time.Time
		want   circuit.Circuit
		ok     bool
	}{
		{name: "a closed circuit has no probe", from: closed(0), holder: "dlv_b", now: due, want: closed(0), ok: false},
		{name: "not before the cooldown is over", from: open(), holder: "dlv_b", now: due.Add(-1), want: open(), ok: false},
		{name: "from the end of the cooldown on", from: open(), holder: "dlv_b", now: due, want: first, ok: true},
		{name: "not while another holds the lease", from: halfOpen(), holder: "dlv_b", now: over.Add(-1), want: halfOpen(), ok: false},
		{name: "the holder renews the lease in full", from: halfOpen(), holder: "dlv_a", now: over.Add(-1), want: leased("dlv_a", over.Add(-1)), ok: true},
		{name: "after the end of the lease", from: halfOpen(), holder: "dlv_b", now: over, want: leased("dlv_b", over), ok: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, ok := tt.from.Probe(tt.holder, tt.now)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
				t.Errorf("Probe(%s) = %t; want %t; differs (-want +got):\n%s", tt.holder, ok, tt.ok, diff)
			}
		})
	}
}

func TestCircuit_AfterProbe(t *testing.T) {
	t.Parallel()

	now := start.Add(30 * time.Second)
	at := func(cooldown, down time.Duration) circuit.Circuit {
		c := halfOpen()
		c.Cooldown, c.OpenedAt = cooldown, now.Add(-down)
		return c
	}
	again := func(cooldown, down time.Duration) circuit.Circuit {
		c := open()
		c.Cooldown, c.OpenedAt, c.ProbeAt = cooldown, now.Add(-down), now.Add(cooldown)
		return c
	}
	shared := func(until time.Duration) circuit.Circuit {
		c := halfOpen()
		c.LeaseUntil = now.Add(until)
		c.ProbeAt = c.LeaseUntil.Add(-circuit.ProbeLease)
		return c
	}
	waiting := func(until time.Duration) circuit.Circuit {
		c := again(15*time.Second, 30*time.Second)
		c.ProbeAt = now.Add(until)
		return c
	}
	dueAt := func(after time.Duration) circuit.Circuit {
		c := open()
		c.ProbeAt = now.Add(after)
		return c
	}
	dueNow := dueAt(0)
	leased := func(c circuit.Circuit, until time.Duration) circuit.Circuit { // a copy may be in flight
		c.LeaseUntil = now.Add(until)
		return c
	}
	later := func(c circuit.Circuit) circuit.Circuit { // the next probe has taken the lease
		c.Holder, c.LeaseUntil = "dlv_b", now.Add(circuit.ProbeLease)
		return c
	}
	over := leased(halfOpen(), start.Sub(now))
	reset := circuit.Circuit{State: circuit.Closed, Generation: 5, ClosedAt: now, Cooldown: 10 * time.Second, OpenedAt: start, Version: 7}
	tests := []struct {
		name    string
		from    circuit.Circuit
		holder  string
		earlier int64 // generations between the admission and the circuit
		alive   bool
		unmade  bool
		returns bool
		copied  bool
		want    circuit.Circuit
	}{
		{name: "success closes, and keeps the outage until the next success", from: halfOpen(), holder: "dlv_a", alive: true, want: reset},
		{name: "failure waits half as long again", from: at(20*time.Second, 30*time.Second), holder: "dlv_a", alive: false, want: again(30*time.Second, 30*time.Second)},
		{name: "or half of the outage", from: at(20*time.Second, 2*time.Minute), holder: "dlv_a", alive: false, want: again(time.Minute, 2*time.Minute)},
		{name: "up to the cap", from: at(50*time.Minute, time.Hour), holder: "dlv_a", alive: false, want: again(time.Hour, time.Hour)},
		{name: "and no further", from: at(time.Hour, 24*time.Hour), holder: "dlv_a", alive: false, want: again(time.Hour, 24*time.Hour)},
		{name: "failure with a lease shared beyond the cooldown waits for the end of the lease", from: shared(20 * time.Second), holder: "dlv_a", alive: false, copied: true, want: leased(waiting(20*time.Second), 20*time.Second)},
		{name: "failure with a lease shared within the cooldown", from: shared(7 * time.Second), holder: "dlv_a", alive: false, copied: true, want: leased(waiting(15*time.Second), 7*time.Second)},
		{name: "failure with a lease of its own", from: shared(20 * time.Second), holder: "dlv_a", alive: false, want: waiting(15 * time.Second)},
		{name: "success with a shared lease closes", from: shared(20 * time.Second), holder: "dlv_a", alive: true, copied: true, want: reset},
		{name: "without a request the lease is free, and the cooldown stays", from: halfOpen(), holder: "dlv_a", unmade: true, want: dueAt(start.Sub(now))},
		{name: "without a request a shared lease stays", from: halfOpen(), holder: "dlv_a", unmade: true, copied: true, want: halfOpen()},
		{name: "without a request another task's lease stays", from: halfOpen(), holder: "dlv_b", unmade: true, want: halfOpen()},
		{name: "a task that comes again holds a lease that is over", from: halfOpen(), holder: "dlv_a", unmade: true, returns: true, want: over},
		{name: "but a shared lease stays", from: halfOpen(), holder: "dlv_a", unmade: true, returns: true, copied: true, want: halfOpen()},
		{name: "as does another task's lease", from: halfOpen(), holder: "dlv_b", unmade: true, returns: true, want: halfOpen()},
		{name: "failure after a mend leads to the next probe at once", from: halfOpen().Mended(false, start.Add(time.Second)), holder: "dlv_a", alive: false, want: dueNow},
		{name: "also by a clock that is behind that of the probe", from: halfOpen().Mended(false, start.Add(-time.Second)), holder: "dlv_a", alive: false, want: dueNow},
		{name: "but not beside a copy", from: shared(20*time.Second).Mended(false, now), holder: "dlv_a", alive: false, copied: true, want: leased(dueAt(20*time.Second), 20*time.Second)},
		{name: "failure of a probe after the mend waits", from: later(halfOpen().Mended(false, start.Add(time.Second))), holder: "dlv_b", alive: false, want: waiting(15 * time.Second)},
		{name: "success after a mend closes", from: halfOpen().Mended(false, start.Add(time.Second)), holder: "dlv_a", alive: true, want: reset},
		{name: "another task's failure changes nothing", from: halfOpen(), holder: "dlv_b", alive: false, want: halfOpen()},
		{name: "another task's late success closes", from: halfOpen(), holder: "dlv_b", alive: true, want: reset},
		{name: "a late success after a lost lease closes", from: open(), holder: "dlv_a", alive: true, want: reset},
		{name: "a late failure after a lost lease changes nothing", from: open(), holder: "dlv_a", alive: false, want: open()},
		{name: "a late success of an earlier outage changes nothing", from: open(), holder: "dlv_a", earlier: 1, alive: true, want: open()},
		{name: "nor the success of an earlier outage with the lease", from: halfOpen(), holder: "dlv_a", earlier: 1, alive: true, want: halfOpen()},
		{name: "nor the failure of an earlier outage with the lease", from: halfOpen(), holder: "dlv_a", earlier: 1, alive: false, want: halfOpen()},
		{name: "a late failure on a closed circuit changes nothing", from: closed(1), holder: "dlv_a", alive: false, want: closed(1)},
		{name: "a late success on a closed circuit changes nothing", from: closed(1), holder: "dlv_a", alive: true, want: closed(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tt.want, tt.from.AfterProbe(circuit.ProbeResult{
				Holder: tt.holder, Generation: tt.from.Generation - tt.earlier, Alive: tt.alive, Unmade: tt.unmade, Returns: tt.returns, Copied: tt.copied,
			}, settings, now)); diff != "" {
				t.Errorf("AfterProbe(%s, %t) differs (-want +got):\n%s", tt.holder, tt.alive, diff)
			}
		})
	}
}

func TestCircuit_ByHand(t *testing.T) {
	t.Parallel()

	for _, from := range []circuit.Circuit{circuit.New(), closed(2), open(), halfOpen()} {
		reset := from.Reset(start)
		if reset.State != circuit.Closed || reset.Generation != from.Generation+1 || reset.Failures != 0 || reset.Holder != "" || reset.Version != from.Version {
			t.Errorf("%s.Reset() = %+v", from.State, reset)
		}
		tripped, probeAt := from.Trip(settings, start), start.Add(settings.Cooldown)
		if from.State == circuit.HalfOpen { // the probe may be in flight
			probeAt = from.LeaseUntil
		}
		if tripped.State != circuit.Open || tripped.Generation != from.Generation+1 || tripped.Cooldown != settings.Cooldown || !tripped.ProbeAt.Equal(probeAt) {
			t.Errorf("%s.Trip() = %+v; want the next probe at %s", from.State, tripped, probeAt)
		}
	}
}

// TestCircuit_Mended checks that a change by the owner leads to a probe at once, but to no second
// one beside another.
func TestCircuit_Mended(t *testing.T) {
	t.Parallel()

	now := start.Add(5 * time.Second)
	probeAt := func(c circuit.Circuit, at time.Time) circuit.Circuit {
		c.ProbeAt = at
		return c
	}
	leased := func(c circuit.Circuit) circuit.Circuit { // opened by hand beside a probe
		c.LeaseUntil = start.Add(circuit.ProbeLease)
		c.ProbeAt = c.LeaseUntil
		return c
	}
	moved := open()
	moved.Generation, moved.ProbeAt = 5, now
	strained, probed := closed(0), closed(0)
	strained.StrainedAt = start
	probed.OpenedAt, probed.Cooldown = start, 15*time.Second
	fresh := circuit.Circuit{State: circuit.Closed, Generation: 4, ClosedAt: now, Version: 7}
	tests := []struct {
		name       string
		moved      bool
		from, want circuit.Circuit
	}{
		{name: "without a record", from: circuit.New(), want: circuit.New()},
		{name: "closed", from: closed(0), want: closed(0)},
		{name: "closed, with failures", from: failing(4), want: fresh},
		{name: "closed, and strained", from: strained, want: fresh},
		{name: "closed by a probe alone", from: probed, want: fresh},
		{name: "open", from: open(), want: probeAt(open(), now)},
		{name: "open, the probe due", from: probeAt(open(), start), want: probeAt(open(), start)},
		{name: "opened by hand beside a probe", from: probeAt(leased(open()), start.Add(time.Hour)), want: leased(open())},
		{name: "half-open", from: halfOpen(), want: probeAt(halfOpen(), now)},
		{name: "moved, closed", moved: true, from: failing(4), want: fresh},
		{name: "moved, open", moved: true, from: open(), want: moved},
		{name: "moved, beside a probe", moved: true, from: leased(open()), want: moved},
		{name: "moved, half-open", moved: true, from: halfOpen(), want: moved},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tt.want, tt.from.Mended(tt.moved, now)); diff != "" {
				t.Errorf("Mended() differs (-want +got):\n%s", diff)
			}
		})
	}
}

// After the move to another server, the answer of the old one to its probe says nothing.
func TestCircuit_Mended_ForgetsTheProbeAtTheOldServer(t *testing.T) {
	t.Parallel()

	probed := halfOpen()
	moved := probed.Mended(true, start.Add(time.Second))
	late := circuit.ProbeResult{Holder: probed.Holder, Generation: probed.Generation, Alive: true}
	if got := moved.AfterProbe(late, settings, start.Add(2*time.Second)); got != moved {
		t.Errorf("a late success at the old server leads to %+v; want %+v", got, moved)
	}
}

// An owner who tries a mend again and again does not wait longer for it: the cooldown follows the
// outage, and not the number of probes.
func TestCircuit_EarlyProbes(t *testing.T) {
	t.Parallel()

	c, now := open(), start
	for range 20 {
		now = now.Add(500 * time.Millisecond)
		probed, ok := c.Mended(false, now).Probe("dlv_a", now)
		if !ok {
			t.Fatalf("no probe after %s", now.Sub(start))
		}
		c = probed.AfterProbe(circuit.ProbeResult{Holder: "dlv_a", Generation: c.Generation}, settings, now)
	}
	if c.Cooldown > 15*time.Second {
		t.Errorf("after 20 probes in %s the cooldown is %s; want at most 15 s", now.Sub(start), c.Cooldown)
	}
}

// Opening a circuit by hand again and again during a probe gives no second lease before the first
// one ends.
func TestCircuit_ByHandTwice(t *testing.T) {
	t.Parallel()

	short := settings
	short.Cooldown = time.Second
	c := halfOpen()
	until := c.LeaseUntil
	for i := range 3 {
		c = c.Trip(short, start.Add(time.Duration(i)*time.Second))
		if _, ok := c.Probe("another", until.Add(-1)); ok || !c.ProbeAt.Equal(until) {
			t.Errorf("after %d openings by hand: %+v; want no probe before %s", i+1, c, until)
		}
	}
	if c = c.Trip(short, until); !c.ProbeAt.Equal(until.Add(time.Second)) || !c.LeaseUntil.IsZero() {
		t.Errorf("opened after the lease: %+v; want the next probe after the cooldown", c)
	}
}

// A copy of the probe's task may be in flight after the first failure, even if the owner changes
// something or opens the circuit by hand meanwhile.
func TestCircuit_NoProbeBesideACopy(t *testing.T) {
	t.Parallel()

	now, until := start.Add(time.Second), halfOpen().LeaseUntil
	failed := halfOpen().AfterProbe(circuit.ProbeResult{Holder: "dlv_a", Generation: halfOpen().Generation, Copied: true}, settings, now)
	for name, c := range map[string]circuit.Circuit{"mended": failed.Mended(false, now), "opened by hand": failed.Trip(settings, now)} {
		if _, ok := c.Probe("another", until.Add(-1)); ok {
			t.Errorf("%s: a probe before the end of the shared lease: %+v", name, c)
		}
		if _, ok := c.Probe("another", until); !ok {
			t.Errorf("%s: no probe at the end of the shared lease: %+v", name, c)
		}
	}
}

// FuzzCircuit drives a circuit at random and checks the invariants: at most one probe at a time,
// a cooldown that never shrinks before a success, no lease while closed, and no effect of late
// results.
func FuzzCircuit(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 9, 2, 3, 9, 2, 4, 1})
	f.Add([]byte{5, 9, 9, 2, 9, 2, 4, 3, 6})
	f.Fuzz(func(t *testing.T, ops []byte) {
		c, now := circuit.New(), start
		holders := []string{"dlv_a", "dlv_b", "dlv_c"}
		for i, op := range ops {
			before := c
			holder := holders[int(op/16)%len(holders)]
			switch op % 10 {
			case 0:
				c = c.AfterBatch(circuit.Results{Failed: 1}, circuit.Counts{Failed: 1}, c, settings, now)
			case 1:
				c = c.AfterBatch(circuit.Results{Alive: true}, circuit.Counts{OK: 1}, c, settings, now)
			case 2:
				var ok bool
				if c, ok = c.Probe(holder, now); ok && before.State == circuit.HalfOpen && before.Holder != holder && now.Before(before.LeaseUntil) {
					t.Fatalf("op %d: %s probes while %s holds the lease until %v", i, holder, before.Holder, before.LeaseUntil)
				}
			case 3:
				c = c.AfterProbe(circuit.ProbeResult{Holder: holder, Generation: c.Generation, Copied: op%20 == 3}, settings, now)
			case 4:
				c = c.AfterProbe(circuit.ProbeResult{Holder: holder, Generation: c.Generation, Alive: true}, settings, now)
			case 5:
				c = c.Trip(settings, now)
			case 6:
				c = c.Reset(now)
			case 7:
				late := c.AfterBatch(circuit.Results{Failed: 99}, circuit.Counts{Failed: 99}, circuit.Circuit{State: circuit.Closed, Generation: c.Generation - 1}, settings, now)
				if late = late.AfterProbe(circuit.ProbeResult{Holder: holder, Generation: c.Generation - 1, Alive: op%20 == 7}, settings, now); late != c {
					t.Fatalf("op %d: a late result changed %+v to %+v", i, c, late)
				}
			case 8:
				c = c.Mended(op%20 == 8, now)
			default:
				now = now.Add(time.Duration(op) * time.Second)
			}
			checkInvariants(t, i, before, c)
			if c != before {
				c.Version++ // stored
			}
		}
	})
}

func checkInvariants(t *testing.T, i int, before, c circuit.Circuit) {
	t.Helper()

	switch {
	case c.State == circuit.Closed && (c.Holder != "" || !c.LeaseUntil.IsZero() || (c.Cooldown == 0) != c.OpenedAt.IsZero()):
		t.Fatalf("op %d: closed with a lease, or with a cooldown without an outage: %+v", i, c)
	case c.State == circuit.Open && (c.Holder != "" || c.Cooldown < settings.Cooldown || c.Cooldown > settings.MaxCooldown):
		t.Fatalf("op %d: open with a lease or a cooldown out of bounds: %+v", i, c)
	case c.State == circuit.HalfOpen && c.Holder == "":
		t.Fatalf("op %d: half-open without a holder: %+v", i, c)
	case (c.State == circuit.Closed && c.Failures > 0) != (c.FailedIn > 0), (c.FailedIn > 0) != (c.Threshold > 0):
		t.Fatalf("op %d: %d failures since version %d, of %d: %+v", i, c.Failures, c.FailedIn, c.Threshold, c)
	case c.State != circuit.Closed && !c.StrainedAt.IsZero(), c.StrainedAt.IsZero() && c.Successes > 0:
		t.Fatalf("op %d: strained at %s after %d successes: %+v", i, c.StrainedAt, c.Successes, c)
	case c.State == circuit.Open && before.State == circuit.Closed && before.Failures < settings.Failures-1 && before.Threshold > 0 && c.Failures > 0:
		t.Fatalf("op %d: opened by %d failures: %+v", i, c.Failures, c)
	case c.Generation < before.Generation:
		t.Fatalf("op %d: the generation went back from %d to %d", i, before.Generation, c.Generation)
	case c.Generation == before.Generation && c.State != circuit.Closed && before.State != circuit.Closed && c.Cooldown < before.Cooldown:
		t.Fatalf("op %d: the cooldown shrank from %v to %v in one outage", i, before.Cooldown, c.Cooldown)
	}
}
