package surehook

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStack_golden(t *testing.T) {
	t.Parallel()

	checkGolden(t, "prod.template.json", templateOf(t, "prod").raw)
}

// TestStack_ids holds the logical ids of all that has a name or a memory. Under another logical
// id, CloudFormation makes another resource: empty, or refused because the name exists. -update
// adds ids. Remove or change a line by hand, after the question what happens to deployed stacks.
func TestStack_ids(t *testing.T) {
	t.Parallel()

	const path = "testdata/ids.txt"
	held := map[string]bool{}
	text, err := os.ReadFile(path)
	if err != nil && !*update { // -update writes a file that is missing
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		held[strings.TrimSpace(line)] = true
	}
	now := map[string]bool{}
	for _, env := range []string{"prod", "custom"} {
		for id, r := range templateOf(t, env).Resources {
			if r.Type != "AWS::Lambda::Permission" { // neither a name of ours nor a memory
				now[r.Type+" "+id] = true
			}
		}
	}
	for line := range held {
		if !now[line] {
			t.Errorf("no template has %s, and deployed stacks would lose it", line)
		}
	}
	if *update {
		maps.Copy(held, now)
		if err := os.WriteFile(path, []byte(strings.Join(slices.Sorted(maps.Keys(held)), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line := range now {
		if !held[line] {
			t.Errorf("%s is new; add it with -update", line)
		}
	}
}

// TestStack_kept checks that deploy.sh asks before anything leaves the stack that prod keeps.
func TestStack_kept(t *testing.T) {
	t.Parallel()

	script, err := os.ReadFile("../deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`(?m)^kept_types='(.*)'$`).FindStringSubmatch(string(script))
	if asked == nil {
		t.Fatal("deploy.sh has no kept_types")
	}
	for id, r := range templateOf(t, "prod").Resources {
		if strings.HasPrefix(r.DeletionPolicy, "Retain") && !slices.Contains(strings.Fields(asked[1]), r.Type) {
			t.Errorf("prod keeps %s %s, but deploy.sh does not ask before it leaves the stack", r.Type, id)
		}
	}
}

func TestStack_outputs(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			want := []string{
				"AdminKeySecretArn", "ApiUrl", "CircuitsQueueUrl", "CoalesceQueueUrl", "DeadLettersUrl", "EventsQueueArn", "EventsQueueUrl", "KeyArn", "LiveQueueUrl",
				"OverflowQueueUrl", "RejectsQueueUrl", "ReplayJobsQueueUrl", "ReplayQueueUrl", "RetryQueueUrl", "ScheduleGroupName", "SlotQueueUrl", "StreamArn", "TableName", "TopicArn", "UndeliverableRetryUrl", "UndeliverableUrl",
			}
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(tpl.Outputs))); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStack_support compares the templates with the support matrix.
func TestStack_support(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("../../localstack/support.json")
	if err != nil {
		t.Fatalf("read the matrix: %v", err)
	}
	var matrix struct {
		Targets map[string]string   `json:"targets"`
		Types   map[string][]string `json:"types"`
	}
	if err := json.Unmarshal(b, &matrix); err != nil {
		t.Fatalf("read the matrix: %v", err)
	}
	used := map[string][]string{} // by type: the targets in need of the type
	for _, env := range environments("arm64") {
		for _, r := range templateOf(t, env.Name).Resources {
			used[r.Type] = append(used[r.Type], "aws")
			if env.Name == "local" { // make run must work
				used[r.Type] = append(used[r.Type], "ministack")
			}
		}
	}
	for kind, needed := range used {
		targets := matrix.Types[kind]
		slices.Sort(needed)
		for _, target := range slices.Compact(needed) {
			if !slices.Contains(targets, target) {
				t.Errorf("%s is in the stack, but localstack/support.json does not say that %s has it", kind, target)
			}
		}
		for _, target := range targets {
			if matrix.Targets[target] == "" {
				t.Errorf("%s: the target %q is not explained", kind, target)
			}
		}
	}
	for kind := range matrix.Types {
		if used[kind] == nil {
			t.Errorf("localstack/support.json has %s, which is not in the stack", kind)
		}
	}
}
