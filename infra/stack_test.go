package main

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
				"AdminKeySecretArn", "ApiUrl", "CircuitsQueueUrl", "DeadLettersUrl", "KeyArn", "LiveQueueUrl",
				"ReplayQueueUrl", "RetryQueueUrl", "ScheduleGroupName", "TableName", "UndeliverableUrl",
			}
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(tpl.Outputs))); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStack_support holds the templates to the matrix of what runs where.
func TestStack_support(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("../localstack/support.json")
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
	used := map[string]bool{}
	for _, env := range environments("arm64") {
		for _, r := range templateOf(t, env.Name).Resources {
			used[r.Type] = true
		}
	}
	for kind := range used {
		targets := matrix.Types[kind]
		// make run must work: the stack needs what these two have.
		for _, needed := range []string{"aws", "ministack"} {
			if !slices.Contains(targets, needed) {
				t.Errorf("%s is in the stack, but localstack/support.json does not say that %s has it", kind, needed)
			}
		}
		for _, target := range targets {
			if matrix.Targets[target] == "" {
				t.Errorf("%s: the target %q is not explained", kind, target)
			}
		}
	}
	for kind := range matrix.Types {
		if !used[kind] {
			t.Errorf("localstack/support.json has %s, which is not in the stack", kind)
		}
	}
}
