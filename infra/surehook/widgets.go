package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// outcomes returns the outcome classes of attempts: the values of the dimension
// names.MetricOutcome.
func outcomes() []string {
	return []string{
		"delivered", "unavailable", "throttled", "timeout", "dns", "connect",
		"reset", "tls", "blocked", "gone", "refused", "redirect", "token", "transformation",
	}
}

// widgets returns the rows of the dashboard in the order of an incident:
// waiting and dead deliveries, delivery latency, endpoints' answers, and
// Surehook's own parts.
func widgets(p plan) [][]Widget {
	rows := [][]Widget{
		nowRow(p), queueRow(p), latencyRow(p), attemptRow(p), circuitRow(p),
		functionRow(p), functionTimeRow(p),
	}
	if p.senders() {
		rows = append(rows, senderRow(p))
	}
	return append(rows, edgeRow(p), tableRow(p))
}

type metrics = []awscloudwatch.IMetric

// nowRow shows the current state in six numbers.
func nowRow(p plan) []Widget {
	now := func(title string, m ...awscloudwatch.IMetric) Widget {
		return Widget{Title: title, Width: 4, View: ViewNumbers, Left: m}
	}
	return []Widget{
		now("Dead letters open", p.own(names.MetricOpenLetters, "Maximum", gaugePeriod)),
		now("Undeliverable", p.undeliverable()...),
		now("Oldest live message, s", labelled("age", p.Queues.Live.MetricApproximateAgeOfOldestMessage(options("Maximum", gaugePeriod)))),
		now("Live queue", labelled("messages", p.Queues.Live.MetricApproximateNumberOfMessagesVisible(options("Maximum", gaugePeriod)))),
		now("Circuits open", p.own(names.MetricOpenCircuits, "Maximum", gaugePeriod)),
		now("Success rate, last hour", p.successRate(1)),
	}
}

// undeliverable returns the messages set aside: of our own faults, and rejects.
func (p plan) undeliverable() metrics {
	return metrics{
		labelled("undeliverable", p.Queues.Undeliverable.MetricApproximateNumberOfMessagesVisible(options("Maximum", metricPeriod))),
		labelled("rejects", p.Queues.Rejects.MetricApproximateNumberOfMessagesVisible(options("Maximum", metricPeriod))),
		labelled("undeliverable-retry", p.Queues.UndeliverableRetry.MetricApproximateNumberOfMessagesVisible(options("Maximum", metricPeriod))),
	}
}

func queueRow(p plan) []Widget {
	var queues []watched[awssqs.Queue]
	var putBack metrics
	for _, q := range p.work() {
		queues = append(queues, q.watched)
		putBack = append(putBack, labelled(q.name, p.putBack(names.MetricPutBack, "Sum", q)))
	}
	every := options("Maximum", gaugePeriod)
	limits := p.Environment.Thresholds
	return []Widget{
		{Title: "Queue depth", Width: 6, Unit: "messages", Left: each(queues, awssqs.Queue.MetricApproximateNumberOfMessagesVisible, every)},
		{
			Title: "Oldest message", Width: 6, Unit: "s", Left: each(queues, awssqs.Queue.MetricApproximateAgeOfOldestMessage, every),
			Limit: limits.OldestPending.Seconds(), // the retry queue's limit is 15 minutes more
		},
		{Title: "Messages put back after a failure", Width: 6, Unit: "messages", Left: putBack},
		{
			Title: "Dead letters: by hour (left), open (right)", Width: 6, Unit: "deliveries", Limit: float64(limits.DeadLettersPerHour),
			Left: metrics{labelled("dead in an hour", p.own(names.MetricDead, "Sum", time.Hour))},
			Right: append(metrics{
				labelled("open", p.own(names.MetricOpenLetters, "Maximum", gaugePeriod)),
				labelled("saved by the sweeper", p.own(names.MetricSwept, "Sum", metricPeriod)),
			}, p.undeliverable()...),
		},
	}
}

func latencyRow(p plan) []Widget {
	own := func(name string) metrics {
		return percentiles(func(statistic string) awscloudwatch.Metric { return p.own(name, statistic, metricPeriod) })
	}
	return []Widget{
		{Title: "Delivery latency, event to success", Width: 8, Unit: "ms", Left: own(names.MetricLatency)},
		{Title: "Attempt duration", Width: 8, Unit: "ms", Left: own(names.MetricAttemptTime)},
		{
			Title: "Success rate of settled deliveries, by hour", Width: 8, Unit: "%", Limit: p.Environment.Thresholds.SuccessRate,
			Left: metrics{p.successRate(1)},
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

func attemptRow(p plan) []Widget {
	var byOutcome metrics
	for _, outcome := range outcomes() {
		byOutcome = append(byOutcome, labelled(outcome, p.own(names.MetricAttempts, "Sum", metricPeriod, names.MetricOutcome, outcome)))
	}
	return []Widget{
		{Title: "Attempts by outcome", Width: 12, Unit: "attempts", View: ViewStacked, Left: byOutcome},
		{Title: "Throughput", Width: 12, Unit: "count", Left: append(metrics{p.accepted()}, p.sums(names.MetricAttempts, names.MetricDelivered, names.MetricDead)...)},
	}
}

func circuitRow(p plan) []Widget {
	return []Widget{
		{
			Title: "Circuits: open (left); opened, and endpoints at risk (right)", Width: 12, Unit: "circuits",
			Left: metrics{p.own(names.MetricOpenCircuits, "Maximum", gaugePeriod)}, Right: p.sums(names.MetricCircuits, names.MetricAtRisk),
		},
		{Title: "Parked and retried", Width: 12, Unit: "deliveries", Left: p.sums(names.MetricParked, names.MetricRetried)},
	}
}

// sums returns the sums of our metrics with the names.
func (p plan) sums(all ...string) metrics {
	var made metrics
	for _, name := range all {
		made = append(made, p.own(name, "Sum", metricPeriod))
	}
	return made
}

func functionRow(p plan) []Widget {
	every := options("Sum", metricPeriod)
	return []Widget{
		{Title: "Function errors", Width: 12, Unit: "invocations", Left: each(p.functions(), awslambda.Function.MetricErrors, every)},
		{Title: "Function throttles", Width: 12, Unit: "invocations", Left: each(p.functions(), awslambda.Function.MetricThrottles, every)},
	}
}

func functionTimeRow(p plan) []Widget {
	atOnce := func(f awslambda.Function, o *awscloudwatch.MetricOptions) awscloudwatch.Metric {
		return f.Metric(jsii.String("ConcurrentExecutions"), o)
	}
	return []Widget{
		{Title: "Function duration, p95", Width: 12, Unit: "ms", Left: each(p.functions(), awslambda.Function.MetricDuration, options("p95", metricPeriod))},
		{Title: "Function concurrency", Width: 12, Unit: "at once", Left: each(p.functions(), atOnce, options("Maximum", gaugePeriod))},
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

// senderRow shows the functions that make requests from other places. Their metrics are
// in their regions. Lambda counts the calls that reach a function; deliver counts the
// attempts that a sender did not make or did not report.
func senderRow(p plan) []Widget {
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
	return []Widget{
		{Title: "Senders: calls", Width: 8, Unit: "invocations", Left: functions("Invocations")},
		{Title: "Senders: errors (left), throttles (right)", Width: 8, Unit: "invocations", Left: functions("Errors"), Right: functions("Throttles")},
		{
			Title: "Senders: fallbacks (left), answers lost (right)", Width: 8, Unit: "attempts",
			Left: counts(names.MetricFallbacks), Right: counts(names.MetricAnswersLost),
		},
	}
}

// edgeRow shows inputs: API requests and fired schedules.
func edgeRow(p plan) []Widget {
	sum := options("Sum", metricPeriod)
	return []Widget{
		{Title: "API: answers", Width: 8, Unit: "requests", Left: metrics{
			labelled("all", p.API.HTTP.MetricCount(sum)), labelled("4xx", p.API.HTTP.MetricClientError(sum)), labelled("5xx", p.API.HTTP.MetricServerError(sum)),
		}},
		{Title: "API: latency", Width: 8, Unit: "ms", Left: percentiles(func(statistic string) awscloudwatch.Metric {
			return p.API.HTTP.MetricLatency(options(statistic, metricPeriod))
		})},
		{
			Title: "Schedules: fired (left), failed (right)", Width: 8, Unit: "schedules", Left: metrics{labelled("fired", p.Schedules.Group.MetricAttempts(sum))},
			Right: metrics{
				labelled("target errors", p.Schedules.Group.MetricTargetErrors(sum)), labelled("dropped", p.Schedules.Group.MetricDropped(sum)),
				labelled("lost", p.Schedules.Group.MetricFailedToBeSentToDLQ(nil, sum)),
			},
		},
	}
}

func tableRow(p plan) []Widget {
	var throttled, consumed metrics
	for _, t := range p.tables() {
		for _, kind := range []string{"Read", "Write"} {
			label := t.name + " " + kind
			throttled = append(throttled, labelled(label, metric("AWS/DynamoDB", kind+"ThrottleEvents", "Sum", metricPeriod, t.resource)))
			consumed = append(consumed, labelled(label, metric("AWS/DynamoDB", "Consumed"+kind+"CapacityUnits", "Sum", metricPeriod, t.resource)))
		}
	}
	return []Widget{
		{Title: "Table throttles", Width: 12, Unit: "requests", Left: throttled},
		{Title: "Table capacity consumed in 5 minutes", Width: 12, Unit: "units", View: ViewStacked, Left: consumed},
	}
}
