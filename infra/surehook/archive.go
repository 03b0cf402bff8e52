package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

const (
	// archiveHot is how long exports can be read at once. Reading them later takes
	// up to two days.
	archiveHot = 30 * day
	// archiveRetention is how long exports are kept, past the table's own
	// retention: long enough for two yearly audits, and no longer than payloads of
	// customers have a reason to be kept.
	archiveRetention = 2 * 365 * day
	// archiveFolder is where the exports are in the bucket, by day:
	// changes/2026-01-31/AWSDynamoDB/...
	archiveFolder = "changes"
	// archiveTime is after midnight UTC by what the table's backups are behind
	// (five minutes) and then some.
	archiveTime = "cron(0 3 * * ? *)"
	// archiveTimeout is how long an export may take.
	archiveTimeout = 12 * time.Hour
	// archivePoll is how often is asked whether it is done.
	archivePoll = 5 * time.Minute
)

// Archive is where the table's history is kept when the table itself has
// forgotten it: an export of each day's changes, with the items as they were
// before and after.
type Archive struct {
	Bucket  awss3.Bucket
	Machine awsstepfunctions.CfnStateMachine
}

// ArchiveProps says what NewArchive makes.
type ArchiveProps struct {
	Prefix      string // of the state machine's name
	Environment Environment
	Table       awsdynamodb.Table // with point-in-time recovery
	Group       awsscheduler.IScheduleGroup
}

// NewArchive exports the changes of each day (UTC) to S3, with no function of
// ours. Every night a schedule starts a state machine, which asks for the export
// and waits for its end, so that one that fails is noticed.
//
// The state machine is there because a schedule cannot ask for an incremental
// export by itself: that needs a time to begin from, and the only time which a
// schedule puts into its input is the one it fires at.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_IncrementalExportSpecification.html
//
// A day that was missed is exported by starting the state machine with the
// morning after, {"time":"2026-02-01T03:00:00Z"} for January 31, for as long as
// the backups go back. What was in the table before there were backups is in no
// day's changes: a table that is not new needs one full export, by hand.
func NewArchive(scope constructs.Construct, p ArchiveProps) Archive {
	bucket := newArchiveBucket(scope, p.Environment)
	machine := awsstepfunctions.NewCfnStateMachine(scope, jsii.String("Archive"), &awsstepfunctions.CfnStateMachineProps{
		StateMachineName: jsii.String(p.Prefix + "-archive"),
		StateMachineType: jsii.String("STANDARD"), // an export takes longer than the five minutes of an express one
		RoleArn:          newArchiveRole(scope, p, bucket).RoleArn(),
		Definition:       archiveStates(p, bucket),
	})
	newArchiveSchedule(scope, p, machine)
	return Archive{Bucket: bucket, Machine: machine}
}

// newArchiveBucket makes the bucket. It has no versions: an export is written
// once, under a name of its own, and nobody may write to it but the archive's
// role; versions would only keep what the lifecycle ends.
func newArchiveBucket(scope constructs.Construct, env Environment) awss3.Bucket {
	days := func(d time.Duration) awscdk.Duration { return awscdk.Duration_Days(number(d.Hours() / 24)) }
	return awss3.NewBucket(scope, jsii.String("ArchiveBucket"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: number(1.2),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Versioned:         jsii.Bool(false),
		RemovalPolicy:     removal(env),
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:         jsii.String("cold-then-gone"),
			Expiration: days(archiveRetention),
			// Files of less than 128 KB stay where they are: S3 does not move them, for it would cost more.
			Transitions: &[]*awss3.Transition{{
				StorageClass:    awss3.StorageClass_DEEP_ARCHIVE(),
				TransitionAfter: days(archiveHot),
			}},
			AbortIncompleteMultipartUploadAfter: days(7 * day),
		}},
	})
}

// newArchiveRole makes the role of the state machine. DynamoDB writes the files
// in the name of who asked for the export.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport_Requesting.html
func newArchiveRole(scope constructs.Construct, p ArchiveProps, bucket awss3.Bucket) awsiam.Role {
	role := awsiam.NewRole(scope, jsii.String("ArchiveRole"), &awsiam.RoleProps{
		Description: jsii.String("Exports the changes of the table to the archive"),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
				"ArnEquals": map[string]any{"aws:SourceArn": awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
					Service:      jsii.String("states"),
					Resource:     jsii.String("stateMachine"),
					ResourceName: jsii.String(p.Prefix + "-archive"),
					ArnFormat:    awscdk.ArnFormat_COLON_RESOURCE_NAME,
				})},
			},
		}),
	})
	allow(role, "dynamodb:DescribeContinuousBackups", "dynamodb:ExportTableToPointInTime").on(p.Table.TableArn())
	allow(role, "dynamodb:DescribeExport").on(jsii.String(*p.Table.TableArn() + "/export/*"))
	allow(role, "s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl").on(bucket.ArnForObjects(jsii.String(archiveFolder + "/*")))
	return role
}

// newArchiveSchedule starts the state machine every night. A start that fails
// is repeated for hours; the alarms of the group tell when it is given up.
func newArchiveSchedule(scope constructs.Construct, p ArchiveProps, machine awsstepfunctions.CfnStateMachine) {
	role := newScheduleRole(scope, "ArchiveScheduleRole", "Starts the archive's export every night", p.Group)
	allow(role, "states:StartExecution").on(machine.AttrArn())
	awsscheduler.NewCfnSchedule(scope, jsii.String("ArchiveSchedule"), &awsscheduler.CfnScheduleProps{
		Description:        jsii.String("Exports yesterday's changes of the table to the archive"),
		GroupName:          p.Group.ScheduleGroupName(),
		ScheduleExpression: jsii.String(archiveTime),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn:     machine.AttrArn(),
			RoleArn: role.RoleArn(),
			Input:   jsii.String(`{"time":"<aws.scheduler.scheduled-time>"}`),
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumRetryAttempts:     number(20),
				MaximumEventAgeInSeconds: number((6 * time.Hour).Seconds()),
			},
		},
	})
}

// failures are the days that were not exported.
func (a Archive) failures() awscloudwatch.IMetric {
	count := func(name string) awscloudwatch.IMetric {
		return metric("AWS/States", name, "Sum", metricPeriod, map[string]*string{"StateMachineArn": a.Machine.AttrArn()})
	}
	return math("days not exported", "SUM([failed, late, aborted])", metricPeriod, map[string]awscloudwatch.IMetric{
		"failed": count("ExecutionsFailed"), "late": count("ExecutionsTimedOut"), "aborted": count("ExecutionsAborted"),
	})
}
