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

// since returns a circuit that has been closed again for d.
func since(d time.Duration) circuit.Circuit {
	c := closed(0)
	c.ClosedAt = start.Add(-d)
	return c
}

// failed returns the circuit with one failure counted.
func failed(c circuit.Circuit) circuit.Circuit {
	c.Failures = 1
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
	opened := func() circuit.Circuit { return open() }
	tests := []struct {
		name     string
		from     circuit.Circuit
		results  circuit.Results
		window   circuit.Counts
		gen      int64
		settings circuit.Settings
		want     circuit.Circuit
	}{
		{"one failure is counted", closed(0), circuit.Results{Failed: 1}, circuit.Counts{Failed: 1}, 3, settings, closed(1)},
		{"the fourth does not open", closed(3), circuit.Results{Failed: 1}, circuit.Counts{Failed: 4}, 3, settings, closed(4)},
		{"the fifth opens", closed(4), circuit.Results{Failed: 1}, circuit.Counts{Failed: 5}, 3, settings, opened()},
		{"five at once open", closed(0), circuit.Results{Failed: 5}, circuit.Counts{Failed: 5}, 3, settings, opened()},
		{"an answer forgets what was before", closed(4), circuit.Results{Alive: true}, circuit.Counts{}, 3, settings, closed(0)},
		{"failures after the last answer count", closed(4), circuit.Results{Failed: 4, Alive: true, Trailing: 2}, circuit.Counts{Failed: 4}, 3, settings, closed(2)},
		{"a slow endpoint opens at the third", closed(2), circuit.Results{Failed: 1}, circuit.Counts{Failed: 3}, 3, slow, opened()},
		{"a slow endpoint does not at the second", closed(1), circuit.Results{Failed: 1}, circuit.Counts{Failed: 2}, 3, slow, closed(2)},
		{"half of ten open", closed(0), circuit.Results{Failed: 1, Alive: true, Trailing: 1}, circuit.Counts{OK: 5, Failed: 5}, 3, settings, opened()},
		{"less than half of ten do not", closed(0), circuit.Results{Failed: 1, Alive: true, Trailing: 1}, circuit.Counts{OK: 6, Failed: 4}, 3, settings, closed(1)},
		{"half of nine do not", closed(0), circuit.Results{Failed: 1, Alive: true, Trailing: 1}, circuit.Counts{OK: 4, Failed: 5}, 3, settings, closed(1)},
		{"a rate alone, without a failure now, does not", closed(0), circuit.Results{Alive: true}, circuit.Counts{OK: 1, Failed: 99}, 3, settings, closed(0)},
		{"a rate that an outage left in the window does not", since(circuit.Window - 1), circuit.Results{Failed: 1, Alive: true, Trailing: 1}, circuit.Counts{OK: 5, Failed: 5}, 3, settings, failed(since(circuit.Window - 1))},
		{"it does when the outage is out of the window", since(circuit.Window), circuit.Results{Failed: 1, Alive: true, Trailing: 1}, circuit.Counts{OK: 5, Failed: 5}, 3, settings, opened()},
		{"results of an earlier generation change nothing", closed(4), circuit.Results{Failed: 9}, circuit.Counts{Failed: 99}, 2, settings, closed(4)},
		{"an open circuit stays as it is", open(), circuit.Results{Alive: true}, circuit.Counts{}, 4, settings, open()},
		{"a half-open circuit too", halfOpen(), circuit.Results{Failed: 9}, circuit.Counts{Failed: 9}, 4, settings, halfOpen()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := tt.from.Settled(tt.results, tt.window, tt.gen, tt.settings, start)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Settled(%+v, %+v) differs (-want +got):\n%s", tt.results, tt.window, diff)
			}
		})
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
		{"a closed circuit needs none", closed(0), "dlv_b", due, closed(0), false},
		{"not before the cooldown is over", open(), "dlv_b", due.Add(-1), open(), false},
		{"from then on", open(), "dlv_b", due, leased("dlv_b", due), true},
		{"not while another holds the lease", halfOpen(), "dlv_b", over.Add(-1), halfOpen(), false},
		{"the holder itself may come again, for as long", halfOpen(), "dlv_a", over.Add(-1), leased("dlv_a", over.Add(-1)), true},
		{"when the lease ran out", halfOpen(), "dlv_b", over, leased("dlv_b", over), true},
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
	reset := circuit.Circuit{State: circuit.Closed, Generation: 5, ClosedAt: now, Version: 7}
	tests := []struct {
		name   string
		from   circuit.Circuit
		holder string
		alive  bool
		want   circuit.Circuit
	}{
		{"success closes and forgets the cooldown", halfOpen(), "dlv_a", true, reset},
		{"failure doubles the cooldown", at(5 * time.Minute), "dlv_a", false, again(10 * time.Minute)},
		{"up to the cap", at(40 * time.Minute), "dlv_a", false, again(time.Hour)},
		{"and no further", at(time.Hour), "dlv_a", false, again(time.Hour)},
		{"somebody else's success is nothing", halfOpen(), "dlv_b", true, halfOpen()},
		{"somebody else's failure is nothing", halfOpen(), "dlv_b", false, halfOpen()},
		{"a late success of a lost lease is nothing", open(), "dlv_a", true, open()},
		{"a late failure on a closed circuit is nothing", closed(1), "dlv_a", false, closed(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tt.want, tt.from.Probed(tt.holder, tt.alive, settings, now)); diff != "" {
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
		tripped := from.Trip(settings, start)
		if tripped.State != circuit.Open || tripped.Generation != from.Generation+1 || tripped.Cooldown != settings.Cooldown || !tripped.ProbeAt.Equal(start.Add(settings.Cooldown)) {
			t.Errorf("%s.Trip() = %+v", from.State, tripped)
		}
	}
}

// FuzzCircuit drives a circuit at random and holds it to what must always be:
// never two probes at once, a cooldown that only grows until a success, no lease
// while closed, and nothing changed by a late result.
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
				c = c.Settled(circuit.Results{Failed: 1}, circuit.Counts{Failed: 1}, c.Generation, settings, now)
			case 1:
				c = c.Settled(circuit.Results{Alive: true}, circuit.Counts{OK: 1}, c.Generation, settings, now)
			case 2:
				var ok bool
				if c, ok = c.Probe(holder, now); ok && before.State == circuit.HalfOpen && before.Holder != holder && now.Before(before.LeaseUntil) {
					t.Fatalf("op %d: %s probes while %s holds the lease until %v", i, holder, before.Holder, before.LeaseUntil)
				}
			case 3:
				c = c.Probed(holder, false, settings, now)
			case 4:
				c = c.Probed(holder, true, settings, now)
			case 5:
				c = c.Trip(settings, now)
			case 6:
				c = c.Reset(now)
			case 7:
				if late := c.Settled(circuit.Results{Failed: 99}, circuit.Counts{Failed: 99}, c.Generation-1, settings, now); late != c {
					t.Fatalf("op %d: a late result changed %+v to %+v", i, c, late)
				}
			default:
				now = now.Add(time.Duration(op) * time.Second)
			}
			hold(t, i, before, c)
		}
	})
}

func hold(t *testing.T, i int, before, c circuit.Circuit) {
	t.Helper()

	switch {
	case c.State == circuit.Closed && (c.Holder != "" || !c.LeaseUntil.IsZero() || c.Cooldown != 0):
		t.Fatalf("op %d: closed with a lease or a cooldown: %+v", i, c)
	case c.State == circuit.Open && (c.Holder != "" || c.Cooldown < settings.Cooldown || c.Cooldown > settings.MaxCooldown):
		t.Fatalf("op %d: open with a lease or a cooldown out of bounds: %+v", i, c)
	case c.State == circuit.HalfOpen && c.Holder == "":
		t.Fatalf("op %d: half-open without a holder: %+v", i, c)
	case c.Generation < before.Generation:
		t.Fatalf("op %d: the generation went back from %d to %d", i, before.Generation, c.Generation)
	case c.Generation == before.Generation && c.State != circuit.Closed && before.State != circuit.Closed && c.Cooldown < before.Cooldown:
		t.Fatalf("op %d: the cooldown shrank from %v to %v in one outage", i, before.Cooldown, c.Cooldown)
	}
}
