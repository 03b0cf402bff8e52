package surehook

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGrants_table compares every role's permissions with the reviewed list.
// All environments have the same grants; only prod has the archive's roles.
func TestGrants_table(t *testing.T) {
	t.Parallel()

	checkGolden(t, "../../../internal/smoke/grants.json", grantsOf(t, templateOf(t, "prod")))

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			got := map[string]map[string][]string{}
			for role, grants := range grantsOf(t, tpl) {
				got[role] = map[string][]string{}
				for on, actions := range grants {
					got[role][strings.ReplaceAll(on, "surehook-"+env.Name, "surehook-prod")] = actions
				}
			}
			want := grantsOf(t, templateOf(t, "prod"))
			if env.Name != "prod" {
				maps.DeleteFunc(want, func(role string, _ map[string][]string) bool { return strings.HasPrefix(role, "Archive") })
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("grants in prod (-) and %s (+):\n%s", env.Name, diff)
			}
		})
	}
}

// TestGrants_complete checks that the table covers every role, that permissions
// come only from the roles' policies, and that no two functions share a role.
func TestGrants_complete(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			table := grantsOf(t, tpl)
			for id, role := range tpl.all("AWS::IAM::Role") {
				role.check(t, "Policies", nil)
				role.check(t, "ManagedPolicyArns", nil)
				if len(table[id]) == 0 {
					t.Errorf("%s is not in the table", id)
				}
			}
			for logical, r := range tpl.Resources {
				if strings.HasPrefix(r.Type, "AWS::IAM::") && r.Type != "AWS::IAM::Role" && r.Type != "AWS::IAM::Policy" {
					t.Errorf("%s is a %s, which the table knows nothing of", logical, r.Type)
				}
			}
			for id, f := range tpl.all("AWS::Lambda::Function") {
				if got, want := show(f.at("Role")), "${"+id+"Role.Arn}"; got != want {
					t.Errorf("%s runs as %s; want %s", id, got, want)
				}
			}
			for id, schedule := range tpl.all("AWS::Scheduler::Schedule") {
				want := "${TickRole.Arn}"
				if id == "ArchiveSchedule" {
					want = "${ArchiveScheduleRole.Arn}"
				}
				if got := show(schedule.at("Target", "RoleArn")); got != want {
					t.Errorf("the schedule %s runs as %s; want %s", id, got, want)
				}
			}
		})
	}
}

// TestGrants_services derives from the rest of the template what AWS's services do with
// the roles. No flow on the local stack needs these grants: the emulator's services do not
// ask. The roles of schedules have no other grants. Those of functions have the grants
// that the code needs, too, and the flows hold the grants to the code (docs/strict.md).
// TestArchive_role has the state machine's.
func TestGrants_services(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			want := map[string]map[string][]string{}
			need := func(role, on string, actions ...string) {
				role = strings.TrimSuffix(strings.TrimPrefix(role, "${"), ".Arn}")
				if want[role] == nil {
					want[role] = map[string][]string{}
				}
				want[role][on] = slices.Compact(slices.Sorted(slices.Values(append(want[role][on], actions...))))
			}
			for id := range tpl.all("AWS::Lambda::Function") {
				need(id+"Role", "${"+id+"Logs.Arn}", "logs:CreateLogStream", "logs:PutLogEvents")
			}
			for _, source := range tpl.all("AWS::Lambda::EventSourceMapping") {
				function := strings.Trim(show(source.at("FunctionName")), "${}")
				if source.at("StartingPosition") != nil {
					need(function+"Role", show(source.at("EventSourceArn")),
						"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams")
					continue
				}
				need(function+"Role", show(source.at("EventSourceArn")),
					"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage")
			}
			for _, schedule := range tpl.all("AWS::Scheduler::Schedule") {
				target, action := show(schedule.at("Target", "Arn")), "lambda:InvokeFunction"
				if target == "${Archive.Arn}" {
					action = "states:StartExecution"
				}
				role := show(schedule.at("Target", "RoleArn"))
				need(role, target, action)
				if queue := schedule.at("Target", "DeadLetterConfig", "Arn"); queue != nil {
					need(role, show(queue), "sqs:SendMessage")
				}
			}
			// The schedules that deliver makes.
			deliver := variables(tpl.get(t, "AWS::Lambda::Function", "Deliver"))
			need(deliver["SUREHOOK_SCHEDULE_ROLE_ARN"], deliver["SUREHOOK_RETRY_QUEUE_ARN"], "sqs:SendMessage")
			need(deliver["SUREHOOK_SCHEDULE_ROLE_ARN"], deliver["SUREHOOK_UNDELIVERABLE_RETRY_ARN"], "sqs:SendMessage")

			got := grantsOf(t, tpl)
			for role, grants := range want {
				if strings.HasSuffix(role, "ScheduleRole") || role == "TickRole" {
					if diff := cmp.Diff(grants, got[role]); diff != "" {
						t.Errorf("grants of %s that services use (-) and all (+):\n%s", role, diff)
					}
					continue
				}
				for on, actions := range grants {
					for _, action := range actions {
						if !slices.Contains(got[role][on], action) {
							t.Errorf("%s lacks %s on %s", role, action, on)
						}
					}
				}
			}
		})
	}
}

// grantsOf returns role -> resource (and condition) -> actions, sorted.
func grantsOf(t *testing.T, tpl template) map[string]map[string][]string {
	t.Helper()

	all := map[string]map[string][]string{}
	for id, policy := range tpl.all("AWS::IAM::Policy") {
		roles, _ := policy.at("Roles").([]any)
		if len(roles) != 1 {
			t.Fatalf("policy %s has %d roles; want 1", id, len(roles))
		}
		role := strings.Trim(show(roles[0]), "${}")
		if all[role] == nil {
			all[role] = map[string][]string{}
		}
		for _, s := range statements(policy.Properties) {
			for _, on := range list(s["Resource"]) {
				key := show(on)
				if s["Condition"] != nil {
					key += " if " + show(s["Condition"])
				}
				for _, action := range list(s["Action"]) {
					all[role][key] = append(all[role][key], show(action))
				}
				slices.Sort(all[role][key])
			}
		}
	}
	return all
}

// schedulesOfGroup are schedules with names chosen at runtime, all in the
// stack's group.
const schedulesOfGroup = "arn:${AWS::Partition}:scheduler:${AWS::Region}:${AWS::AccountId}:schedule/surehook-prod/*"

// unnamed are the resources with a wildcard. Other services choose their names,
// within resources of the stack.
func unnamed() []string {
	return []string{schedulesOfGroup, "${Table.Arn}/export/*", "${ArchiveBucket.Arn}/changes/*"}
}

// TestGrants_wildcards checks every allowing statement of the template: named
// actions on named resources of this stack.
func TestGrants_wildcards(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			owned := []string{schedulesOfGroup}
			for logical := range tpl.Resources {
				owned = append(owned, "${"+short(logical)+"}", "${"+short(logical)+".Arn}", "${"+short(logical)+".StreamArn}")
			}
			checked := 0
			for id, r := range tpl.Resources {
				if got := r.at("ManagedPolicyArns"); got != nil {
					t.Errorf("%s has the managed policies %v; want none", id, got)
				}
				for _, s := range statements(r.Properties) {
					if s["Effect"] != "Allow" || delegatesKey(r, s) {
						continue
					}
					checked++
					if s["NotAction"] != nil || s["NotResource"] != nil || s["NotPrincipal"] != nil {
						t.Errorf("%s allows everything but: %v", id, s)
					}
					for _, action := range list(s["Action"]) {
						if strings.Contains(show(action), "*") {
							t.Errorf("%s allows %v; want actions by name", id, action)
						}
					}
					for _, on := range list(s["Resource"]) {
						got := strings.ReplaceAll(show(on), "surehook-"+env.Name, "surehook-prod")
						if strings.Contains(got, "*") && !slices.Contains(unnamed(), got) {
							t.Errorf("%s allows %v on %s; want resources by name", id, s["Action"], got)
						}
						if !slices.ContainsFunc(owned, func(own string) bool { return strings.HasPrefix(got, own) }) {
							t.Errorf("%s allows %v on %s; want resources of the stack", id, s["Action"], got)
						}
					}
				}
			}
			if checked < 15 {
				t.Errorf("only %d statements were found", checked)
			}
		})
	}
}

// delegatesKey reports whether the statement is the one with necessary
// wildcards. The key's policy delegates to the account's IAM policies. Without
// the delegation, nobody could manage the key. "*" means this key there.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
func delegatesKey(r resource, s map[string]any) bool {
	principal, _ := s["Principal"].(map[string]any)
	return r.Type == "AWS::KMS::Key" && show(principal["AWS"]) == "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"
}

// TestGrants_assume checks the principals of the roles.
func TestGrants_assume(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			roles := tpl.all("AWS::IAM::Role")
			want := []string{"AuthorizeRole", "BreakerRole", "DeliverRole", "IngestRole", "ManageRole", "ReplayerRole", "ScheduleRole", "TickRole"}
			if env.Name == "prod" {
				want = append([]string{"ArchiveRole", "ArchiveScheduleRole"}, want...)
			}
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(roles))); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
			for id, role := range roles {
				service, conditions := "lambda.amazonaws.com", "null"
				switch id {
				case "ScheduleRole", "TickRole", "ArchiveScheduleRole":
					service = "scheduler.amazonaws.com"
					conditions = `{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"},"aws:SourceArn":{"Fn::GetAtt":["Schedules`
				case "ArchiveRole":
					service = "states.amazonaws.com"
					conditions = `{"ArnEquals":{"aws:SourceArn":{"Fn::Join":["",["arn:",{"Ref":"AWS::Partition"},":states:",{"Ref":"AWS::Region"},":",{"Ref":"AWS::AccountId"},":stateMachine:surehook-prod-archive"]]}},"StringEquals":{"aws:SourceAccount":`
				}
				trust := statements(role.at("AssumeRolePolicyDocument"))
				if len(trust) != 1 {
					t.Fatalf("%s is assumed by %d statements; want 1", id, len(trust))
				}
				if diff := cmp.Diff(map[string]any{"Service": service}, trust[0]["Principal"]); diff != "" {
					t.Errorf("%s is assumed by (-want +got):\n%s", id, diff)
				}
				if got := show(trust[0]["Condition"]); !strings.HasPrefix(got, conditions) {
					t.Errorf("%s is assumed if %s; want %s", id, got, conditions)
				}
			}
		})
	}
}

// statements returns all policy statements in the value.
func statements(v any) []map[string]any {
	var found []map[string]any
	switch v := v.(type) {
	case map[string]any:
		if v["Effect"] != nil {
			return []map[string]any{v}
		}
		for _, child := range v {
			found = append(found, statements(child)...)
		}
	case []any:
		for _, child := range v {
			found = append(found, statements(child)...)
		}
	}
	return found
}

// list returns the value's elements, or a single value as a list. IAM allows
// both forms.
func list(v any) []any {
	if many, ok := v.([]any); ok {
		return many
	}
	if v == nil {
		return nil
	}
	return []any{v}
}
