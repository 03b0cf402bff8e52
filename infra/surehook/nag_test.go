package surehook

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRules checks every environment against the AwsSolutions rules of cdk-nag.
// An error ends the synthesis and all tests of this package, and CDK prints the
// finding.
func TestRules(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			for _, n := range tpl.notes {
				if n.level != "info" {
					t.Errorf("%s of %s: %s; change it, or say in nag.go why not", n.level, n.path, n.text)
				}
			}
		})
	}
}

// TestRules_suppressions checks that cdk-nag ran, and that every suppression is
// still necessary.
func TestRules_suppressions(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			var want, got []string
			for _, s := range suppressions("surehook-"+env.Name, env) {
				want = append(want, s.rule+" "+s.path)
			}
			for _, n := range tpl.notes {
				if found := suppressed.FindStringSubmatch(n.text); n.level == "info" && found != nil {
					got = append(got, found[1]+" "+strings.TrimSuffix(n.path, "/Resource"))
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("suppressions in nag.go (-) and applied suppressions (+):\n%s", diff)
			}
		})
	}
}

// suppressed matches cdk-nag's note of a suppressed finding. The brackets hold
// the finding for rules with several findings.
var suppressed = regexp.MustCompile(`^CdkNagSuppression(?:\[.*\])?: (\S+) was triggered but suppressed`)
