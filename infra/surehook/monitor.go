package surehook

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// Monitor is what an on-call person has: a dashboard to look at, alarms that
// say what to do first, and queries of the logs.
type Monitor struct {
	Dashboard awscloudwatch.Dashboard
	Alarms    []awscloudwatch.Alarm
}

// MonitorProps says what NewMonitor makes, and what it watches.
type MonitorProps struct {
	Prefix      string // of the names of dashboard, alarms and queries
	Environment Environment
	Queues      Queues
	Functions   Functions
	Table       awsdynamodb.Table
	API         awsapigatewayv2.HttpApi
	Schedules   awsscheduler.IScheduleGroup
	// Archive is watched too, unless it is nil.
	Archive *Archive
	// Topic is told when an alarm goes off and when it is over, but not of those of
	// dev and local: they can be seen, and nobody is called where breaking things
	// is the work.
	Topic awssns.ITopic
}

// NewMonitor makes the dashboard, the alarms and the queries.
//
// No emulator deploys everything: the local stack is without the queries, and
// without the one alarm that is calculated from several metrics.
func NewMonitor(scope constructs.Construct, p MonitorProps) Monitor {
	alarms := newAlarms(scope, p)
	if !p.emulated() {
		newQueries(scope, p)
	}
	return Monitor{Dashboard: newDashboard(scope, p, alarms), Alarms: alarms}
}

func (p MonitorProps) emulated() bool { return p.Environment.Name == "local" }

func (p MonitorProps) calling() bool { return p.Environment.Name != "dev" && !p.emulated() }

// watched is a resource and its name on the dashboard.
type watched[T any] struct {
	name     string // as in the names of its AWS resources
	id       string // as in the ids of what watches it
	resource T
}

func (p MonitorProps) functions() []watched[awslambda.Function] {
	f := p.Functions
	return []watched[awslambda.Function]{
		{"ingest", "Ingest", f.Ingest},
		{"deliver", "Deliver", f.Deliver},
		{"breaker", "Breaker", f.Breaker},
		{"replay", "Replay", f.Replay},
		{"manage", "Manage", f.Manage},
		{"authorize", "Authorize", f.Authorize},
	}
}

// lanes returns the queues that deliver works on.
func (p MonitorProps) lanes() []watched[awssqs.Queue] {
	q := p.Queues
	return []watched[awssqs.Queue]{
		{"live", "Live", q.Live},
		{"retry", "Retry", q.Retry},
		{"replay", "Replay", q.Replay},
	}
}

// work returns the queues that a function works on. They drain, or should.
func (p MonitorProps) work() []watched[awssqs.Queue] {
	return append(p.lanes(),
		watched[awssqs.Queue]{"circuits", "Circuits", p.Queues.Circuits},
		watched[awssqs.Queue]{"replay jobs", "ReplayJobs", p.Queues.ReplayJobs},
	)
}

// tables returns the table and its indexes: DynamoDB counts what each of them
// consumes and refuses by itself. The resource is the metrics' dimensions.
func (p MonitorProps) tables() []watched[map[string]*string] {
	of := func(index string) map[string]*string {
		return map[string]*string{"TableName": p.Table.TableName(), "GlobalSecondaryIndexName": &index}
	}
	return []watched[map[string]*string]{
		{"table", "Table", map[string]*string{"TableName": p.Table.TableName()}},
		{names.IndexByEndpoint, "ByEndpoint", of(names.IndexByEndpoint)},
		{names.IndexByState, "ByState", of(names.IndexByState)},
	}
}

// The periods that metrics are summed up in.
const (
	// gaugePeriod is how often the breaker writes its gauges.
	gaugePeriod = time.Minute
	// metricPeriod is the one of most graphs and alarms: shorter ones say more of
	// chance than of trouble.
	metricPeriod = 5 * time.Minute
)

// own is a metric of Surehook itself. Pairs are further dimensions: name, value.
func (p MonitorProps) own(name, statistic string, every time.Duration, pairs ...string) awscloudwatch.Metric {
	dimensions := map[string]*string{names.MetricEnvironment: &p.Environment.Name}
	for i := 0; i+1 < len(pairs); i += 2 {
		dimensions[pairs[i]] = &pairs[i+1]
	}
	return metric(names.MetricNamespace, name, statistic, every, dimensions)
}

// metric is any metric. It has no label of its own: CDK writes an alarm on a
// metric with one in another form, which no emulator takes.
func metric(namespace, name, statistic string, every time.Duration, dimensions map[string]*string) awscloudwatch.Metric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace:     &namespace,
		MetricName:    &name,
		Statistic:     &statistic,
		Period:        seconds(every),
		DimensionsMap: &dimensions,
	})
}

// labelled is the metric with another label.
func labelled(label string, m awscloudwatch.Metric) awscloudwatch.IMetric {
	return m.With(&awscloudwatch.MetricOptions{Label: &label})
}

// options are the statistic and the period of a metric that CDK knows.
func options(statistic string, every time.Duration) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &statistic, Period: seconds(every)}
}

// math is a metric that is calculated from others, which its expression calls
// by their names in using.
func math(label, expression string, every time.Duration, using map[string]awscloudwatch.IMetric) awscloudwatch.MathExpression {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Label:        &label,
		Expression:   &expression,
		Period:       seconds(every),
		UsingMetrics: &using,
	})
}

// minSettled is how many deliveries an hour must have settled for their success
// rate to be judged: below, a single endpoint decides.
const minSettled = 20

// successRate is the percentage of the deliveries settled in an hour that were
// delivered; the others died. Of fewer than atLeast it is 100.
//
// SUM passes over a metric that has no data, which a sum by "+" does not: an
// hour in which nothing was delivered is the one that matters.
func (p MonitorProps) successRate(atLeast int) awscloudwatch.MathExpression {
	return math("success rate %",
		fmt.Sprintf("IF(SUM([delivered, dead]) >= %d, 100 - 100 * FILL(dead, 0) / SUM([delivered, dead]), 100)", atLeast),
		time.Hour, map[string]awscloudwatch.IMetric{
			"delivered": p.own(names.MetricDelivered, "Sum", time.Hour),
			"dead":      p.own(names.MetricDead, "Sum", time.Hour),
		})
}

// monitorSuppressions returns what monitor and archive do against the
// AwsSolutions rules, and why.
func monitorSuppressions(env Environment) []suppression {
	if !env.Archive {
		return nil
	}
	return []suppression{
		{
			path: "ArchiveBucket", rule: "AwsSolutions-S1",
			reason: "DynamoDB alone writes to it, once a day, and the exports are listed by DynamoDB itself; whoever reads it is in CloudTrail. A second bucket for the access logs of this one would be watched by nobody.",
		},
		{
			path: "Archive", rule: "AwsSolutions-SF1",
			reason: "It runs once a day, and a standard state machine keeps each run's whole history for 90 days: the log would be a copy of it, and needs permissions on all log groups of the account.",
		},
		{
			path: "Archive", rule: "AwsSolutions-SF2",
			reason: "It makes a handful of calls a day to one service, whose times nobody waits for.",
		},
		{
			path: "ArchiveRole/DefaultPolicy", rule: "AwsSolutions-IAM5",
			finding: `/^Resource::.+\/` + archiveFolder + `\/\*$/`,
			reason:  "DynamoDB chooses the names of an export's files. They are below one folder of a bucket that holds nothing else.",
		},
		{
			path: "ArchiveRole/DefaultPolicy", rule: "AwsSolutions-IAM5",
			finding: `/^Resource::.+\/export\/\*$/`,
			reason:  "DynamoDB chooses the names of the exports. They are those of this one table.",
		},
	}
}

// number is a count as CDK has it.
func number[N int | float64](n N) *float64 { return jsii.Number(n) }
