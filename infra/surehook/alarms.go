package surehook

import (
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// runbook begins the alarms' links to sections of the runbook.
const runbook = "docs/runbook.md#"

// RunbookSections returns the anchors in the alarms' descriptions. Each anchor
// is a heading of docs/runbook.md.
func RunbookSections() []string {
	return []string{
		"dead-letters-growing", "undeliverable", "oldest-pending", "breaker-silent", "success-rate", "ingest-errors",
		"function-errors", "function-throttles", "table-throttles", "schedule-failures", "archive-failed",
	}
}

// alarm holds the properties of a CloudWatch alarm. The alarm goes off above
// its limit.
type alarm struct {
	id      string // follows "Alarm" in the construct id
	name    string // follows the prefix
	section string // of the runbook
	means   string // the problem and the first action
	metric  awscloudwatch.IMetric
	limit   float64
	below   bool // the alarm goes off below the limit instead
	// periods is the number of consecutive periods beyond the limit: 0 means 1.
	periods int
	// alive marks a metric with data in every healthy period, so missing data
	// is an alarm too. For all other metrics, missing data means no failures,
	// or too few deliveries for a rate.
	alive bool
}

func newAlarms(scope constructs.Construct, p MonitorProps) []awscloudwatch.Alarm {
	all := deliveryAlarms(p)
	all = append(all, functionAlarms(p)...)
	all = append(all, tableAlarms(p)...)
	all = append(all, scheduleAlarms(p)...)
	var made []awscloudwatch.Alarm
	for _, a := range all {
		made = append(made, newAlarm(scope, p, a))
	}
	return made
}

func newAlarm(scope constructs.Construct, p MonitorProps, a alarm) awscloudwatch.Alarm {
	comparison, missing := awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD, awscloudwatch.TreatMissingData_NOT_BREACHING
	if a.below {
		comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	}
	if a.alive {
		missing = awscloudwatch.TreatMissingData_BREACHING
	}
	made := awscloudwatch.NewAlarm(scope, jsii.String("Alarm"+a.id), &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(p.Prefix + "-" + a.name),
		AlarmDescription:   jsii.String(a.means + " Runbook: " + runbook + a.section),
		Metric:             a.metric,
		Threshold:          &a.limit,
		ComparisonOperator: comparison,
		EvaluationPeriods:  number(max(a.periods, 1)),
		TreatMissingData:   missing,
	})
	if p.calling() {
		action := awscloudwatchactions.NewSnsAction(p.Topic)
		made.AddAlarmAction(action)
		made.AddOkAction(action)
	}
	return made
}

// deliveryAlarms returns the alarms with an effect for customers.
func deliveryAlarms(p MonitorProps) []alarm {
	limits := p.Environment.Thresholds
	all := []alarm{
		{
			id: "DeadLetters", name: "dead-letters", section: "dead-letters-growing",
			means:  "Deliveries give up faster than they should. First see which endpoints and why: the query failures-by-endpoint, or GET /v1/tenants/{tenant}/dead-letters/analysis. One endpoint is its owner's trouble; many at once are ours or the network's.",
			metric: p.own(names.MetricDead, "Sum", time.Hour), limit: float64(limits.DeadLettersPerHour),
		},
		{
			id: "Undeliverable", name: "undeliverable", section: "undeliverable",
			means: "There are messages that we could not work on. Nothing else tries them again, so deliveries may be standing still. First read one of them without deleting it, and look for its delivery in the function's log; mend the cause, then send the queue back to its source.",
			metric: p.Queues.Undeliverable.MetricApproximateNumberOfMessagesVisible(
				options("Maximum", metricPeriod)),
		},
		{
			id: "BreakerSilent", name: "breaker-silent", section: "breaker-silent",
			means: "The breaker has not written its gauges for a quarter of an hour, as it does with every tick: open circuits may stay open, and what is parked may stay parked. First see on the dashboard whether the breaker has errors or throttles and whether schedules fail; then read the last lines of its log.",
			// SampleCount counts the writes of the gauge and ignores the
			// values.
			metric: p.own(names.MetricOpenCircuits, "SampleCount", metricPeriod), limit: 1, below: true, periods: 3, alive: true,
		},
		{
			id: "ApiErrors", name: "api-errors", section: "ingest-errors",
			means:  "The API answers with 5xx: events may not be accepted, and their senders must post them again. First look at the errors and throttles of ingest and authorize, then at the access log for the routes that fail.",
			metric: p.API.MetricServerError(options("Sum", metricPeriod)), limit: float64(limits.IngestErrors),
		},
	}
	all = append(all, pendingAlarms(p)...)
	if !p.emulated() {
		all = append(all, alarm{
			id: "SuccessRate", name: "success-rate", section: "success-rate",
			means:  "Too many of the deliveries that ended in the last hour ended dead. First see on the dashboard which outcomes grew: timeout, dns and connect of many endpoints at once point to our own network, refused and gone to single endpoints.",
			metric: p.successRate(minSettled), limit: limits.SuccessRate, below: true,
		})
	}
	return all
}

// maxDelay is the longest delay of an SQS message.
const maxDelay = 15 * time.Minute

// pendingAlarms returns one alarm per lane. The alarm's name contains the lane.
func pendingAlarms(p MonitorProps) []alarm {
	var all []alarm
	for _, lane := range p.lanes() {
		limit := p.Environment.Thresholds.OldestPending
		if lane.resource == p.Queues.Retry {
			// The age counts from sending. A retry due within 15 minutes is
			// sent at once with a delay. The other lanes delay a message by a
			// minute at most.
			limit += maxDelay
		}
		all = append(all, alarm{
			id: "OldestPending" + lane.id, name: "oldest-pending-" + lane.name, section: "oldest-pending",
			means:  "A delivery on the " + lane.name + " lane has waited too long. First see on the dashboard whether the lane's depth grows: then deliver is too slow, throttled or at its maximum concurrency. If it does not, deliver fails with single messages: run the query errors.",
			metric: lane.resource.MetricApproximateAgeOfOldestMessage(options("Maximum", metricPeriod)), limit: limit.Seconds(),
		})
	}
	return all
}

// functionAlarms returns two alarms per function. The alarm's name contains the
// function.
func functionAlarms(p MonitorProps) []alarm {
	var all []alarm
	for _, f := range p.functions() {
		all = append(all, alarm{
			id: "Function" + f.id + "Errors", name: f.name + "-errors", section: "function-errors",
			means:  "Invocations of the function " + f.name + " fail. Messages are tried again and requests answered with 5xx, so nothing is lost yet. First run the query errors; if it began with a deployment, go back to the version before.",
			metric: f.resource.MetricErrors(options("Sum", metricPeriod)), limit: float64(p.Environment.Thresholds.FunctionErrors),
		}, alarm{
			id: "Function" + f.id + "Throttles", name: f.name + "-throttles", section: "function-throttles",
			means:  "Lambda has no room for the function " + f.name + ". First compare the concurrency of all functions with the account's limit: lower the queue's concurrency of whoever takes too much, or have the limit raised.",
			metric: f.resource.MetricThrottles(options("Sum", metricPeriod)), limit: float64(p.Environment.Thresholds.FunctionErrors),
		})
	}
	return all
}

// tableAlarms returns two alarms for the table and two for each index. An index
// with throttled writes also throttles the table's writes.
func tableAlarms(p MonitorProps) []alarm {
	var all []alarm
	for _, t := range p.tables() {
		for _, kind := range []string{"Read", "Write"} {
			what := "the table"
			if t.id != "Table" {
				what = "the index " + t.name
			}
			all = append(all, alarm{
				id: t.id + kind + "Throttles", name: t.name + "-" + strings.ToLower(kind) + "-throttles", section: "table-throttles",
				means:  "DynamoDB refuses " + strings.ToLower(kind) + " requests of " + what + ": deliveries are late. First see whether the consumed capacity jumped. If it did, on-demand capacity follows within minutes; if not, one key is hot: find the endpoint with the query failures-by-endpoint.",
				metric: metric("AWS/DynamoDB", kind+"ThrottleEvents", "Sum", metricPeriod, t.resource),
				limit:  float64(p.Environment.Thresholds.TableThrottles),
			})
		}
	}
	return all
}

// scheduleAlarms returns the alarms on schedules. The target of a retry's
// schedule is the retry lane. A token without delivery to the lane ends in the
// undeliverable queue.
func scheduleAlarms(p MonitorProps) []alarm {
	limit := float64(p.Environment.Thresholds.ScheduleFailures)
	every := options("Sum", metricPeriod)
	const first = " First see which: the schedules of the group in the console, or the messages in undeliverable. Then check that the role of the schedule may still reach its target."
	all := []alarm{
		{
			id: "ScheduleErrors", name: "schedule-errors", section: "schedule-failures",
			means:  "The Scheduler could not reach the target of a schedule, and tries again where it may: retries are late, or a tick was left out." + first,
			metric: p.Schedules.MetricTargetErrors(every), limit: limit,
		},
		{
			id: "ScheduleDropped", name: "schedule-dropped", section: "schedule-failures",
			means:  "The Scheduler gave up a schedule: a retry went to undeliverable, or a tick was left out." + first,
			metric: p.Schedules.MetricDropped(every), limit: limit,
		},
		{
			id: "ScheduleLost", name: "schedule-lost", section: "schedule-failures",
			means:  "The Scheduler gave up a schedule and could not keep it in undeliverable either: a delivery has no next attempt until somebody replays the delivery with force." + first,
			metric: p.Schedules.MetricFailedToBeSentToDLQ(nil, every), limit: limit,
		},
	}
	if p.Archive != nil {
		all = append(all, alarm{
			id: "ArchiveFailed", name: "archive-failed", section: "archive-failed",
			means:  "The day's changes of the table were not exported. The backups hold them for 35 days, so nothing is lost yet. First read the failed execution of the state machine " + p.Prefix + "-archive, then start it again with the same input.",
			metric: p.Archive.failures(),
		})
	}
	return all
}
