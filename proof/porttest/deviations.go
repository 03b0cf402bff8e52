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
			cases: []string{
				"of 50 racing puts of an event exactly one wins",
				"of 50 racing first saves of a delivery exactly one wins",
				"of 50 racing saves of a version with attempts exactly one wins",
				"of 20 racing updates of a version exactly one wins",
				"of 20 racing additions of a target exactly one wins",
				"of 20 racing creates with a uid exactly one wins",
				"of 50 racing saves of a circuit exactly one wins",
				"50 racers that each add a failure are all counted",
				"limits give a rate slot to one of 50 racers",
				"limits give 5 slots to 5 of 50 racers, and again to the next",
				"50 racing counts all count",
				"20 racing counts of 20 types lose nothing",
				"of 50 deliveries racing for a probe's lease exactly one is admitted",
				"of a probe's success and failure that race the success counts",
				"50 failures that race open a circuit once",
				"of 20 racing deliveries two are in flight at once",
				"20 racing deliveries get slots of their own",
				"of 20 racing creates with one URL exactly 10 win",
				"of 20 racing saves of a job exactly one wins",
				"of 20 racing first saves of jobs exactly 10 win",
				"of 20 racers that record a key's use on one day, one wins",
				"20 racers do not restore a key deleted by one of them",
				"of 20 racers that open a portal link, one wins",
				"a portal link opened and removed by racers leaves no key",
				"of 20 racers that put a tenant's data key, one wins",
				"of 20 racing marks of a tenant one wins, and all name the winner",
				"50 racing outcomes of a job all count",
				"20 racing counts of everything add up",
				"20 racers create as many endpoints as the limit",
				"20 racers spend as many units as the limit",
				"of 20 racers that change an event type, one wins",
				"of 20 racing creates for one version of the tenant exactly one wins",
			},
			reason: "moto_server handles requests in threads, without a lock around the check of a condition and the write",
		},
		{
			emulator: "moto",
			cases:    []string{"a list has every change acknowledged before"},
			reason:   "moto_server makes the writes of a transaction one by one, and TransactGetItems sees some of them",
		},
		{
			emulator: "moto",
			cases:    []string{"of 20 racers that record 20 days, the last day is kept"},
			reason:   "moto_server rolls a failed transaction back by restoring all tables, and so reverts concurrent writes",
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

	path := strings.Split(t.Name(), "/")
	for _, d := range deviations() {
		if slices.Contains(path, d.emulator) && slices.Contains(d.cases, name) {
			t.Skipf("%s deviates: %s", d.emulator, d.reason)
		}
	}
}
