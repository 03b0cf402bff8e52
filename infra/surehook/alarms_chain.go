package surehook

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// failingReceives is the most receives of a message put back without an alarm. The
// nine waits before the tenth receive take 13 minutes on average, so a throttle and a
// deployment page nobody.
const failingReceives = 9

// chainAlarms returns the alarms on messages that return to a queue: put back after
// a failure, stopped by Lambda as a loop, or sent on too often.
func chainAlarms(p plan) []alarm {
	all := []alarm{{
		id: "MessagesCircling", name: "messages-circling", section: "messages-circling",
		means:  "A task, a circuit check or a message of a replay job was sent on 1,000 times or more without progress. Nothing is lost, but the message waits for a limit or for a circuit for a long time, or goes round because of a fault. First find the endpoint or the job in the log lines task.circling, circuit_check.circling and job_message.circling.",
		metric: p.own(names.MetricSentOn, "Sum", metricPeriod),
	}}
	for _, q := range p.work() {
		all = append(all, alarm{
			id: "PutBack" + q.id, name: "put-back-" + q.queue(), section: "put-back",
			means:  "A message of the queue " + q.queue() + " fails again and again: ten receives or more, for about 13 minutes. SQS delivers the message again for days, so nothing is lost yet. First run the query errors for the reason.",
			metric: p.putBack(names.MetricReceives, "Maximum", q), limit: failingReceives,
		})
	}
	for _, f := range p.functions() {
		if slices.Contains(chained(), f.name) {
			all = append(all, alarm{
				id: "Recursion" + f.id, name: f.name + "-recursion", section: "recursion-stopped",
				means:  "Lambda took messages of the function " + f.name + " for an endless loop and dropped the messages into undeliverable or undeliverable-retry. First check that the function allows recursion, then run make redrive.",
				metric: f.resource.Metric(jsii.String("RecursiveInvocationsDropped"), options("Sum", metricPeriod)),
			})
		}
	}
	return all
}

// queue returns the last part of the queue's name.
func (s source) queue() string { return strings.ReplaceAll(s.name, " ", "-") }

// putBack returns a metric of the messages put back on the queue.
func (p plan) putBack(name, statistic string, q source) awscloudwatch.Metric {
	return p.own(name, statistic, metricPeriod, names.MetricQueue, *q.resource.QueueName())
}
