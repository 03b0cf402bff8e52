package smoke_test

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestGrants_Add(t *testing.T) {
	t.Parallel()

	const document = `{"Statement": [
		{"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": ["a", "b"]},
		{"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": "a", "Condition": {"StringEquals": {"x": "y"}}},
		{"Effect": "Deny", "Action": "sqs:SendMessage", "Resource": "a"}]}`
	want := smoke.Grants{
		"a": {"sqs:SendMessage"}, "b": {"sqs:SendMessage"}, `a if {"StringEquals":{"x":"y"}}`: {"kms:Decrypt"},
		"a (Deny)": {"sqs:SendMessage"},
	}
	for name, text := range map[string]string{"plain": document, "escaped, as IAM answers": url.QueryEscape(document)} {
		got := smoke.Grants{}
		if err := got.Add(text); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Add(%s) (-want +got):\n%s", name, diff)
		}
	}
	for _, wrong := range []string{"<", `{"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}]}`} {
		if err := (smoke.Grants{}).Add(wrong); err == nil {
			t.Errorf("Add(%s) = nil; want an error", wrong)
		}
	}
}

func TestGrants_DropSettings(t *testing.T) {
	t.Parallel()

	const lambda = "arn:aws:lambda:eu-west-1:123456789012:function:"
	got := smoke.Grants{
		lambda + "shop-dev-sender": {"lambda:InvokeFunction"}, lambda + "shop-dev-sender-fixed": {"lambda:InvokeFunction"},
		`arn:aws:iam::*:role/surehook/* if {"StringNotEquals":{"aws:ResourceAccount":"123456789012"}}`: {"sts:AssumeRole"}, "arn:aws:iam::*:role/*": {"sts:AssumeRole"},
		lambda + "shop-dev-manage": {"lambda:InvokeFunction"}, lambda + "shop-prod-sender": {"lambda:InvokeFunction"},
		lambda + "shop-dev-sender:1": {"lambda:InvokeFunction"}, "arn:aws:sqs:eu-west-1:123456789012:shop-dev-sender": {"sqs:SendMessage"},
	}
	smoke.DropSettings(got, "shop-dev")
	if len(got) != 5 || got["arn:aws:iam::*:role/*"] == nil || got[lambda+"shop-dev-sender"] != nil || got[lambda+"shop-dev-sender-fixed"] != nil {
		t.Errorf("grants = %v; want all but those for the senders of the stack", got)
	}
	other := smoke.Grants{lambda + "shop-dev-sender": {"lambda:*"}}
	if smoke.DropSettings(other, "shop-dev"); len(other) != 1 {
		t.Error("a wider permission on the sender is dropped; want a finding")
	}
}

func TestJudgePolicies(t *testing.T) {
	t.Parallel()

	want := smoke.Grants{"table": {"dynamodb:GetItem", "dynamodb:PutItem"}, "queue": {"sqs:SendMessage"}}
	tests := []struct {
		name     string
		got      smoke.Grants
		attached []string
		faults   []string
	}{
		{"as reviewed, in another order", smoke.Grants{"table": {"dynamodb:PutItem", "dynamodb:GetItem"}, "queue": {"sqs:SendMessage"}}, nil, nil},
		{"an action is missing", smoke.Grants{"table": {"dynamodb:GetItem"}, "queue": {"sqs:SendMessage"}}, nil, []string{"role lacks dynamodb:PutItem on table"}},
		{"an action more", smoke.Grants{"table": {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Scan"}, "queue": {"sqs:SendMessage"}}, nil, []string{"role has dynamodb:Scan on table beyond the reviewed grants"}},
		{"a resource more", smoke.Grants{"table": want["table"], "queue": want["queue"], "*": {"s3:GetObject"}}, nil, []string{"role has s3:GetObject on * beyond the reviewed grants"}},
		{"an attached policy", want, []string{"AdministratorAccess"}, []string{"role has the attached policy AdministratorAccess"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.faults, smoke.JudgePolicies("role", want, tt.got, tt.attached)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
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
