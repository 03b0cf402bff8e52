package smoke

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"surehook.example/surehook/internal/names"
)

// apiFunctions is the number of functions behind the API: ingest, replay, manage
// and authorize. Each needs one execution at least beside the queues.
const apiFunctions = 4

// takes are the concurrent executions that a deployment takes, at most.
type takes struct {
	queues   int  // of the event sources
	attempts int  // of the event sources of the function with most of them, deliver: its messages at the same time
	reserved int  // of functions with a reservation
	floors   int  // functions of the API with a reservation
	sender   bool // has a sender with fixed addresses without a reservation
}

// concurrency compares the account's concurrent executions with the limits of
// the queues, and of the sender with fixed addresses.
func (s *session) concurrency(ctx context.Context) (string, error) {
	client := lambda.NewFromConfig(s.AWS)
	settings, err := client.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil {
		return "", allowed("read the account's concurrency", err)
	}
	if settings.AccountLimit == nil {
		return "", fmt.Errorf("read the account's concurrency: Lambda names no limit")
	}
	var t takes
	for _, name := range s.deployment.physical("AWS::Lambda::Function") {
		if err := t.add(ctx, client, name, strings.HasSuffix(name, names.FixedSender("")) || strings.HasSuffix(name, names.PrivateSender(""))); err != nil {
			return "", err
		}
	}
	free := int(aws.ToInt32(settings.AccountLimit.UnreservedConcurrentExecutions))
	return fmt.Sprintf("%d executions for %d of the queues and the API; %d reserved", free, t.queues, t.reserved), judgeConcurrency(free, t)
}

// add adds a function.
func (t *takes) add(ctx context.Context, client *lambda.Client, name string, sender bool) error {
	sources, err := client.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{FunctionName: &name})
	if err != nil {
		return allowed("read the queues of "+name, err)
	}
	attempts := 0
	for _, s := range sources.EventSourceMappings {
		if s.ScalingConfig != nil {
			t.queues += int(aws.ToInt32(s.ScalingConfig.MaximumConcurrency))
			attempts += int(aws.ToInt32(s.ScalingConfig.MaximumConcurrency) * aws.ToInt32(s.BatchSize))
		}
	}
	t.attempts = max(t.attempts, attempts)
	got, err := client.GetFunctionConcurrency(ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: &name})
	if err != nil {
		return allowed("read the reservation of "+name, err)
	}
	reserved := int(aws.ToInt32(got.ReservedConcurrentExecutions))
	t.reserved += reserved
	switch {
	case sender:
		t.sender = t.sender || reserved == 0
	case reserved > 0:
		t.floors++
	}
	return nil
}

// judgeConcurrency checks that the queues at their limits leave room for the API, and
// that attempts from fixed addresses have a ceiling. free are the executions without the
// reserved ones. New accounts have 10 concurrent executions.
func judgeConcurrency(free int, t takes) error {
	if t.queues == 0 {
		return fmt.Errorf("no function has a queue with a limit of concurrency")
	}
	if api := apiFunctions - t.floors; free < t.queues+api {
		return fmt.Errorf("the account has %d unreserved concurrent executions; the queues may take %d and the API needs %d: raise the quota \"Concurrent executions\" of Lambda", free, t.queues, api)
	}
	if t.sender && free < t.queues+apiFunctions+t.attempts {
		return fmt.Errorf("a function of fixed addresses or of the private network has no ceiling and may take %d concurrent executions at the same time; the account has %d unreserved: set Concurrency.FixedSender", t.attempts, free)
	}
	return nil
}

// throttle is a rate per second and a burst.
type throttle struct{ Rate, Burst float64 }

// throttles compares the account's throttle of API Gateway with the routes'.
func (s *session) throttles(ctx context.Context) (string, error) {
	account, err := apigateway.NewFromConfig(s.AWS).GetAccount(ctx, &apigateway.GetAccountInput{})
	if err != nil {
		return "", allowed("read the account's throttle of API Gateway", err)
	}
	if account.ThrottleSettings == nil {
		return "", fmt.Errorf("read the account's throttle of API Gateway: there is none")
	}
	most := throttle{account.ThrottleSettings.RateLimit, float64(account.ThrottleSettings.BurstLimit)}
	routes := map[string]throttle{}
	for _, api := range s.deployment.physical("AWS::ApiGatewayV2::Api") {
		stage, err := apigatewayv2.NewFromConfig(s.AWS).GetStage(ctx, &apigatewayv2.GetStageInput{ApiId: &api, StageName: aws.String("$default")})
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
