package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

const (
	// archiveHot is how long exports can be read immediately. After that, a read takes up to two
	// days.
	archiveHot = 30 * day
	// archiveRetention is the lifetime of exports, longer than the table's own retention. Two
	// years cover two yearly audits. Keeping customers' payloads for longer would have no
	// purpose.
	archiveRetention = 2 * 365 * day
	// archiveFolder holds the exports in the bucket, one folder per day:
	// changes/2026-01-31/AWSDynamoDB/...
	archiveFolder = "changes"
	// archiveTime is the start of the export after midnight UTC. Backups lag by
	// up to five minutes, and the start adds a margin.
	archiveTime = "cron(0 3 * * ? *)"
	// archiveTimeout bounds one export.
	archiveTimeout = 12 * time.Hour
	// archivePoll is the interval of status polls.
	archivePoll = 5 * time.Minute
)

// Archive keeps the table's history for longer than the table does. It exports each day's
// changes, with the old and the new image of each item.
type Archive struct {
	Bucket  awss3.Bucket
	Machine awsstepfunctions.CfnStateMachine
}

// newArchive exports the changes of each day (UTC) to S3 without a function.
// Every night a schedule starts a state machine. The state machine requests the
// export and waits for the end of the export, so a failed export raises an
// alarm.
//
// A schedule alone cannot request an incremental export. The request needs a
// start time, and the only time in a schedule's input is the fire time.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_IncrementalExportSpecification.html
//
// To export a missed day, start the state machine with the next morning:
// {"time":"2026-02-01T03:00:00Z"} exports January 31. The backups must still
// cover the day. Incremental exports omit items from before point-in-time
// recovery, so an older table needs one full export by hand.
func newArchive(p plan) *Archive {
	bucket := newArchiveBucket(p.Construct, p.Environment)
	machine := awsstepfunctions.NewCfnStateMachine(p.Construct, jsii.String("Archive"), &awsstepfunctions.CfnStateMachineProps{
		StateMachineName: jsii.String(p.Prefix + "-archive"),
		StateMachineType: jsii.String("STANDARD"), // an export takes longer than the five minutes of an express workflow
		RoleArn:          newArchiveRole(p, bucket).RoleArn(),
		Definition:       archiveStates(p, bucket),
	})
	// The Scheduler retries a failed start for hours. The alarms on the schedule group report a start that
	// was given up.
	role := newScheduleRole(p.Construct, "ArchiveScheduleRole", "Starts the archive's export every night", p.Schedules.Group)
	allow(role, "states:StartExecution").on(machine.AttrArn())
	newSchedule(p, "ArchiveSchedule", "Exports yesterday's changes of the table to the archive", jsii.String(archiveTime), role, awsscheduler.CfnSchedule_TargetProperty{
		Arn:   machine.AttrArn(),
		Input: jsii.String(`{"time":"<aws.scheduler.scheduled-time>"}`),
		RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
			MaximumRetryAttempts:     jsii.Number(20),
			MaximumEventAgeInSeconds: jsii.Number((6 * time.Hour).Seconds()),
		},
	})
	return &Archive{Bucket: bucket, Machine: machine}
}

// newArchiveBucket makes the bucket. It has no versions: each export is written once under a new
// name, and only the archive's role may write. Versions would only keep objects beyond the end of
// their lifecycle.
func newArchiveBucket(scope constructs.Construct, env Environment) awss3.Bucket {
	days := func(d time.Duration) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(d.Hours() / 24)) }
	return awss3.NewBucket(scope, jsii.String("ArchiveBucket"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Versioned:         jsii.Bool(false),
		RemovalPolicy:     removal(env),
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:         jsii.String("cold-then-gone"),
			Expiration: days(archiveRetention),
			// S3 does not move files below 128 KB, because the move would cost
			// more than the storage.
			Transitions: &[]*awss3.Transition{{
				StorageClass:    awss3.StorageClass_DEEP_ARCHIVE(),
				TransitionAfter: days(archiveHot),
			}},
			AbortIncompleteMultipartUploadAfter: days(7 * day),
		}},
	})
}

// newArchiveRole makes the role of the state machine. DynamoDB writes the files
// with the permissions of the export's caller.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport_Requesting.html
func newArchiveRole(p plan, bucket awss3.Bucket) awsiam.Role {
	role := newRole(p.Construct, "ArchiveRole", "Exports the changes of the table to the archive", "states.amazonaws.com", map[string]any{
		"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
		"ArnEquals":    map[string]any{"aws:SourceArn": arnOf(p.Construct, nil, "states", "stateMachine", p.Prefix+"-archive")},
	})
	allow(role, "dynamodb:DescribeContinuousBackups", "dynamodb:ExportTableToPointInTime").on(p.Table.TableArn())
	allow(role, "dynamodb:DescribeExport").on(jsii.String(*p.Table.TableArn() + "/export/*"))
	allow(role, "s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl").on(bucket.ArnForObjects(jsii.String(archiveFolder + "/*")))
	return role
}

// failures counts the days without an export.
func (a Archive) failures() awscloudwatch.IMetric {
	count := func(name string) awscloudwatch.IMetric {
		return metric("AWS/States", name, "Sum", metricPeriod, map[string]*string{"StateMachineArn": a.Machine.AttrArn()})
	}
	return math("days not exported", "SUM([failed, late, aborted])", metricPeriod, map[string]awscloudwatch.IMetric{
		"failed": count("ExecutionsFailed"), "late": count("ExecutionsTimedOut"), "aborted": count("ExecutionsAborted"),
	})
}
