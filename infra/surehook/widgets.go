package surehook

import (
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// widgets returns the rows of the dashboard in the order of an incident:
// waiting and dead deliveries, delivery latency, endpoints' answers, and
// Surehook's own parts.
func widgets(p plan) [][]widget {
	return slices.Concat(queueRows(p), deliveryRows(p), functionRows(p), senderRows(p), edgeRows(p))
}

type metrics = []awscloudwatch.IMetric

// queueRows shows the current state in six numbers, and what waits.
func queueRows(p plan) [][]widget {
	now := func(title string, m ...awscloudwatch.IMetric) widget {
		return widget{title: title, width: 4, numbers: true, left: m}
	}
	var queues []watched[awssqs.Queue]
	var putBack metrics
	for _, q := range p.work() {
		queues = append(queues, q.watched)
		putBack = append(putBack, labelled(q.name, p.putBack(names.MetricPutBack, "Sum", q)))
	}
	latest, limits := options("Maximum", gaugePeriod), p.Environment.Thresholds
	open := p.own(names.MetricOpenLetters, "Maximum", gaugePeriod)
	return [][]widget{
		{
			now("Dead letters open", open),
			now("Undeliverable", p.undeliverable()...),
			now("Oldest live message, s", labelled("age", p.Queues.Live.MetricApproximateAgeOfOldestMessage(latest))),
			now("Live queue", labelled("messages", p.Queues.Live.MetricApproximateNumberOfMessagesVisible(latest))),
			now("Circuits open", p.own(names.MetricOpenCircuits, "Maximum", gaugePeriod)),
			now("Success rate, last hour", p.successRate(1)),
		},
		{
			{title: "Queue depth", width: 6, unit: "messages", left: each(queues, awssqs.Queue.MetricApproximateNumberOfMessagesVisible, latest)},
			{
				title: "Oldest message", width: 6, unit: "s", left: each(queues, awssqs.Queue.MetricApproximateAgeOfOldestMessage, latest),
				limit: limits.OldestPending.Seconds(), // the retry queue's limit is 15 minutes more
			},
			{title: "Messages put back after a failure", width: 6, unit: "messages", left: putBack},
			{
				title: "Dead letters: by hour (left), open (right)", width: 6, unit: "deliveries", limit: float64(limits.DeadLettersPerHour),
				left:  metrics{labelled("dead in an hour", p.own(names.MetricDead, "Sum", time.Hour))},
				right: append(metrics{labelled("open", open), labelled("saved by the sweeper", p.own(names.MetricSwept, "Sum", metricPeriod))}, p.undeliverable()...),
			},
		},
	}
}

// undeliverable returns the messages set aside: of our own faults, and rejects.
func (p plan) undeliverable() metrics {
	q := p.Queues
	return each([]watched[awssqs.Queue]{
		{name: "undeliverable", resource: q.Undeliverable}, {name: "rejects", resource: q.Rejects}, {name: "undeliverable-retry", resource: q.UndeliverableRetry},
	}, awssqs.Queue.MetricApproximateNumberOfMessagesVisible, options("Maximum", metricPeriod))
}

// deliveryRows shows latency, the endpoints' answers, and the circuits.
func deliveryRows(p plan) [][]widget {
	times := func(name string) metrics {
		return percentiles(func(statistic string) awscloudwatch.Metric { return p.own(name, statistic, metricPeriod) })
	}
	sums := func(all ...string) (made metrics) {
		for _, name := range all {
			made = append(made, p.own(name, "Sum", metricPeriod))
		}
		return made
	}
	var byOutcome metrics
	for class := hook.ClassDelivered; int(class) < hook.Classes; class++ {
		byOutcome = append(byOutcome, labelled(class.String(), p.own(names.MetricAttempts, "Sum", metricPeriod, names.MetricOutcome, class.String())))
	}
	return [][]widget{
		{
			{title: "Delivery latency, event to success", width: 8, unit: "ms", left: times(names.MetricLatency)},
			{title: "Attempt duration", width: 8, unit: "ms", left: times(names.MetricAttemptTime)},
			{title: "Success rate of settled deliveries, by hour", width: 8, unit: "%", limit: p.Environment.Thresholds.SuccessRate, left: metrics{p.successRate(1)}},
		},
		{
			{title: "Attempts by outcome", width: 12, unit: "attempts", stacked: true, left: byOutcome},
			{title: "Throughput", width: 12, unit: "count", left: append(metrics{metric(p.namespace(), names.MetricAccepted, "Sum", metricPeriod, nil)}, sums(names.MetricAttempts, names.MetricDelivered, names.MetricDead)...)},
		},
		{
			{
				title: "Circuits: open (left); opened, and endpoints at risk (right)", width: 12, unit: "circuits",
				left: metrics{p.own(names.MetricOpenCircuits, "Maximum", gaugePeriod)}, right: sums(names.MetricCircuits, names.MetricAtRisk),
			},
			{title: "Parked and retried", width: 12, unit: "deliveries", left: sums(names.MetricParked, names.MetricRetried)},
		},
	}
}

// percentiles returns the usual percentiles of a metric.
func percentiles(of func(statistic string) awscloudwatch.Metric) metrics {
	var all metrics
	for _, statistic := range []string{"p50", "p95", "p99"} {
		all = append(all, labelled(statistic, of(statistic)))
	}
	return all
}

func functionRows(p plan) [][]widget {
	sum := options("Sum", metricPeriod)
	atOnce := func(f awslambda.Function, o *awscloudwatch.MetricOptions) awscloudwatch.Metric {
		return f.Metric(jsii.String("ConcurrentExecutions"), o)
	}
	return [][]widget{
		{
			{title: "Function errors", width: 12, unit: "invocations", left: each(p.functions(), awslambda.Function.MetricErrors, sum)},
			{title: "Function throttles", width: 12, unit: "invocations", left: each(p.functions(), awslambda.Function.MetricThrottles, sum)},
		},
		{
			{title: "Function duration, p95", width: 12, unit: "ms", left: each(p.functions(), awslambda.Function.MetricDuration, options("p95", metricPeriod))},
			{title: "Function concurrency", width: 12, unit: "at once", left: each(p.functions(), atOnce, options("Maximum", gaugePeriod))},
		},
	}
}

// each returns a metric of each resource, with the resource's name.
func each[T any](all []watched[T], of func(T, *awscloudwatch.MetricOptions) awscloudwatch.Metric, o *awscloudwatch.MetricOptions) metrics {
	var made metrics
	for _, w := range all {
		made = append(made, labelled(w.name, of(w.resource, o)))
	}
	return made
}

// senderRows shows the functions that make requests from other places. Their metrics are
// in their regions. Lambda counts the calls that reach a function; deliver counts the
// attempts that a sender did not make or did not report.
func senderRows(p plan) [][]widget {
	if !p.senders() {
		return nil
	}
	functions := func(name string) metrics {
		var all metrics
		for _, region := range p.Environment.Senders {
			m := metric("AWS/Lambda", name, "Sum", metricPeriod, map[string]*string{"FunctionName": jsii.String(names.Sender(p.Prefix))})
			all = append(all, labelled(region, m.With(&awscloudwatch.MetricOptions{Region: jsii.String(region)})))
		}
		if sender := p.Functions.Fixed.Sender; sender != nil {
			all = append(all, labelled("fixed addresses", sender.Metric(&name, options("Sum", metricPeriod))))
		}
		if sender := p.Functions.Private; sender != nil {
			all = append(all, labelled("private network", sender.Metric(&name, options("Sum", metricPeriod))))
		}
		return all
	}
	counts := func(name string) metrics {
		all := metrics{labelled("all places", p.own(name, "Sum", metricPeriod))}
		for _, region := range p.Environment.Senders {
			all = append(all, labelled(region, p.own(name, "Sum", metricPeriod, names.MetricRegion, region)))
		}
		return all
	}
	return [][]widget{{
		{title: "Senders: calls", width: 8, unit: "invocations", left: functions("Invocations")},
		{title: "Senders: errors (left), throttles (right)", width: 8, unit: "invocations", left: functions("Errors"), right: functions("Throttles")},
		{
			title: "Senders: fallbacks (left), answers lost (right)", width: 8, unit: "attempts",
			left: counts(names.MetricFallbacks), right: counts(names.MetricAnswersLost),
		},
	}}
}

// edgeRows shows inputs, API requests and fired schedules, and the table.
func edgeRows(p plan) [][]widget {
	sum, api, schedules := options("Sum", metricPeriod), p.API.HTTP, p.Schedules.Group
	var throttled, consumed metrics
	for _, t := range p.tables() {
		for _, kind := range []string{"Read", "Write"} {
			label := t.name + " " + kind
			throttled = append(throttled, labelled(label, metric("AWS/DynamoDB", kind+"ThrottleEvents", "Sum", metricPeriod, t.resource)))
			consumed = append(consumed, labelled(label, metric("AWS/DynamoDB", "Consumed"+kind+"CapacityUnits", "Sum", metricPeriod, t.resource)))
		}
	}
	return [][]widget{
		{
			{title: "API: answers", width: 8, unit: "requests", left: metrics{
				labelled("all", api.MetricCount(sum)), labelled("4xx", api.MetricClientError(sum)), labelled("5xx", api.MetricServerError(sum)),
			}},
			{title: "API: latency", width: 8, unit: "ms", left: percentiles(func(statistic string) awscloudwatch.Metric {
				return api.MetricLatency(options(statistic, metricPeriod))
			})},
			{
				title: "Schedules: fired (left), failed (right)", width: 8, unit: "schedules", left: metrics{labelled("fired", schedules.MetricAttempts(sum))},
				right: metrics{
					labelled("target errors", schedules.MetricTargetErrors(sum)), labelled("dropped", schedules.MetricDropped(sum)),
					labelled("lost", schedules.MetricFailedToBeSentToDLQ(nil, sum)),
				},
			},
		},
		{
			{title: "Table throttles", width: 12, unit: "requests", left: throttled},
			{title: "Table capacity consumed in 5 minutes", width: 12, unit: "units", stacked: true, left: consumed},
		},
	}
}
