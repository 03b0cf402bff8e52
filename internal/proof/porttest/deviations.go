package porttest

import (
	"slices"
	"strings"
	"testing"
)

// deviation is a case in which an emulator does otherwise than AWS. The case is
// skipped there and holds everywhere else.
type deviation struct {
	emulator string // a part of the test's name, such as "moto" in TestStore/moto/...
	cases    []string
	why      string
}

// deviations are all that are known.
func deviations() []deviation {
	return []deviation{
		{
			emulator: "moto",
			cases: []string{
				"of 50 racing puts of an event exactly one wins",
				"of 50 racing first saves of a delivery exactly one wins",
				"of 50 racing saves of a version with attempts exactly one wins",
				"of 20 racing updates of a version exactly one wins",
				"of 20 racing creates with a uid exactly one wins",
				"of 50 racing saves of a circuit exactly one wins",
				"50 racers that each add a failure are all counted",
				"of 50 racing saves of limits exactly one wins",
				"50 racing counts all count",
				"of 50 deliveries racing for a probe's lease exactly one is admitted",
				"of a probe's success and failure that race exactly one counts",
				"50 failures that race open a circuit once",
				"of 20 racing deliveries two are in flight at once",
				"20 racing deliveries get slots of their own",
				"of 20 racing saves of a job exactly one wins",
				"50 racing tallies of a job all count",
				"20 racing counts of everything add up",
			},
			why: "moto_server answers in threads and reads an item, or checks a condition, before it writes without a lock around both",
		},
		{
			emulator: "moto",
			cases:    []string{"of 20 racers that note 20 days, the last day is kept"},
			why: "moto_server undoes a transaction that fails by putting back all tables as they were when it began, " +
				"with what others wrote meanwhile",
		},
	}
}

// skipDeviation skips the case of the suite if the emulator under test is known to deviate in it.
func skipDeviation(t *testing.T, name string) {
	t.Helper()

	path := strings.Split(t.Name(), "/")
	for _, d := range deviations() {
		if slices.Contains(path, d.emulator) && slices.Contains(d.cases, name) {
			t.Skipf("%s deviates: %s", d.emulator, d.why)
		}
	}
}
