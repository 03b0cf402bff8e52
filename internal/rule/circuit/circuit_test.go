package circuit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
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
	c.FailedIn = 7
	return c
}

// begun returns the circuit with its first failures, to be stored as the next version.
func begun(c circuit.Circuit, failures int) circuit.Circuit {
	c.Failures, c.FailedIn = failures, c.Version+1
	return c
}

// since returns a circuit that has been closed again for d.
func since(d time.Duration) circuit.Circuit {
	c := closed(0)
	c.ClosedAt = start.Add(-d)
	return c
}

func open() circuit.Circuit {
	return circuit.Circuit{State: circuit.Open, Generation: 4, Cooldown: 5 * time.Minute, OpenedAt: start, ProbeAt: start.Add(5 * time.Minute), Version: 7}
}

func halfOpen() circuit.Circuit {
	c := open()
	c.State, c.Holder, c.LeaseUntil = circuit.HalfOpen, "dlv_a", start.Add(7*time.Minute)
	return c
}

func TestCircuit_Settled(t *testing.T) {
	t.Parallel()

	slow := settings
	slow.Slow = true
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
		{name: "one failure is counted", from: closed(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 1}, gen: 3, settings: settings, want: begun(closed(0), 1)},
		{name: "the fourth does not open", from: failing(3), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 4}, gen: 3, settings: settings, want: failing(4)},
		{name: "the fifth opens", from: failing(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 5}, gen: 3, settings: settings, want: opened(5)},
		{name: "five at once open", from: closed(0), results: circuit.Results{Failed: 5}, window: circuit.Counts{Failed: 5}, gen: 3, settings: settings, want: opened(5)},
		{name: "another result resets the count", from: failing(4), results: circuit.Results{Alive: true}, window: circuit.Counts{}, gen: 3, settings: settings, want: closed(0)},
		{name: "failures after the last other result count", from: failing(4), results: circuit.Results{Failed: 4, Alive: true, Trailing: 2}, window: circuit.Counts{Failed: 4}, gen: 3, settings: settings, want: begun(closed(0), 2)},
		{name: "a failure in flight before the first does not count", from: failing(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 9, Failed: 5}, earlier: 1, gen: 3, settings: settings, want: failing(4)},
		{name: "many of them do not", from: failing(1), results: circuit.Results{Failed: 10}, window: circuit.Counts{OK: 90, Failed: 11}, earlier: 1, gen: 3, settings: settings, want: failing(1)},
		{name: "but they open by the rate", from: failing(1), results: circuit.Results{Failed: 1}, window: circuit.Counts{OK: 5, Failed: 5}, earlier: 1, gen: 3, settings: settings, want: opened(1)},
		{name: "a success in flight before the first resets the count", from: failing(4), results: circuit.Results{Alive: true}, window: circuit.Counts{OK: 9}, earlier: 1, gen: 3, settings: settings, want: closed(0)},
		{name: "the first failure counts whenever admitted", from: closed(0), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 1}, earlier: 5, gen: 3, settings: settings, want: begun(closed(0), 1)},
		{name: "failures of a record from before count", from: closed(4), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 5}, gen: 3, settings: settings, want: opened(5)},
		{name: "a slow endpoint opens at the third", from: failing(2), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 3}, gen: 3, settings: slow, want: opened(3)},
		{name: "a slow endpoint does not at the second", from: failing(1), results: circuit.Results{Failed: 1}, window: circuit.Counts{Failed: 2}, gen: 3, settings: slow, want: failing(2)},
		{name: "half of ten open", from: closed(0), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 5, Failed: 5}, gen: 3, settings: settings, want: opened(1)},
		{name: "less than half of ten do not", from: closed(0), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 6, Failed: 4}, gen: 3, settings: settings, want: begun(closed(0), 1)},
		{name: "half of nine do not", from: closed(0), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 4, Failed: 5}, gen: 3, settings: settings, want: begun(closed(0), 1)},
		{name: "a rate alone, without a failure now, does not", from: closed(0), results: circuit.Results{Alive: true}, window: circuit.Counts{OK: 1, Failed: 99}, gen: 3, settings: settings, want: closed(0)},
		{name: "a rate with the last outage in the window does not", from: since(circuit.Window - 1), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 5, Failed: 5}, gen: 3, settings: settings, want: begun(since(circuit.Window-1), 1)},
		{name: "a rate without the last outage in the window does", from: since(circuit.Window), results: circuit.Results{Failed: 1, Alive: true, Trailing: 1}, window: circuit.Counts{OK: 5, Failed: 5}, gen: 3, settings: settings, want: opened(1)},
		{name: "results of an earlier generation change nothing", from: failing(4), results: circuit.Results{Failed: 9}, window: circuit.Counts{Failed: 99}, gen: 2, settings: settings, want: failing(4)},
		{name: "an open circuit is unchanged", from: open(), results: circuit.Results{Alive: true}, window: circuit.Counts{}, gen: 4, settings: settings, want: open()},
		{name: "a half-open circuit too", from: halfOpen(), results: circuit.Results{Failed: 9}, window: circuit.Counts{Failed: 9}, gen: 4, settings: settings, want: halfOpen()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			admitted := circuit.Circuit{State: circuit.Closed, Generation: tt.gen, Version: tt.from.Version - tt.earlier}
			got := tt.from.Settled(tt.results, tt.window, admitted, tt.settings, start)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Settled(%+v, %+v) differs (-want +got):\n%s", tt.results, tt.window, diff)
			}
		})
	}
}

// Five slots fail for good: the circuit opens with the fourth attempt admitted after the
// first failure. With one success among those, it stays closed.
func TestCircuit_SlotsFailTogether(t *testing.T) {
	t.Parallel()

	for _, alive := range []bool{false, true} {
		c := circuit.New()
		before := c
		settle := func(admitted circuit.Circuit, r circuit.Results) {
			if next := c.Settled(r, circuit.Counts{OK: 1000, Failed: 10}, admitted, settings, start); next != c {
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

func TestCircuit_Probe(t *testing.T) {
	t.Parallel()

	leased := func(holder string, at time.Time) circuit.Circuit {
		c := halfOpen()
		c.Holder, c.LeaseUntil = holder, at.Add(circuit.LeaseFor)
		return c
	}
	due, over := start.Add(5*time.Minute), start.Add(7*time.Minute)
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
		{name: "from the end of the cooldown on", from: open(), holder: "dlv_b", now: due, want: leased("dlv_b", due), ok: true},
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

func TestCircuit_Probed(t *testing.T) {
	t.Parallel()

	now := start.Add(6 * time.Minute)
	again := func(cooldown time.Duration) circuit.Circuit {
		c := open()
		c.Cooldown, c.ProbeAt = cooldown, now.Add(cooldown)
		return c
	}
	at := func(cooldown time.Duration) circuit.Circuit {
		c := halfOpen()
		c.Cooldown = cooldown
		return c
	}
	shared := func(until time.Duration) circuit.Circuit {
		c := halfOpen()
		c.LeaseUntil = start.Add(until)
		return c
	}
	waiting := func(until time.Duration) circuit.Circuit {
		c := again(10 * time.Minute)
		c.ProbeAt = start.Add(until)
		return c
	}
	reset := circuit.Circuit{State: circuit.Closed, Generation: 5, ClosedAt: now, Version: 7}
	tests := []struct {
		name    string
		from    circuit.Circuit
		holder  string
		earlier int64 // generations between the admission and the circuit
		alive   bool
		shared  bool
		want    circuit.Circuit
	}{
		{name: "success closes and resets the cooldown", from: halfOpen(), holder: "dlv_a", alive: true, want: reset},
		{name: "failure doubles the cooldown", from: at(5 * time.Minute), holder: "dlv_a", alive: false, want: again(10 * time.Minute)},
		{name: "up to the cap", from: at(40 * time.Minute), holder: "dlv_a", alive: false, want: again(time.Hour)},
		{name: "and no further", from: at(time.Hour), holder: "dlv_a", alive: false, want: again(time.Hour)},
		{name: "failure with a lease shared beyond the cooldown waits for the end of the lease", from: shared(20 * time.Minute), holder: "dlv_a", alive: false, shared: true, want: waiting(20 * time.Minute)},
		{name: "failure with a lease shared within the cooldown", from: shared(7 * time.Minute), holder: "dlv_a", alive: false, shared: true, want: again(10 * time.Minute)},
		{name: "failure with a lease of its own", from: shared(20 * time.Minute), holder: "dlv_a", alive: false, want: again(10 * time.Minute)},
		{name: "success with a shared lease closes", from: shared(20 * time.Minute), holder: "dlv_a", alive: true, shared: true, want: reset},
		{name: "another token's failure changes nothing", from: halfOpen(), holder: "dlv_b", alive: false, want: halfOpen()},
		{name: "another token's late success closes", from: halfOpen(), holder: "dlv_b", alive: true, want: reset},
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

			if diff := cmp.Diff(tt.want, tt.from.Probed(circuit.ProbeResult{
				Holder: tt.holder, Generation: tt.from.Generation - tt.earlier, Alive: tt.alive, Shared: tt.shared,
			}, settings, now)); diff != "" {
				t.Errorf("Probed(%s, %t) differs (-want +got):\n%s", tt.holder, tt.alive, diff)
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

// A circuit opened by hand again and again during a probe gives no second lease before
// the end of the first.
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

// FuzzCircuit drives a circuit at random and checks the invariants: at most one
// probe, a cooldown without decrease until a success, no lease while closed, and no
// change by a late result.
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
				c = c.Settled(circuit.Results{Failed: 1}, circuit.Counts{Failed: 1}, c, settings, now)
			case 1:
				c = c.Settled(circuit.Results{Alive: true}, circuit.Counts{OK: 1}, c, settings, now)
			case 2:
				var ok bool
				if c, ok = c.Probe(holder, now); ok && before.State == circuit.HalfOpen && before.Holder != holder && now.Before(before.LeaseUntil) {
					t.Fatalf("op %d: %s probes while %s holds the lease until %v", i, holder, before.Holder, before.LeaseUntil)
				}
			case 3:
				c = c.Probed(circuit.ProbeResult{Holder: holder, Generation: c.Generation, Shared: op%20 == 3}, settings, now)
			case 4:
				c = c.Probed(circuit.ProbeResult{Holder: holder, Generation: c.Generation, Alive: true}, settings, now)
			case 5:
				c = c.Trip(settings, now)
			case 6:
				c = c.Reset(now)
			case 7:
				late := c.Settled(circuit.Results{Failed: 99}, circuit.Counts{Failed: 99}, circuit.Circuit{State: circuit.Closed, Generation: c.Generation - 1}, settings, now)
				if late = late.Probed(circuit.ProbeResult{Holder: holder, Generation: c.Generation - 1, Alive: op%20 == 7}, settings, now); late != c {
					t.Fatalf("op %d: a late result changed %+v to %+v", i, c, late)
				}
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
	case c.State == circuit.Closed && (c.Holder != "" || !c.LeaseUntil.IsZero() || c.Cooldown != 0):
		t.Fatalf("op %d: closed with a lease or a cooldown: %+v", i, c)
	case c.State == circuit.Open && (c.Holder != "" || c.Cooldown < settings.Cooldown || c.Cooldown > settings.MaxCooldown):
		t.Fatalf("op %d: open with a lease or a cooldown out of bounds: %+v", i, c)
	case c.State == circuit.HalfOpen && c.Holder == "":
		t.Fatalf("op %d: half-open without a holder: %+v", i, c)
	case (c.State == circuit.Closed && c.Failures > 0) != (c.FailedIn > 0):
		t.Fatalf("op %d: %d failures since version %d: %+v", i, c.Failures, c.FailedIn, c)
	case c.Generation < before.Generation:
		t.Fatalf("op %d: the generation went back from %d to %d", i, before.Generation, c.Generation)
	case c.Generation == before.Generation && c.State != circuit.Closed && before.State != circuit.Closed && c.Cooldown < before.Cooldown:
		t.Fatalf("op %d: the cooldown shrank from %v to %v in one outage", i, before.Cooldown, c.Cooldown)
	}
}
