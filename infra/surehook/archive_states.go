package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
)

// states is a part of a document in the Amazon States Language.
// https://states-language.net/spec.html
type states = map[string]any

// The expressions of the state machine are JSONata. Input and output times are
// ISO 8601. Times inside the expressions are milliseconds since 1970.
const (
	// dayEnd is the midnight before the run's time and dayStart the midnight
	// before dayEnd. The export includes dayStart and excludes dayEnd.
	dayEnd   = `$toMillis($substring($states.input.time, 0, 10) & 'T00:00:00Z')`
	dayStart = dayEnd + ` - 86400000`
	// firstBackup is the first full second of the backups. DynamoDB refuses an
	// earlier start, so the export of the table's first day starts there.
	firstBackup = `$ceil($toMillis($states.result.ContinuousBackupsDescription.PointInTimeRecoveryDescription.EarliestRestorableDateTime) / 1000) * 1000`
)

// minWindow is the shortest window of an export, 15 minutes in milliseconds. The
// window of a table made in the last minutes of a day reaches into the next day, and
// the next export repeats these minutes.
const minWindow = "900000"

// jsonata returns a calculated field.
func jsonata(expression string) string { return "{% " + expression + " %}" }

// archiveStates returns the state machine: read the start of the backups,
// request the export, and poll the export's status.
func archiveStates(p plan, bucket awss3.Bucket) states {
	const status = "$states.input.ExportDescription.ExportStatus = "
	return states{
		"Comment":        "Exports the changes of the day before input.time",
		"QueryLanguage":  "JSONata",
		"TimeoutSeconds": int(archiveTimeout.Seconds()),
		"StartAt":        "Day",
		"States": states{
			"Day": call("describeContinuousBackups", "Any?", states{"TableName": p.Table.TableName()}, states{
				"from": jsonata("$max([" + dayStart + ", " + firstBackup + "])"),
				"to":   jsonata("$max([" + dayEnd + ", " + firstBackup + " + " + minWindow + "])"),
				"end":  jsonata(dayEnd),
				"day":  jsonata("$fromMillis(" + dayStart + ", '[Y0001]-[M01]-[D01]')"),
			}),
			// The backups of a new table begin after the day: the next run exports the table's
			// first day.
			"Any?": states{
				"Type":    "Choice",
				"Choices": []states{{"Condition": jsonata("$from >= $end"), "Next": "Done"}},
				"Default": "Export",
			},
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

func exportArguments(p plan, bucket awss3.Bucket) states {
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
		// A repeated call within one run requests the same export. A new run
		// requests another export.
		"ClientToken": jsonata("$states.context.Execution.Name"),
	}
}

// call returns a state for one DynamoDB operation. The state retries failures,
// assigns variables from the result, and continues with next.
func call(operation, next string, arguments, variables states) states {
	state := states{
		"Type":      "Task",
		"Resource":  "arn:" + *awscdk.Aws_PARTITION() + ":states:::aws-sdk:dynamodb:" + operation,
		"Arguments": arguments,
		"Retry":     []states{{"ErrorEquals": []string{"States.ALL"}, "IntervalSeconds": 30, "BackoffRate": 2, "MaxAttempts": 5}},
		"Next":      next,
	}
	if variables != nil {
		state["Assign"] = variables
	}
	return state
}
