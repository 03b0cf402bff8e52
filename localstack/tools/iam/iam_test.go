package iam_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/localstack/tools/iam"
)

const (
	table = "arn:aws:dynamodb:us-east-1:000000000000:table/t"
	role  = "arn:aws:iam::000000000000:role/r"
)

func TestRole_Allows(t *testing.T) {
	t.Parallel()

	grants, err := iam.Parse(`{"Statement": [
		{"Effect": "Allow", "Action": ["dynamodb:Query", "dynamodb:GetItem"], "Resource": "` + table + `"},
		{"Effect": "Allow", "Action": "scheduler:CreateSchedule", "Resource": ["arn:aws:scheduler:us-east-1:000000000000:schedule/g/*"]},
		{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "` + role + `", "Condition": {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}},
		{"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "arn:aws:iam::*:role/surehook/*", "Condition": {"StringNotEquals": {"aws:ResourceAccount": "000000000000"}}}
	]}`)
	if err != nil {
		t.Fatal(err)
	}
	r := iam.Role{Grants: grants}
	for _, tt := range []struct {
		call iam.Call
		want bool
	}{
		{iam.Call{Action: "dynamodb:Query", Resource: table}, true},
		{iam.Call{Action: "dynamodb:GetItem", Resource: table}, true},
		{iam.Call{Action: "dynamodb:PutItem", Resource: table}, false},
		{iam.Call{Action: "dynamodb:Query", Resource: table + "/index/by_state"}, false},
		{iam.Call{Action: "scheduler:CreateSchedule", Resource: "arn:aws:scheduler:us-east-1:000000000000:schedule/g/a"}, true},
		{iam.Call{Action: "scheduler:CreateSchedule", Resource: "arn:aws:scheduler:us-east-1:000000000000:schedule/other/a"}, false},
		{iam.Call{Action: "iam:PassRole", Resource: role, PassedTo: "scheduler.amazonaws.com"}, true},
		{iam.Call{Action: "iam:PassRole", Resource: role, PassedTo: "lambda.amazonaws.com"}, false},
		{iam.Call{Action: "sts:AssumeRole", Resource: "arn:aws:iam::111122223333:role/surehook/a/b"}, true},
		{iam.Call{Action: "sts:AssumeRole", Resource: "arn:aws:iam::111122223333:role/other"}, false},
		{iam.Call{Action: "sts:AssumeRole", Resource: "arn:aws:iam::000000000000:role/surehook/a"}, false},
		{iam.Call{Action: "sts:AssumeRole", Resource: "arn:aws:iam::a:b:role/surehook/a"}, false},
	} {
		if got := r.Allows(tt.call); got != tt.want {
			t.Errorf("Allows(%s to %q) = %t; want %t", tt.call, tt.call.PassedTo, got, tt.want)
		}
	}
}

func TestRole_Refused(t *testing.T) {
	t.Parallel()

	calls := map[iam.Call]int{{Action: "dynamodb:Query", Resource: table}: 3}
	wild := iam.Grant{Action: "dynamodb:Query", Resource: table + "*"}
	exact := iam.Grant{Action: "dynamodb:Query", Resource: table}
	scan := iam.Grant{Action: "dynamodb:Scan", Resource: table}
	for _, tt := range []struct {
		name   string
		grants []iam.Grant
		want   []int
	}{
		{name: "the only grant for a call", grants: []iam.Grant{exact}, want: []int{3}},
		{name: "a grant without a call", grants: []iam.Grant{exact, scan}, want: []int{3, 0}},
		{name: "two grants for one call", grants: []iam.Grant{wild, exact}, want: []int{0, 0}},
	} {
		r := iam.Role{Grants: tt.grants}
		if diff := cmp.Diff(tt.want, r.Refused(calls)); diff != "" {
			t.Errorf("%s: refused calls (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestParse_refusesOtherForms(t *testing.T) {
	t.Parallel()

	for name, document := range map[string]string{
		"invalid JSON":                   `{`,
		"a denial":                       `{"Statement": [{"Effect": "Deny", "Action": "sqs:SendMessage", "Resource": "q"}]}`,
		"all other actions":              `{"Statement": [{"Effect": "Allow", "NotAction": "sqs:SendMessage", "Resource": "q"}]}`,
		"all other resources":            `{"Statement": [{"Effect": "Allow", "Action": "sqs:SendMessage", "NotResource": "q"}]}`,
		"a wildcard as the action":       `{"Statement": [{"Effect": "Allow", "Action": "sqs:*", "Resource": "q"}]}`,
		"a wildcard inside the resource": `{"Statement": [{"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "a*b"}]}`,
		"another condition":              `{"Statement": [{"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "q", "Condition": {"Bool": {"aws:SecureTransport": "true"}}}]}`,
		"a second operator":              `{"Statement": [{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "r", "Condition": {"StringEquals": {"iam:PassedToService": "s"}, "Bool": {"aws:SecureTransport": "true"}}}]}`,
		"a second key":                   `{"Statement": [{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "r", "Condition": {"StringEquals": {"iam:PassedToService": "s", "aws:PrincipalTag/a": "b"}}}]}`,
	} {
		if got, err := iam.Parse(document); err == nil {
			t.Errorf("Parse of %s = %v; want an error", name, got)
		}
	}
}
