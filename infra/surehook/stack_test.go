package surehook

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStack_golden(t *testing.T) {
	t.Parallel()

	checkGolden(t, "prod.template.json", templateOf(t, "prod").raw)
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
