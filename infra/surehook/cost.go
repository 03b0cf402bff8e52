package surehook

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
)

// price is a list price in USD for a number of units.
type price struct {
	usd float64
	per int
}

// prices are AWS's list prices in USD in US East (N. Virginia) as of November
// 2026: the first tier of volume, without the free tier. Prices of other
// regions differ by up to half. The estimate excludes fixed costs (storage,
// backups, keys, alarms, dashboard), KMS requests, SNS and outgoing traffic.
type prices struct {
	apiRequest   price // HTTP API: https://aws.amazon.com/api-gateway/pricing/
	invocation   price // https://aws.amazon.com/lambda/pricing/
	gbSecond     price // the same for the stack's architecture
	queueRequest price // standard queue: https://aws.amazon.com/sqs/pricing/
	fairRequest  price // the same about messages with a group id: 0.10 more for fair queues
	readUnit     price // on demand: https://aws.amazon.com/dynamodb/pricing/on-demand/
	writeUnit    price
	schedule     price // https://aws.amazon.com/eventbridge/pricing/
	logByte      price // standard class: https://aws.amazon.com/cloudwatch/pricing/
}

func listPrices(architecture string) prices {
	const million, gigabyte = 1_000_000, 1 << 30
	p := prices{
		apiRequest:   price{1.00, million},
		invocation:   price{0.20, million},
		gbSecond:     price{13.3334, million}, // arm64
		queueRequest: price{0.40, million},
		fairRequest:  price{0.50, million},
		readUnit:     price{0.125, million},
		writeUnit:    price{0.625, million},
		schedule:     price{1.00, million},
		logByte:      price{0.50, gigabyte},
	}
	if architecture == "amd64" {
		p.gbSecond = price{16.6667, million}
	}
	return p
}

// share is usage at one price: the sum of the metrics times of, in units of the
// price.
type share struct {
	of    float64
	price price
	usage []awscloudwatch.Metric
}

// costs returns the cost per hour of each service, and the total.
func costs(p plan) []awscloudwatch.IMetric {
	list := listPrices(p.Environment.Architecture)
	services := []struct {
		id, label string
		shares    []share
	}{
		{"api", "API Gateway", []share{{1, list.apiRequest, []awscloudwatch.Metric{p.API.HTTP.MetricCount(options("Sum", time.Hour))}}}},
		{"lambda", "Lambda", functionShares(p, list)},
		{"sqs", "SQS", []share{{1, list.fairRequest, messages(p)}, {1, list.queueRequest, emptyReceives(p)}}},
		{"dynamodb", "DynamoDB", []share{{1, list.readUnit, capacity(p, "Read")}, {1, list.writeUnit, capacity(p, "Write")}}},
		{"scheduler", "Scheduler", []share{{1, list.schedule, []awscloudwatch.Metric{p.Schedules.Group.MetricAttempts(options("Sum", time.Hour))}}}},
		{"logs", "Logs", []share{{1, list.logByte, logBytes(p)}}},
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
		parts[part] = math(part, fmt.Sprintf("SUM([%s]) * %.8g / %d", units[2:], s.of*s.price.usd, s.price.per), time.Hour, used)
		sum += ", " + part
	}
	return math(label, "SUM(["+sum[2:]+"])", time.Hour, parts)
}

// functionShares returns the invocations of all functions, and for each
// function its duration in milliseconds times its memory.
func functionShares(p plan, list prices) []share {
	invocations := share{of: 1, price: list.invocation}
	shares := make([]share, 0, len(p.functions())+1)
	for _, f := range p.functions() {
		invocations.usage = append(invocations.usage, f.resource.MetricInvocations(options("Sum", time.Hour)))
		shares = append(shares, share{
			of: memoryGB(f.resource) / 1000, price: list.gbSecond,
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
// group id, except the tokens that the Scheduler sends. The estimate is an upper bound:
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
