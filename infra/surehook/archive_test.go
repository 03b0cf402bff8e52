package surehook

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArchive_bucket(t *testing.T) {
	t.Parallel()

	bucket := templateOf(t, "prod").get(t, "AWS::S3::Bucket", "ArchiveBucket")
	for _, what := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
		bucket.check(t, "PublicAccessBlockConfiguration."+what, true)
	}
	bucket.check(t, "LifecycleConfiguration.Rules", []any{map[string]any{
		"Id": "cold-then-gone", "Status": "Enabled", "ExpirationInDays": 730.0,
		"AbortIncompleteMultipartUpload": map[string]any{"DaysAfterInitiation": 7.0},
		"Transitions":                    []any{map[string]any{"StorageClass": "DEEP_ARCHIVE", "TransitionInDays": 30.0}},
	}})
	bucket.check(t, "BucketEncryption.ServerSideEncryptionConfiguration", []any{
		map[string]any{"ServerSideEncryptionByDefault": map[string]any{"SSEAlgorithm": "AES256"}},
	})
	bucket.check(t, "VersioningConfiguration", nil)
	if bucket.DeletionPolicy != "RetainExceptOnCreate" {
		t.Errorf("DeletionPolicy = %s; want RetainExceptOnCreate", bucket.DeletionPolicy)
	}

	policy := templateOf(t, "prod").get(t, "AWS::S3::BucketPolicy", "ArchiveBucketPolicy")
	text := show(policy.at("PolicyDocument"))
	for _, want := range []string{`"aws:SecureTransport":"false"`, `"s3:TlsVersion":1.2`} {
		if !strings.Contains(text, want) {
			t.Errorf("policy = %s; want %s denied", text, want)
		}
	}
}

func TestArchive_schedule(t *testing.T) {
	t.Parallel()

	schedule := templateOf(t, "prod").get(t, "AWS::Scheduler::Schedule", "ArchiveSchedule")
	schedule.check(t, "ScheduleExpression", "cron(0 3 * * ? *)")
	schedule.check(t, "Target.Input", `{"time":"<aws.scheduler.scheduled-time>"}`)
	if got := show(schedule.at("Target", "Arn")); got != "${Archive.Arn}" {
		t.Errorf("Target.Arn = %s; want the state machine's", got)
	}
}

// TestArchive_states checks the parameters of the export.
func TestArchive_states(t *testing.T) {
	t.Parallel()

	machine := templateOf(t, "prod").get(t, "AWS::StepFunctions::StateMachine", "Archive")
	machine.check(t, "Definition.QueryLanguage", "JSONata")
	machine.check(t, "Definition.States.Export.Resource", map[string]any{
		"Fn::Join": []any{"", []any{"arn:", map[string]any{"Ref": "AWS::Partition"}, ":states:::aws-sdk:dynamodb:exportTableToPointInTime"}},
	})
	machine.check(t, "Definition.States.Export.Arguments.ExportType", "INCREMENTAL_EXPORT")
	machine.check(t, "Definition.States.Export.Arguments.IncrementalExportSpecification", map[string]any{
		"ExportFromTime": "{% $fromMillis($from) %}", "ExportToTime": "{% $fromMillis($to) %}", "ExportViewType": "NEW_AND_OLD_IMAGES",
	})
	machine.check(t, "Definition.States.Day.Assign.end", "{% $toMillis($substring($states.input.time, 0, 10) & 'T00:00:00Z') %}")
	// A table made after the day has nothing to export.
	machine.check(t, "Definition.States.Any?.Choices", []any{map[string]any{"Condition": "{% $from >= $end %}", "Next": "Done"}})
	machine.check(t, "Definition.States.Any?.Default", "Export")
	to, _ := machine.at("Definition", "States", "Day", "Assign", "to").(string)
	if !strings.HasSuffix(to, " * 1000 + 900000]) %}") {
		t.Errorf("the export ends at %s; want at least 15 minutes after the first backup", to)
	}

	// Every named state exists.
	states, _ := machine.at("Definition", "States").(map[string]any)
	next := []any{machine.at("Definition", "StartAt")}
	for _, s := range states {
		s, _ := s.(map[string]any)
		choices, _ := s["Choices"].([]any)
		for _, c := range append(choices, s) {
			c, _ := c.(map[string]any)
			next = append(next, c["Next"], c["Default"])
		}
	}
	for _, name := range next {
		if name != nil && states[show(name)] == nil {
			t.Errorf("there is no state %v", name)
		}
	}
}

// TestArchive_role checks that the state machine may call only the operations of its
// states, on the table, and write the exports' folder.
func TestArchive_role(t *testing.T) {
	t.Parallel()

	policy := templateOf(t, "prod").get(t, "AWS::IAM::Policy", "ArchiveRoleDefaultPolicy")
	want := map[string]string{
		"dynamodb:DescribeContinuousBackups dynamodb:ExportTableToPointInTime": "${Table.Arn}",
		"dynamodb:DescribeExport":                              "${Table.Arn}/export/*",
		"s3:AbortMultipartUpload s3:PutObject s3:PutObjectAcl": "${ArchiveBucket.Arn}/changes/*",
	}
	statements, _ := policy.at("PolicyDocument", "Statement").([]any)
	for _, s := range statements {
		s, _ := s.(map[string]any)
		actions := show(s["Action"])
		if many, ok := s["Action"].([]any); ok {
			var each []string
			for _, one := range many {
				each = append(each, show(one))
			}
			actions = strings.Join(each, " ")
		}
		if got := show(s["Resource"]); got != want[actions] {
			t.Errorf("%s is allowed on %s; want %q", actions, got, want[actions])
		}
		delete(want, actions)
	}
	if len(want) != 0 {
		t.Errorf("not allowed: %v", want)
	}

	machine := templateOf(t, "prod").get(t, "AWS::StepFunctions::StateMachine", "Archive")
	all, _ := machine.at("Definition", "States").(map[string]any)
	var called []string
	for _, state := range all {
		if state, _ := state.(map[string]any); state["Type"] == "Task" {
			called = append(called, strings.TrimPrefix(show(state["Resource"]), "arn:${AWS::Partition}:states:::aws-sdk:dynamodb:"))
		}
	}
	slices.Sort(called)
	if diff := cmp.Diff([]string{"describeContinuousBackups", "describeExport", "exportTableToPointInTime"}, called); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

func TestArchive_onlyWhereAsked(t *testing.T) {
	t.Parallel()

	for _, env := range environments("arm64") {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			want := 0
			if env.Archive {
				want = 1
			}
			tpl := templateOf(t, env.Name)
			for _, kind := range []string{"AWS::S3::Bucket", "AWS::StepFunctions::StateMachine"} {
				if got := len(tpl.all(kind)); got != want {
					t.Errorf("%d of %s; want %d", got, kind, want)
				}
			}
		})
	}
}
