package porttest

import (
	"slices"
	"strings"
	"testing"
)

// deviation lists cases with a difference between an engine and AWS. The cases are
// skipped on the engine only. Engines of the store's suite are the emulators, and "table",
// the table in one process, which must have no deviation: proofs rest on it. What the table
// leaves out is in the documentation of its package.
type deviation struct {
	emulator string // a component of the test's name, such as "moto" in TestStore/moto/...
	cases    []string
	reason   string
}

// deviations returns all known deviations.
func deviations() []deviation {
	return []deviation{
		{
			emulator: "moto",
			cases:    []string{"a list has every change acknowledged before"},
			reason:   "moto_server makes the writes of a transaction one by one, and TransactGetItems sees some of them",
		},
		{
			emulator: "moto",
			cases:    []string{"a tenant has at most 500 endpoints"},
			reason:   "moto_server copies all tables for each action of a transaction: 500 endpoints take minutes",
		},
	}
}

// skipDeviation skips a case with a known deviation of the emulator under test.
func skipDeviation(t *testing.T, name string) {
	t.Helper()

	for _, d := range deviations() {
		if isOn(t, d.emulator) && slices.Contains(d.cases, name) {
			t.Skipf("%s deviates: %s", d.emulator, d.reason)
		}
	}
}

// skipRace skips a race on Moto, whatever the case.
func skipRace(t *testing.T) {
	t.Helper()

	if isOn(t, "moto") {
		t.Skip("moto_server handles requests in threads, without a lock around the check of a condition and the write; " +
			"and it rolls a failed transaction back by restoring all tables, with what others wrote in the meantime")
	}
}

func isOn(t *testing.T, emulator string) bool {
	return slices.Contains(strings.Split(t.Name(), "/"), emulator)
}
