package surehook

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// query is a saved query of CloudWatch Logs Insights. In a query about one event or delivery, the
// user replaces PASTE with its id.
type query struct {
	id, name string
	from     []any    // names of log groups
	lines    []string // the stages of the pipe
}

// The messages of the log lines in the queries.
const (
	lineAttempted = "message = '" + names.LineAttempted + "'"
	lineDead      = names.LogDecision + " = 'dead'"
	lineHandled   = "message = 'request.handled'"
	// lineFailed matches Lambda's own line about a failed invocation, a JSON object:
	// the status is timeout, error or failure. Lambda writes no line about a success
	// at the system log level WARN.
	// https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
	lineFailed = "(type = 'platform.report' and record.status != 'success')"
)

// queries returns the queries that the runbook and the alarms name. Some are by tenant and
// endpoint, which no metric has as dimensions.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
func queries(p plan) []query {
	f := p.Functions
	deliver := logsOf(f.Deliver)
	ending := logsOf(f.Deliver, f.Breaker) // that end deliveries
	var everywhere []any
	for _, one := range p.functions() {
		var group any = one.resource.LogGroup().LogGroupName()
		if p.release != nil && p.release.private != nil && one.name == privateName {
			group = ifPrivate(group, awscdk.Aws_NO_VALUE()).ToString()
		}
		everywhere = append(everywhere, group)
	}
	return []query{
		{"WhyNotDelivered", "why-not-delivered", everywhere, []string{
			"fields @timestamp, message, " + columns(names.LogDelivery, names.LogAttempt, names.LogOutcome, names.LogStatus, names.LogDuration,
				names.LogDecision, names.LogReason, names.LogNext, names.LogError),
			"filter " + names.LogDelivery + " = 'PASTE' or " + names.LogEvent + " = 'PASTE'",
			"sort @timestamp asc",
			"limit 1000",
		}},
		// In place of PASTE go the 26 characters that the ids of an event and of its deliveries
		// have in common.
		{"OneEvent", "one-event", everywhere, []string{
			"fields @timestamp, @log, message, " + columns(names.LogDelivery, names.LogAttempt, names.LogOutcome, names.LogStatus, names.LogDuration,
				names.LogDecision, names.LogReason, names.LogTrace, names.LogError),
			"filter @message like 'PASTE'",
			"sort @timestamp asc",
			"limit 1000",
		}},
		{"SlowestEndpoints", "slowest-endpoints", deliver, []string{
			"filter " + lineAttempted,
			"stats count(*) as attempts, pct(" + names.LogDuration + ", 50) as p50_ms, pct(" + names.LogDuration + ", 95) as p95_ms, max(" + names.LogDuration + ") as max_ms by " +
				columns(names.LogTenant, names.LogEndpoint),
			"sort p95_ms desc",
			"limit 50",
		}},
		{"FailuresByEndpoint", "failures-by-endpoint", deliver, []string{
			"filter " + lineAttempted + " and " + names.LogOutcome + " != 'delivered'",
			"stats count(*) as failures, count_distinct(" + names.LogDelivery + ") as deliveries, latest(" + names.LogStatus + ") as last_status by " +
				columns(names.LogTenant, names.LogEndpoint, names.LogOutcome),
			"sort failures desc",
			"limit 100",
		}},
		// A death without an attempt has a line, too: of deliver for a delivery that expires in
		// a queue, and of breaker for a parked one.
		{"DeadLetters", "dead-letters-by-reason", ending, []string{
			"filter " + lineDead,
			"stats count(*) as dead by " + columns(names.LogTenant, names.LogEndpoint, names.LogReason, names.LogOutcome),
			"sort dead desc",
			"limit 100",
		}},
		{"FailedRequests", "failed-requests", logsOf(f.Ingest, f.Manage, f.Replay), []string{
			"fields @timestamp, " + columns(names.LogMethod, names.LogRoute, names.LogStatus, names.LogTenant, names.LogKey, names.LogDuration, names.LogError),
			"filter " + lineHandled + " and " + names.LogStatus + " >= 500",
			"sort @timestamp desc",
			"limit 200",
		}},
		// Also the requests that no function saw: without a valid key, or over a limit.
		{"RefusedOrSlow", "refused-or-slow-requests", []any{p.API.AccessLog.LogGroupName()}, []string{
			parseAccessLog(),
			"fields @timestamp, " + columns(names.LogMethod, "path", names.LogStatus, names.LogError, names.LogDuration, names.LogKey, "ip", "request_id"),
			"filter " + names.LogStatus + " >= 400 or " + names.LogDuration + " >= 1000",
			"sort @timestamp desc",
			"limit 200",
		}},
		{"Errors", "errors", everywhere, []string{
			"fields @timestamp, @log, message, " + columns(names.LogTenant, names.LogEndpoint, names.LogDelivery, names.LogError) + ", record.status, @message",
			"filter level = 'ERROR' or " + lineFailed + " or @message like /panic/",
			"sort @timestamp desc",
			"limit 200",
		}},
	}
}

// logsOf returns the names of the functions' log groups.
func logsOf(functions ...awslambda.Function) (groups []any) {
	for _, f := range functions {
		groups = append(groups, f.LogGroup().LogGroupName())
	}
	return groups
}

// parseAccessLog names the fields of a line of the access log.
func parseAccessLog() string {
	var marks, fields []string
	for _, f := range accessLogFields() {
		marks, fields = append(marks, "*"), append(fields, f.name)
	}
	return "parse @message '" + strings.Join(marks, " ") + "' as " + columns(fields...)
}

func columns(fields ...string) string { return strings.Join(fields, ", ") }

// newQueries saves the queries in a folder named after the prefix.
func newQueries(p plan) {
	for _, q := range queries(p) {
		awslogs.NewCfnQueryDefinition(p.Construct, jsii.String("Query"+q.id), &awslogs.CfnQueryDefinitionProps{
			Name:          jsii.String(p.Prefix + "/" + q.name),
			LogGroupNames: &q.from,
			QueryString:   jsii.String(strings.Join(q.lines, "\n| ")),
		})
	}
}
