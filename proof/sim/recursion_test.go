package sim_test

import "testing"

// TestRecursionLimit proves that a check sees Lambda's limit of recursive invocations.
// The deployed functions allow recursion, so the other seeds have no limit.
func TestRecursionLimit(t *testing.T) {
	t.Parallel()

	const calm = 8 // seeds without faults
	for seed := uint64(calm); seed < 20*calm; seed += calm {
		if w := simulate(t, options{seed: seed, level: levels()[0], limited: true}); w.counts["chains ended"] > 0 {
			if w.failed != checkUndeliverable {
				t.Errorf("seed %d ended %d chains, and check %q failed; want %q", seed, w.counts["chains ended"], w.failed, checkUndeliverable)
			}
			return
		}
	}
	t.Error("no seed has a chain longer than the limit")
}
