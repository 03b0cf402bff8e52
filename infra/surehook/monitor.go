package surehook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// Monitor is the tool set of an on-call person: a dashboard, alarms with a
// first action, and saved log queries.
type Monitor struct {
	Dashboard awscloudwatch.Dashboard
	Alarms    []awscloudwatch.Alarm
}

// newMonitor makes the dashboard, the alarms, the queries, and the metric of accepted
// events.
//
// No emulator supports all resources. The local stack has no queries, no metrics of
// accepted and warned events, and no alarm whose metric is an expression.
func newMonitor(p plan) Monitor {
	alarms := newAlarms(p)
	if !p.emulated() {
		newQueries(p)
		// Repeated posts are not counted again.
		newLineMetric(p, "Accepted", names.MetricAccepted, awslogs.FilterPattern_NotExists(jsii.String("$."+names.LogDuplicate)))
		// Lines with warnings are of events that do not fit their event type.
		newLineMetric(p, "Warned", names.MetricWarned, awslogs.FilterPattern_Exists(jsii.String("$."+names.LogWarnings)))
	}
	return Monitor{Dashboard: newDashboard(p, alarms), Alarms: alarms}
}

func (p plan) emulated() bool { return p.Environment.Name == "local" }

// watched is a resource and the resource's name on the dashboard.
type watched[T any] struct {
	name     string // as in the AWS resource's name
	id       string // as in the construct ids of alarms and metrics
	resource T
}

// functions returns the functions that the deployment has.
func (p plan) functions() []watched[awslambda.Function] {
	f := p.Functions
	all := []watched[awslambda.Function]{
		{"ingest", "Ingest", f.Ingest},
		{"deliver", "Deliver", f.Deliver},
		{"breaker", "Breaker", f.Breaker},
		{"replay", "Replay", f.Replay},
		{"manage", "Manage", f.Manage},
		{"authorize", "Authorize", f.Authorize},
		{exportName, "Export", f.Export},
		{"sender-fixed", "FixedSender", f.Fixed.Sender},
		{privateName, "PrivateSender", f.Private},
	}
	return slices.DeleteFunc(all, func(w watched[awslambda.Function]) bool { return w.resource == nil })
}

// tables returns the table and the indexes. DynamoDB meters and throttles each
// of them separately. The resource is the metrics' dimensions.
func (p plan) tables() []watched[map[string]*string] {
	of := func(index string) map[string]*string {
		return map[string]*string{"TableName": p.Table.TableName(), "GlobalSecondaryIndexName": &index}
	}
	return []watched[map[string]*string]{
		{"table", "Table", map[string]*string{"TableName": p.Table.TableName()}},
		{names.IndexByEndpoint, "ByEndpoint", of(names.IndexByEndpoint)},
		{names.IndexByState, "ByState", of(names.IndexByState)},
	}
}

// The periods of metrics.
const (
	// gaugePeriod is the interval of the breaker's gauges.
	gaugePeriod = time.Minute
	// metricPeriod is the period of most graphs and alarms. Shorter periods
	// show mostly noise.
	metricPeriod = 5 * time.Minute
)

// own returns a metric of Surehook. Pairs are further dimensions: name, value.
func (p plan) own(name, statistic string, every time.Duration, pairs ...string) awscloudwatch.Metric {
	dimensions := map[string]*string{names.MetricEnvironment: &p.Prefix}
	for i := 0; i+1 < len(pairs); i += 2 {
		dimensions[pairs[i]] = &pairs[i+1]
	}
	return metric(names.MetricNamespace, name, statistic, every, dimensions)
}

// newLineMetric counts the lines of accepted events with the condition. A filter
// costs nothing. In the Embedded Metric Format the metric would be a third of the line.
// The metric of a filter has a dimension only from a field of the line, so the
// stack's name is in the namespace. See docs/adr/31.
func newLineMetric(p plan, id, name string, condition awslogs.JsonPattern) {
	awslogs.NewMetricFilter(p.Construct, &id, &awslogs.MetricFilterProps{
		LogGroup: p.Functions.Ingest.LogGroup(),
		FilterPattern: awslogs.FilterPattern_All(
			awslogs.FilterPattern_StringValue(jsii.String("$.message"), jsii.String("="), jsii.String(names.LineIngested)),
			condition,
		),
		MetricNamespace: jsii.String(p.namespace()),
		MetricName:      &name,
		MetricValue:     jsii.String("1"),
		Unit:            awscloudwatch.Unit_COUNT,
	})
}

// namespace is of the metrics from filters.
func (p plan) namespace() string { return names.MetricNamespace + "/" + p.Prefix }

// metric returns any metric. The metric has no label: for an alarm on a
// labelled metric, CDK writes a form without support in any emulator.
func metric(namespace, name, statistic string, every time.Duration, dimensions map[string]*string) awscloudwatch.Metric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &name, Statistic: &statistic, Period: seconds(every), DimensionsMap: &dimensions,
	})
}

// labelled returns the metric with another label.
func labelled(label string, m awscloudwatch.Metric) awscloudwatch.IMetric {
	return m.With(&awscloudwatch.MetricOptions{Label: &label})
}

// options returns the statistic and the period of a metric from CDK.
func options(statistic string, every time.Duration) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &statistic, Period: seconds(every)}
}

// math returns a metric calculated from other metrics. The expression uses the
// names in using.
func math(label, expression string, every time.Duration, using map[string]awscloudwatch.IMetric) awscloudwatch.MathExpression {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Label:        &label,
		Expression:   &expression,
		Period:       seconds(every),
		UsingMetrics: &using,
	})
}

// throttles returns the throttled reads or writes. CloudWatch ignores missing data of this
// namespace, whatever the alarm says, and DynamoDB writes no zeros: without FILL the alarm would
// never end.
func (p plan) throttles(kind string, of map[string]*string) awscloudwatch.IMetric {
	events := metric("AWS/DynamoDB", kind+"ThrottleEvents", "Sum", metricPeriod, of)
	if p.emulated() {
		return events
	}
	return math("throttled "+strings.ToLower(kind)+"s", "FILL(throttled, 0)", metricPeriod, map[string]awscloudwatch.IMetric{"throttled": events})
}

// unread returns 1 for an hour with accepted events and without a batch of the stream. A stopped
// mapping writes no IteratorAge at all.
func (p plan) unread() awscloudwatch.IMetric {
	return math("hours without the stream", "IF(FILL(accepted, 0) > 0 AND FILL(age, -1) < 0, 1, 0)", time.Hour, map[string]awscloudwatch.IMetric{
		"accepted": metric(p.namespace(), names.MetricAccepted, "Sum", time.Hour, nil),
		"age":      p.Functions.Breaker.Metric(jsii.String("IteratorAge"), options("Maximum", time.Hour)),
	})
}

// minSettled is the fewest settled deliveries per hour for a success rate.
// Below 20 deliveries, a single endpoint decides the rate.
const minSettled = 20

// successRate returns the percentage of delivered deliveries among the
// deliveries settled in an hour; the rest died. With fewer than atLeast
// deliveries the rate is 100.
//
// SUM ignores a metric without data and "+" does not. In an hour with no
// delivered delivery, "+" would give no result.
func (p plan) successRate(atLeast int) awscloudwatch.MathExpression {
	return math("success rate %",
		fmt.Sprintf("IF(SUM([delivered, dead]) >= %d, 100 - 100 * FILL(dead, 0) / SUM([delivered, dead]), 100)", atLeast),
		time.Hour, map[string]awscloudwatch.IMetric{
			"delivered": p.own(names.MetricDelivered, "Sum", time.Hour),
			"dead":      p.own(names.MetricDead, "Sum", time.Hour),
		})
}
