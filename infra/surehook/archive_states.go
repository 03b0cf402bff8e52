package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
)

// states is a piece of the Amazon States Language.
// https://states-language.net/spec.html
type states = map[string]any

// The expressions of the state machine are JSONata. Times are ISO 8601 in and
// out, milliseconds since 1970 in between.
const (
	// dayEnd is the midnight before the time that the run is for, and dayStart the
	// one before that: the first is not in the export any more, the second is.
	dayEnd   = `$toMillis($substring($states.input.time, 0, 10) & 'T00:00:00Z')`
	dayStart = dayEnd + ` - 86400000`
	// firstBackup is the first second that the backups hold. The day that the
	// table was made begins there: DynamoDB refuses what is before.
	firstBackup = `$ceil($toMillis($states.result.ContinuousBackupsDescription.PointInTimeRecoveryDescription.EarliestRestorableDateTime) / 1000) * 1000`
)

// jsonata is a field that is calculated.
func jsonata(expression string) string { return "{% " + expression + " %}" }

// archiveStates is the state machine: look how far the backups go back, ask for
// the export, and look every few minutes whether it is done.
func archiveStates(p ArchiveProps, bucket awss3.Bucket) states {
	const status = "$states.input.ExportDescription.ExportStatus = "
	return states{
		"Comment":        "Exports the changes of the day before input.time",
		"QueryLanguage":  "JSONata",
		"TimeoutSeconds": int(archiveTimeout.Seconds()),
		"StartAt":        "Day",
		"States": states{
			"Day": call("describeContinuousBackups", "Export", states{"TableName": p.Table.TableName()}, states{
				"from": jsonata("$max([" + dayStart + ", " + firstBackup + "])"),
				"to":   jsonata(dayEnd),
				"day":  jsonata("$fromMillis(" + dayStart + ", '[Y0001]-[M01]-[D01]')"),
			}),
			"Export": call("exportTableToPointInTime", "Wait", exportArguments(p, bucket), states{
				"export": jsonata("$states.result.ExportDescription.ExportArn"),
			}),
			"Wait":     states{"Type": "Wait", "Seconds": int(archivePoll.Seconds()), "Next": "Describe"},
			"Describe": call("describeExport", "Done?", states{"ExportArn": jsonata("$export")}, nil),
			"Done?": states{
				"Type": "Choice",
				"Choices": []states{
					{"Condition": jsonata(status + "'COMPLETED'"), "Next": "Done"},
					{"Condition": jsonata(status + "'FAILED'"), "Next": "Failed"},
				},
				"Default": "Wait",
			},
			"Done": states{"Type": "Succeed"},
			"Failed": states{
				"Type":  "Fail",
				"Error": "ExportFailed",
				"Cause": jsonata("$states.input.ExportDescription.ExportArn & ': ' & $states.input.ExportDescription.FailureMessage"),
			},
		},
	}
}

func exportArguments(p ArchiveProps, bucket awss3.Bucket) states {
	return states{
		"TableArn":       p.Table.TableArn(),
		"S3Bucket":       bucket.BucketName(),
		"S3Prefix":       jsonata("'" + archiveFolder + "/' & $day"),
		"S3SseAlgorithm": "AES256",
		"ExportFormat":   "DYNAMODB_JSON",
		"ExportType":     "INCREMENTAL_EXPORT",
		"IncrementalExportSpecification": states{
			"ExportFromTime": jsonata("$fromMillis($from)"),
			"ExportToTime":   jsonata("$fromMillis($to)"),
			"ExportViewType": "NEW_AND_OLD_IMAGES",
		},
		// A call that is repeated within the run asks for the same export; a new run for another.
		"ClientToken": jsonata("$states.context.Execution.Name"),
	}
}

// call is a state that calls an operation of DynamoDB, again if it fails, keeps
// variables of the result, and goes on to next.
func call(operation, next string, arguments, variables states) states {
	state := states{
		"Type":      "Task",
		"Resource":  "arn:aws:states:::aws-sdk:dynamodb:" + operation,
		"Arguments": arguments,
		"Retry":     []states{{"ErrorEquals": []string{"States.ALL"}, "IntervalSeconds": 30, "BackoffRate": 2, "MaxAttempts": 5}},
		"Next":      next,
	}
	if variables != nil {
		state["Assign"] = variables
	}
	return state
}
