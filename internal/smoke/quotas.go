package smoke

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// apiFunctions is the number of functions behind the API: ingest, replay, manage
// and authorize. Each needs one execution at least beside the queues.
const apiFunctions = 4

// concurrency compares the account's concurrent executions with the limits of
// the queues.
func (c cloud) concurrency(ctx context.Context) (string, error) {
	client := lambda.NewFromConfig(c.aws)
	settings, err := client.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil {
		return "", allowed("read the account's concurrency", err)
	}
	if settings.AccountLimit == nil {
		return "", fmt.Errorf("read the account's concurrency: Lambda names no limit")
	}
	queues := 0
	for _, name := range c.deployment.physical("AWS::Lambda::Function") {
		sources, err := client.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{FunctionName: &name})
		if err != nil {
			return "", allowed("read the queues of "+name, err)
		}
		for _, s := range sources.EventSourceMappings {
			if s.ScalingConfig != nil {
				queues += int(aws.ToInt32(s.ScalingConfig.MaximumConcurrency))
			}
		}
	}
	free := int(aws.ToInt32(settings.AccountLimit.UnreservedConcurrentExecutions))
	return fmt.Sprintf("%d executions for %d of the queues and the API", free, queues), judgeConcurrency(free, queues)
}

// judgeConcurrency checks that the queues at their limits leave room for the API.
// New accounts have 10 concurrent executions.
func judgeConcurrency(free, queues int) error {
	if queues == 0 {
		return fmt.Errorf("no function has a queue with a limit of concurrency")
	}
	if free < queues+apiFunctions {
		return fmt.Errorf("the account has %d unreserved concurrent executions; the queues may take %d and the API needs %d: raise the quota \"Concurrent executions\" of Lambda", free, queues, apiFunctions)
	}
	return nil
}

// throttle is a rate per second and a burst.
type throttle struct{ Rate, Burst float64 }

// throttles compares the account's throttle of API Gateway with the routes'.
func (c cloud) throttles(ctx context.Context) (string, error) {
	account, err := apigateway.NewFromConfig(c.aws).GetAccount(ctx, &apigateway.GetAccountInput{})
	if err != nil {
		return "", allowed("read the account's throttle of API Gateway", err)
	}
	if account.ThrottleSettings == nil {
		return "", fmt.Errorf("read the account's throttle of API Gateway: there is none")
	}
	most := throttle{account.ThrottleSettings.RateLimit, float64(account.ThrottleSettings.BurstLimit)}
	routes := map[string]throttle{}
	for _, api := range c.deployment.physical("AWS::ApiGatewayV2::Api") {
		stage, err := apigatewayv2.NewFromConfig(c.aws).GetStage(ctx, &apigatewayv2.GetStageInput{ApiId: &api, StageName: aws.String("$default")})
		if err != nil {
			return "", allowed("read the API's throttles", err)
		}
		if s := stage.DefaultRouteSettings; s != nil {
			routes["default"] = throttle{aws.ToFloat64(s.ThrottlingRateLimit), float64(aws.ToInt32(s.ThrottlingBurstLimit))}
		}
		for route, s := range stage.RouteSettings {
			routes[route] = throttle{aws.ToFloat64(s.ThrottlingRateLimit), float64(aws.ToInt32(s.ThrottlingBurstLimit))}
		}
	}
	return fmt.Sprintf("%.0f requests/s, burst %.0f, for %.0f and %.0f of the API", most.Rate, most.Burst, routes["default"].Rate, routes["default"].Burst),
		judgeThrottles(most, routes)
}

// judgeThrottles checks that the API has throttles, all within the account's.
func judgeThrottles(account throttle, routes map[string]throttle) error {
	if routes["default"].Rate == 0 {
		return fmt.Errorf("the API has no throttle")
	}
	for route, t := range routes {
		if t.Rate > account.Rate || t.Burst > account.Burst {
			return fmt.Errorf("the route %s admits %.0f requests/s, burst %.0f; the account's quota is %.0f, burst %.0f: raise the quotas \"Throttle rate\" and \"Throttle burst rate\" of API Gateway",
				route, t.Rate, t.Burst, account.Rate, account.Burst)
		}
	}
	return nil
}

// units are DynamoDB's units per second.
type units struct{ Read, Write int64 }

// tableUnits compares the account's limit per table with the table's warm
// throughput.
func (c cloud) tableUnits(ctx context.Context) (string, error) {
	client := dynamodb.NewFromConfig(c.aws)
	limits, err := client.DescribeLimits(ctx, &dynamodb.DescribeLimitsInput{})
	if err != nil {
		return "", allowed("read the account's limits of DynamoDB", err)
	}
	most := units{aws.ToInt64(limits.TableMaxReadCapacityUnits), aws.ToInt64(limits.TableMaxWriteCapacityUnits)}
	name := c.deployment.outputs["TableName"]
	got, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return "", allowed("read the table", err)
	}
	var warm units
	if w := got.Table.WarmThroughput; w != nil {
		warm = units{aws.ToInt64(w.ReadUnitsPerSecond), aws.ToInt64(w.WriteUnitsPerSecond)}
	}
	return fmt.Sprintf("%d read and %d write units/s for a warm throughput of %d and %d", most.Read, most.Write, warm.Read, warm.Write), judgeUnits(most, warm)
}

// The throughput of a new on-demand table in units per second.
const (
	newTableRead  = 12_000
	newTableWrite = 4_000
)

// judgeUnits checks that the account's limit per table is not below the table's
// warm throughput, nor below a new table's.
func judgeUnits(most, warm units) error {
	needs := units{max(warm.Read, newTableRead), max(warm.Write, newTableWrite)}
	if most.Read < needs.Read || most.Write < needs.Write {
		return fmt.Errorf("a table may have %d read and %d write units/s; this table is made for %d and %d: raise the table-level quotas of DynamoDB",
			most.Read, most.Write, needs.Read, needs.Write)
	}
	return nil
}
