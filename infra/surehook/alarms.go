package surehook

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// runbook begins the alarms' links to sections of the runbook.
const runbook = "docs/runbook.md#"

// alarm holds the properties of a CloudWatch alarm, which goes off above its limit.
type alarm struct {
	id      string // follows "Alarm" in the construct id
	name    string // follows the prefix
	section string // anchor in the runbook
	means   string // the problem and the first action
	absent  bool   // the deployment has no such alarm
	metric  awscloudwatch.IMetric
	limit   float64
	below   bool // the alarm goes off below the limit instead
	// periods is the number of periods that must be beyond the limit; 0 means 1.
	periods int
	// lasting lets two of three periods decide. A single throttle, an error during a deployment, or a
	// schedule that fires before it has its permission pages nobody; an outage pages within ten minutes.
	lasting bool
	// alive marks a metric that has data in every healthy period, so missing data is the failure;
	// a new alarm may go off before the first data. For all other metrics, missing data means
	// that there were no failures, or too few deliveries for a rate.
	alive bool
}

func newAlarms(p plan) []awscloudwatch.Alarm {
	var made []awscloudwatch.Alarm
	add := func(all ...alarm) {
		for _, a := range all {
			if !a.absent {
				made = append(made, newAlarm(p, a))
			}
		}
	}
	for _, kind := range []func(plan, func(...alarm)){
		deliveryAlarms, pendingAlarms, calculatedAlarms, functionAlarms, tableAlarms, scheduleAlarms, chainAlarms, refusalAlarms,
	} {
		kind(p, add)
	}
	return made
}

func newAlarm(p plan, a alarm) awscloudwatch.Alarm {
	comparison, missing := awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD, awscloudwatch.TreatMissingData_NOT_BREACHING
	if a.below {
		comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	}
	if a.alive {
		missing = awscloudwatch.TreatMissingData_BREACHING
	}
	periods := max(a.periods, 1)
	beyond := periods
	if a.lasting {
		periods, beyond = 3, 2
	}
	made := awscloudwatch.NewAlarm(p.Construct, jsii.String("Alarm"+a.id), &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(p.Prefix + "-" + a.name),
		AlarmDescription:   jsii.String(a.means + " Runbook: " + runbook + a.section),
		Metric:             a.metric,
		Threshold:          &a.limit,
		ComparisonOperator: comparison,
		EvaluationPeriods:  jsii.Number(periods),
		DatapointsToAlarm:  jsii.Number(beyond),
		TreatMissingData:   missing,
	})
	if !p.emulated() {
		action := awscloudwatchactions.NewSnsAction(p.Topic)
		made.AddAlarmAction(action)
		made.AddOkAction(action)
	}
	return made
}

// deliveryAlarms adds the alarms with an effect for customers, and those about senders in other places
// and the queue of events.
func deliveryAlarms(p plan, add func(...alarm)) {
	limits := p.Environment.Thresholds
	const findSender = " First find the region in the log of deliver, then look at the errors, throttles and concurrency of the function sender in this region."
	add([]alarm{
		{
			id: "DeadLetters", name: "dead-letters", section: "dead-letters-growing",
			means:  "Too many deliveries died in the last hour. First find the endpoints and the reasons: run the query failures-by-endpoint, or GET /v1/tenants/{tenant}/dead-letters/analysis. A fault at one endpoint is its owner's; faults at many endpoints at once point to our network or code.",
			metric: p.own(names.MetricDead, "Sum", time.Hour), limit: float64(limits.DeadLettersPerHour),
		},
		{
			id: "AtRisk", name: "at-risk", section: "at-risk",
			means:  "Waiting deliveries of an endpoint will be lost if nothing changes, the first within a day. First list the endpoints and the times: run surehook health --at-risk. A paused, disabled or failing endpoint is its owner's; a rate that is too low for what waits can be raised.",
			metric: p.own(names.MetricAtRisk, "Sum", time.Hour), limit: float64(limits.AtRiskPerHour),
		},
		{
			id: "Undeliverable", name: "undeliverable", section: "undeliverable",
			means:  "Surehook could not process some messages. Nothing retries these messages, so deliveries may be stuck. First read one message without deleting it, and find its delivery in the function's log. Fix the cause, then redrive the queue to its source.",
			metric: p.Queues.Undeliverable.MetricApproximateNumberOfMessagesVisible(options("Maximum", metricPeriod)),
		},
		{
			id: "UndeliverableRetry", name: "undeliverable-retry", section: "undeliverable",
			means:  "Surehook could not process some messages of the retry queue, or the Scheduler could not send them there. Nothing retries these messages, so deliveries may be stuck. First check the alarms about schedules, then read one message without deleting it. Fix the cause, then redrive the queue to the retry queue.",
			metric: p.Queues.UndeliverableRetry.MetricApproximateNumberOfMessagesVisible(options("Maximum", metricPeriod)),
		},
		{
			id: "BreakerSilent", name: "breaker-silent", section: "breaker-silent",
			means: "The breaker has not written its gauges for 15 minutes, and every tick writes them. Open circuits may stay open, and parked deliveries may stay parked. First check the dashboard for errors and throttles of the breaker and for failed schedules. Then read the last lines of the breaker's log.",
			// SampleCount counts the writes of the gauge and ignores the
			// values.
			metric: p.own(names.MetricOpenCircuits, "SampleCount", metricPeriod), limit: 1, below: true, periods: 3, alive: true,
		},
		{
			id: "ApiErrors", name: "api-errors", section: "ingest-errors",
			means:  "The API answers with 5xx. Events may not be accepted, and their senders must post them again. First check the errors and throttles of ingest and authorize, then find the failing routes with the query refused-or-slow-requests.",
			metric: p.API.HTTP.MetricServerError(options("Sum", metricPeriod)), limit: float64(limits.IngestErrors), lasting: true,
		},
		{
			id: "NotificationsFailed", name: "notifications-failed", section: "notifications-failed",
			means:  "Notifications about endpoints and dead deliveries fail, and a failed notification of a delivery is lost. Deliveries go on. First run the query errors for notification.failed, then check the permissions on the topic and the table.",
			metric: p.own(names.MetricUnnotified, "Sum", metricPeriod), limit: 0, lasting: true,
		},
		{
			id: "SettingsIgnored", name: "settings-ignored", section: "settings-ignored",
			means:  "A function started without a setting that is wrong, such as the sign-in of people. Everything else works. First find the setting in the lines function.settings_ignored of the logs of ingest, manage and authorize, then correct it and deploy.",
			metric: p.own(names.MetricIgnored, "Sum", time.Hour), limit: 0, // functions start seldom
		},
		{
			id: "DeliveriesSwept", name: "deliveries-swept", section: "deliveries-swept",
			means:  "The sweeper saved deliveries: their tasks were lost, and the deliveries have new tasks. No delivery is lost, but a fault loses tasks. First find the deliveries in the lines delivery.swept of the log of breaker, then run the query why-not-delivered for one of them.",
			metric: p.own(names.MetricSwept, "Sum", metricPeriod), limit: 0,
		},
		{
			id: "StreamLate", name: "stream-late", section: "stream-late",
			means:  "The breaker is late with the table's stream, which keeps a change for a day. Deliveries go on, but a queued delivery of this time whose task is lost waits until the breaker learns of it. First run the query errors for deliveries.recorded in the log of breaker.",
			metric: p.Functions.Breaker.Metric(jsii.String("IteratorAge"), options("Maximum", metricPeriod)), limit: float64(streamLate.Milliseconds()), lasting: true,
		},
		{
			id: "SenderFallbacks", name: "sender-fallbacks", section: "sender-failing", absent: !p.senders(),
			means:  "Senders of other regions do not run, and the own region makes their attempts. Nothing is late or lost, but receivers see the own region." + findSender,
			metric: p.own(names.MetricFallbacks, "Sum", metricPeriod), limit: float64(limits.FunctionErrors), lasting: true,
		},
		{
			id: "SenderAnswersLost", name: "sender-answers-lost", section: "sender-failing", absent: !p.senders(),
			means:  "Senders do not report the outcome of attempts. The attempts count as failures of their endpoints, and receivers may get duplicates." + findSender,
			metric: p.own(names.MetricAnswersLost, "Sum", metricPeriod), limit: float64(limits.FunctionErrors), lasting: true,
		},
		{
			id: "Rejects", name: "rejects", section: "rejects",
			means:  "Messages of the events queue are wrong, and wait in the queue rejects for 14 days. Their events are not accepted. First read the reasons with surehook rejects list, have the producer or the limits corrected, then run surehook rejects redrive.",
			metric: p.Queues.Rejects.MetricApproximateNumberOfMessagesVisible(options("Maximum", metricPeriod)),
		},
		{
			id: "EventsWaiting", name: "events-waiting", section: "events-waiting",
			means: "An event of the events queue has waited for its tenant's limit of events per second for more than a day. Nothing is lost, and the events wait on. First find the tenant in the lines event.returned of the log of ingest, then raise the limit or ask the tenant.",
			// A message is measured only once in 10 minutes.
			metric: p.own(names.MetricEventWait, "Maximum", maxDelay), limit: float64(eventsWaiting.Milliseconds()),
		},
	}...)
}

// calculatedAlarms adds the alarms whose metrics are calculated, which no emulator supports.
func calculatedAlarms(p plan, add func(...alarm)) {
	add([]alarm{
		{
			id: "StreamStopped", name: "stream-stopped", section: "stream-late", absent: p.emulated(),
			means:  "Events were accepted in two hours, and the breaker has read none of them from the table's stream. Deliveries go on, but a queued delivery of this time whose task is lost waits until the breaker learns of it. First check that the stream's event source mapping of the breaker is enabled.",
			metric: p.unread(), periods: 2,
		},
		{
			id: "SuccessRate", name: "success-rate", section: "success-rate", absent: p.emulated(),
			means:  "Too many of the deliveries settled in the last hour died. First find the growing outcomes on the dashboard: timeout, dns and connect at many endpoints at once point to our network, refused and gone to single endpoints.",
			metric: p.successRate(minSettled), limit: p.Environment.Thresholds.SuccessRate, below: true,
		},
	}...)
}

// eventsWaiting is how long an event may wait for its tenant's limit before somebody is paged.
const eventsWaiting = day

// streamLate is how old a change in the stream may get before somebody is paged: a change waits
// for at most streamGather, and leaves the stream after 24 hours.
const streamLate = time.Hour

// maxDelay is the longest delay of an SQS message.
const maxDelay = 15 * time.Minute

// pendingAlarms adds one alarm per queue with a consumer. The alarm's name contains the queue.
func pendingAlarms(p plan, add func(...alarm)) {
	for _, q := range p.work() {
		// The age counts from sending.
		limit := p.Environment.Thresholds.OldestPending + q.delay
		add(alarm{
			id: "OldestPending" + q.id, name: "oldest-pending-" + q.queue(), section: "oldest-pending",
			means:  q.holds + " has waited too long. First check on the dashboard whether the queue's depth grows. If the depth grows, " + q.by + " is too slow, throttled or at its maximum concurrency. If not, " + q.by + " fails with single messages: run the query errors.",
			metric: q.resource.MetricApproximateAgeOfOldestMessage(options("Maximum", metricPeriod)), limit: limit.Seconds(),
		})
	}
}

// functionAlarms adds two alarms per function. The alarm's name contains the
// function.
func functionAlarms(p plan, add func(...alarm)) {
	for _, f := range p.functions() {
		add(alarm{
			id: "Function" + f.id + "Errors", name: f.name + "-errors", section: "function-errors",
			means:  "Invocations of the function " + f.name + " fail. SQS redelivers messages and callers get 5xx, so nothing is lost yet. First run the query errors. If the errors began with a deployment, roll back.",
			metric: f.resource.MetricErrors(options("Sum", metricPeriod)), limit: float64(p.Environment.Thresholds.FunctionErrors), lasting: true,
		}, alarm{
			id: "Function" + f.id + "Throttles", name: f.name + "-throttles", section: "function-throttles",
			means:  "Lambda throttles the function " + f.name + ". First compare the concurrency of all functions with the account's limit. Lower the queue concurrency of the largest consumer, or have the limit raised.",
			metric: f.resource.MetricThrottles(options("Sum", metricPeriod)), limit: float64(p.Environment.Thresholds.FunctionErrors), lasting: true,
		})
	}
}

// tableAlarms adds two alarms for the table and two for each index. An index
// with throttled writes also throttles the table's writes.
func tableAlarms(p plan, add func(...alarm)) {
	for _, t := range p.tables() {
		for _, kind := range []string{"Read", "Write"} {
			target := "the table"
			if t.id != "Table" {
				target = "the index " + t.name
			}
			add(alarm{
				id: t.id + kind + "Throttles", name: t.name + "-" + strings.ToLower(kind) + "-throttles", section: "table-throttles",
				means:  "DynamoDB throttles " + strings.ToLower(kind) + "s of " + target + ", so deliveries are late. First check whether the consumed capacity jumped. After a jump, on-demand capacity follows within minutes. Without a jump, one key is hot: find the endpoint with the query failures-by-endpoint.",
				metric: p.throttles(kind, t.resource),
				limit:  float64(p.Environment.Thresholds.TableThrottles), lasting: true,
			})
		}
	}
}

// scheduleAlarms adds the alarms on schedules. The schedules of retries send to the retry
// queue. A task that cannot be sent there ends up in the queue of undeliverable retries.
func scheduleAlarms(p plan, add func(...alarm)) {
	limit := float64(p.Environment.Thresholds.ScheduleFailures)
	every := options("Sum", metricPeriod)
	const first = " First find the schedule: in the group's schedules in the console, or in the messages of undeliverable-retry. Then check that the schedule's role may still call the target."
	add([]alarm{
		{
			id: "ScheduleErrors", name: "schedule-errors", section: "schedule-failures",
			means:  "The Scheduler could not call the target of a schedule. The Scheduler retries the schedules of retries, so retries are late; it does not retry ticks." + first,
			metric: p.Schedules.Group.MetricTargetErrors(every), limit: limit, lasting: true,
		},
		{
			id: "ScheduleDropped", name: "schedule-dropped", section: "schedule-failures",
			means:  "The Scheduler dropped a schedule's call: a retry's task went to undeliverable-retry, or a tick is missing." + first,
			metric: p.Schedules.Group.MetricDropped(every), limit: limit, lasting: true,
		},
		{
			id: "ScheduleLost", name: "schedule-lost", section: "schedule-failures",
			means:  "The Scheduler dropped a schedule's call and could not send the task to undeliverable-retry either. The retry is late: the sweeper replaces the task about 15 minutes after the retry's time." + first,
			metric: p.Schedules.Group.MetricFailedToBeSentToDLQ(nil, every), limit: limit,
		},
	}...)
	if p.Archive != nil {
		add(alarm{
			id: "ArchiveFailed", name: "archive-failed", section: "archive-failed",
			means:  "The export of a day's table changes failed. The backups hold the changes for 35 days, so nothing is lost yet. First read the failed execution of the state machine " + p.Prefix + "-archive, then start a new execution with the same input.",
			metric: p.Archive.failures(),
		})
	}
}

// failingReceives is the most receives of a message put back without an alarm. The
// nine waits before the tenth receive take 13 minutes on average, so a throttle and a
// deployment page nobody.
const failingReceives = 9

// chainAlarms adds the alarms on messages that return to a queue: put back after
// a failure, stopped by Lambda as a loop, or sent on too often.
func chainAlarms(p plan, add func(...alarm)) {
	add(alarm{
		id: "MessagesCircling", name: "messages-circling", section: "messages-circling",
		means:  "A task, a circuit check or a message of a replay job was sent on 1,000 times or more without progress. Nothing is lost, but the message waits for a limit or for a circuit for a long time, or goes round because of a fault. First find the endpoint or the job in the log lines task.circling, circuit_check.circling and job_message.circling.",
		metric: p.own(names.MetricSentOn, "Sum", metricPeriod),
	})
	for _, q := range p.work() {
		add(alarm{
			id: "PutBack" + q.id, name: "put-back-" + q.queue(), section: "put-back",
			means:  "A message of the queue " + q.queue() + " fails again and again: ten receives or more, for about 13 minutes. SQS delivers the message again for days, so nothing is lost yet. First run the query errors for the reason.",
			metric: p.putBack(names.MetricReceives, "Maximum", q), limit: failingReceives,
		})
	}
	for _, f := range p.functions() {
		if slices.Contains(chained(), f.name) {
			add(alarm{
				id: "Recursion" + f.id, name: f.name + "-recursion", section: "recursion-stopped",
				means:  "Lambda took messages of the function " + f.name + " for an endless loop and dropped the messages into undeliverable or undeliverable-retry. First check that the function allows recursion, then run make redrive.",
				metric: f.resource.Metric(jsii.String("RecursiveInvocationsDropped"), options("Sum", metricPeriod)),
			})
		}
	}
}

// queue returns the last part of the queue's name.
func (s source) queue() string { return strings.ReplaceAll(s.name, " ", "-") }

// putBack returns a metric of the messages put back on the queue.
func (p plan) putBack(name, statistic string, q source) awscloudwatch.Metric {
	return p.own(name, statistic, metricPeriod, names.MetricQueue, *q.resource.QueueName())
}

// refusalAlarms adds an alarm for each kind of resource that may refuse a request because it is
// missing, disabled or not permitted.
func refusalAlarms(p plan, add func(...alarm)) {
	for _, r := range []struct{ id, kind, what string }{
		{"Queue", names.ResourceQueue, "A queue"}, {"Table", names.ResourceTable, "The table"}, {"Key", names.ResourceKey, "The sealing key"},
	} {
		add(alarm{
			id: r.id + "Refused", name: r.kind + "-refused", section: "requests-refused",
			means:  r.what + " is missing, disabled or not permitted. Posts get 503, and messages come again. First find the resource in the lines request.refused: run the query errors. Then restore the resource or the permission.",
			metric: p.own(names.MetricRefused, "Sum", metricPeriod, names.MetricResource, r.kind), lasting: true,
		})
	}
}
