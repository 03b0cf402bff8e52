package surehook

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRules holds every environment to the AwsSolutions rules of cdk-nag. An
// error fails earlier still, with the finding printed: CDK ends the synthesis,
// and with it every test here.
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

// TestRules_suppressions checks that the rules were asked, and that every
// suppression is needed still.
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
				t.Errorf("suppressions in nag.go (-) and those that applied (+):\n%s", diff)
			}
		})
	}
}

// suppressed is how cdk-nag begins to tell of a finding that is suppressed. The
// brackets hold the finding, of a rule that has several.
var suppressed = regexp.MustCompile(`^CdkNagSuppression(?:\[.*\])?: (\S+) was triggered but suppressed`)
