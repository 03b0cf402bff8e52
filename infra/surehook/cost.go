package surehook

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
)

// AWS's list prices in USD in US East (N. Virginia) as of November
// 2026: the first tier of volume, without the free tier. Prices of other
// regions differ by up to half. The estimate excludes fixed costs (storage,
// backups, keys, alarms, dashboard), KMS requests, SNS and outgoing traffic.
const (
	apiPrice        = 1.00    // million requests to an HTTP API: https://aws.amazon.com/api-gateway/pricing/
	invocationPrice = 0.20    // million: https://aws.amazon.com/lambda/pricing/
	armPrice        = 13.3334 // million GB-seconds
	x86Price        = 16.6667
	queuePrice      = 0.40  // million requests to standard queues: https://aws.amazon.com/sqs/pricing/
	fairPrice       = 0.50  // the same about messages with a group id: 0.10 more for fair queues
	readPrice       = 0.125 // million units on demand: https://aws.amazon.com/dynamodb/pricing/on-demand/
	writePrice      = 0.625
	schedulePrice   = 1.00 // million: https://aws.amazon.com/eventbridge/pricing/
	logPrice        = 0.50 // GB of the standard class: https://aws.amazon.com/cloudwatch/pricing/

	million, gigabyte = 1_000_000, 1 << 30
)

// share is usage at one price: USD for a number of units.
type share struct {
	usd   float64
	per   int
	usage []awscloudwatch.Metric
}

// costs returns the cost per hour of each service, and the total.
func costs(p plan) []awscloudwatch.IMetric {
	services := []struct {
		id, label string
		shares    []share
	}{
		{"api", "API Gateway", []share{{apiPrice, million, []awscloudwatch.Metric{p.API.HTTP.MetricCount(options("Sum", time.Hour))}}}},
		{"lambda", "Lambda", functionShares(p)},
		{"sqs", "SQS", []share{{fairPrice, million, messages(p)}, {queuePrice, million, emptyReceives(p)}}},
		{"dynamodb", "DynamoDB", []share{{readPrice, million, capacity(p, "Read")}, {writePrice, million, capacity(p, "Write")}}},
		{"scheduler", "Scheduler", []share{{schedulePrice, million, []awscloudwatch.Metric{p.Schedules.Group.MetricAttempts(options("Sum", time.Hour))}}}},
		{"logs", "Logs", []share{{logPrice, gigabyte, logBytes(p)}}},
	}
	var all []awscloudwatch.IMetric
	each := map[string]awscloudwatch.IMetric{}
	for _, s := range services {
		cost := costOf(s.id, s.label, s.shares)
		each[s.id] = cost
		all = append(all, cost)
	}
	return append([]awscloudwatch.IMetric{math("all", "SUM([api, lambda, sqs, dynamodb, scheduler, logs])", time.Hour, each)}, all...)
}

// costOf adds the shares with SUM. SUM ignores missing data, so a function
// without invocations in the hour does not hide the others' cost.
func costOf(id, label string, shares []share) awscloudwatch.IMetric {
	parts := map[string]awscloudwatch.IMetric{}
	var sum string
	for i, s := range shares {
		used := map[string]awscloudwatch.IMetric{}
		var units string
		for j, m := range s.usage {
			name := fmt.Sprintf("%s%dn%d", id, i, j)
			used[name] = m
			units += ", " + name
		}
		part := fmt.Sprintf("%s%d", id, i)
		parts[part] = math(part, fmt.Sprintf("SUM([%s]) * %.8g / %d", units[2:], s.usd, s.per), time.Hour, used)
		sum += ", " + part
	}
	return math(label, "SUM(["+sum[2:]+"])", time.Hour, parts)
}

// functionShares returns the invocations of all functions, and for each
// function its duration in milliseconds times its memory.
func functionShares(p plan) []share {
	second := armPrice
	if p.Environment.Architecture == "amd64" {
		second = x86Price
	}
	invocations := share{usd: invocationPrice, per: million}
	shares := make([]share, 0, len(p.functions())+1)
	for _, f := range p.functions() {
		invocations.usage = append(invocations.usage, f.resource.MetricInvocations(options("Sum", time.Hour)))
		shares = append(shares, share{
			usd: memoryGB(f.resource) / 1000 * second, per: million,
			usage: []awscloudwatch.Metric{f.resource.MetricDuration(options("Sum", time.Hour))},
		})
	}
	return append(shares, invocations)
}

// memoryGB returns the function's memory. Lambda's default is 128 MB.
func memoryGB(f awslambda.Function) float64 {
	if cfn, ok := f.Node().DefaultChild().(awslambda.CfnFunction); ok && cfn.MemorySize() != nil {
		return *cfn.MemorySize() / 1024
	}
	return 0.125
}

// messages returns sent, received and deleted messages. Every message of the stack has a
// group id, except the tasks that the Scheduler sends. The estimate is an upper bound:
// each message counts as one request, but one request carries up to ten messages.
func messages(p plan) []awscloudwatch.Metric {
	every := options("Sum", time.Hour)
	var all []awscloudwatch.Metric
	for _, q := range pricedQueues(p) {
		all = append(all, q.MetricNumberOfMessagesSent(every), q.MetricNumberOfMessagesReceived(every), q.MetricNumberOfMessagesDeleted(every))
	}
	return all
}

// emptyReceives returns the receives without a message, at the price without a group id.
func emptyReceives(p plan) []awscloudwatch.Metric {
	var all []awscloudwatch.Metric
	for _, q := range pricedQueues(p) {
		all = append(all, q.MetricNumberOfEmptyReceives(options("Sum", time.Hour)))
	}
	return all
}

// pricedQueues returns the queues of the estimate. Queue Redrive is always empty.
func pricedQueues(p plan) []awssqs.Queue {
	all := make([]awssqs.Queue, 0, len(p.work())+3)
	for _, q := range p.work() {
		all = append(all, q.resource)
	}
	return append(all, p.Queues.Rejects, p.Queues.DeadLetters, p.Queues.Undeliverable, p.Queues.UndeliverableRetry)
}

func capacity(p plan, kind string) []awscloudwatch.Metric {
	var all []awscloudwatch.Metric
	for _, t := range p.tables() {
		all = append(all, metric("AWS/DynamoDB", "Consumed"+kind+"CapacityUnits", "Sum", time.Hour, t.resource))
	}
	return all
}

func logBytes(p plan) []awscloudwatch.Metric {
	var all []awscloudwatch.Metric
	for _, f := range p.functions() {
		group := map[string]*string{"LogGroupName": f.resource.LogGroup().LogGroupName()}
		all = append(all, metric("AWS/Logs", "IncomingBytes", "Sum", time.Hour, group))
	}
	return all
}
