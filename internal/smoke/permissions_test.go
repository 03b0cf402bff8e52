package smoke_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"surehook.example/surehook/internal/smoke"
)

// prod returns the resources of the prod template, with physical ids like AWS's.
func prod(t *testing.T) map[string]smoke.Resource {
	t.Helper()
	raw, err := os.ReadFile("../../infra/surehook/testdata/prod.template.json")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type string `json:"Type"`
		} `json:"Resources"`
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	all := map[string]smoke.Resource{}
	for id, r := range template.Resources {
		physical := "my-" + id
		switch r.Type {
		case "AWS::SQS::Queue":
			physical = "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/my-" + id
		case "AWS::StepFunctions::StateMachine":
			physical = "arn:aws-cn:states:cn-north-1:123456789012:stateMachine:my-" + id
		}
		all[id] = smoke.Resource{Type: r.Type, Physical: physical}
	}
	return all
}

// outputs are the ARNs among the stack's outputs.
func outputs() map[string]string {
	return map[string]string{"AdminKeySecretArn": "arn:admin", "KeyArn": "arn:key", "StreamArn": "arn:stream", "TopicArn": "arn:topic"}
}

func TestReviewed(t *testing.T) {
	t.Parallel()

	roles, err := smoke.Reviewed("shop-dev", outputs(), prod(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(roles) != 10 {
		t.Errorf("Reviewed has %d roles; want all 10 of prod", len(roles))
	}
	var all []string
	for name, grants := range roles {
		for on := range grants {
			if strings.Contains(on, "${") || strings.Contains(on, "surehook-prod") {
				t.Errorf("%s has the resource %s; want every reference resolved", name, on)
			}
			if strings.HasPrefix(name, "my-DeliverRole") {
				all = append(all, on)
			}
		}
	}
	deliver := strings.Join(all, "\n")
	for _, want := range []string{
		`(?m)^arn:aws-cn:dynamodb:cn-north-1:123456789012:table/my-Table\w{8}$`,
		`(?m)^arn:aws-cn:sqs:cn-north-1:123456789012:my-Live\w{8}$`,
		`(?m)^arn:aws-cn:logs:cn-north-1:123456789012:log-group:my-DeliverLogs\w{8}:\*$`,
		`(?m)^arn:aws-cn:scheduler:cn-north-1:123456789012:schedule/shop-dev/\*$`,
		`(?m)^arn:aws-cn:iam::123456789012:role/my-ScheduleRole\w{8} if \{"StringEquals":\{"iam:PassedToService":"scheduler.amazonaws.com"\}\}$`,
		`(?m)^arn:key$`, `(?m)^arn:topic$`,
	} {
		if !regexp.MustCompile(want).MatchString(deliver) {
			t.Errorf("deliver's resources =\n%s\nwant one like %s", deliver, want)
		}
	}
}

// TestReviewed_missing checks that a role without a resource is an error, and
// that environments without an archive are not.
func TestReviewed_missing(t *testing.T) {
	t.Parallel()

	for id, ok := range map[string]bool{"ArchiveRole": true, "DeliverRole": false, "Live": false} {
		all := prod(t)
		for logical := range all {
			if len(logical) == len(id)+8 && strings.HasPrefix(logical, id) || ok && strings.HasPrefix(logical, "Archive") {
				delete(all, logical)
			}
		}
		if _, err := smoke.Reviewed("shop-dev", outputs(), all); (err == nil) != ok {
			t.Errorf("Reviewed without %s = %v; want an error: %t", id, err, !ok)
		}
	}
}

func TestSimulation(t *testing.T) {
	t.Parallel()

	in, err := smoke.Simulation("role", `arn:schedule/group/* if {"StringEquals":{"iam:PassedToService":"scheduler.amazonaws.com"}}`, []string{"iam:PassRole"})
	if err != nil {
		t.Fatal(err)
	}
	if in.ResourceArns[0] != "arn:schedule/group/smoke" || len(in.ContextEntries) != 1 || *in.ContextEntries[0].ContextKeyName != "iam:PassedToService" {
		t.Errorf("Simulation = %v, %+v; want a name of the group, and the condition's value", in.ResourceArns, in.ContextEntries)
	}
	in, err = smoke.Simulation("role", "arn:log-group:name:*", []string{"logs:PutLogEvents"})
	if err != nil || in.ResourceArns[0] != "arn:log-group:name:*" {
		t.Errorf("Simulation of a log group = %v, %v; want the ARN as it is", in.ResourceArns, err)
	}
}
