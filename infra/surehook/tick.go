package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"
)

// tickMaxAge is Lambda's minimum lifetime of a waiting asynchronous call. The
// next tick is due within a minute.
const tickMaxAge = time.Minute

// The breaker's inputs from schedules. The breaker distinguishes these inputs
// from queue messages.
const (
	tickInput      = `{"tick":true}`
	reviewInput    = `{"review":true}`
	reconcileInput = `{"reconcile":true}`
	sweepInput     = `{"sweep":true}`
)

// newTicks makes the breaker's schedules: search for due endpoints, review,
// reconciliation of dead letters, and sweep of overdue deliveries. Neither the Scheduler nor Lambda retries a
// failed call, and no alarm reports a single failed call. The next call does
// the remaining work.
func newTicks(p plan) {
	role := newScheduleRole(p.Construct, "TickRole", "Calls the breaker when it is time", p.Schedules.Group)
	allow(role, "lambda:InvokeFunction").on(p.Functions.Breaker.FunctionArn())

	env := p.Environment
	newTick(p, "Tick", "Makes the breaker find endpoints with a lost circuit check", tickInput, env.BreakerTick, role)
	newTick(p, "Review", "Makes the breaker review the active endpoints", reviewInput, env.Review, role)
	newTick(p, "Reconcile", "Makes the breaker remove settled deliveries from the dead letters", reconcileInput, env.Reconcile, role)
	newTick(p, "Sweep", "Makes the breaker send a token in place of a lost token", sweepInput, env.Sweep, role)

	// The Scheduler's responsibility ends when Lambda accepts the call.
	p.Functions.Breaker.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		RetryAttempts: jsii.Number(0),
		MaxEventAge:   seconds(tickMaxAge),
	})
}

// newTick makes a plain CloudFormation resource. CDK's own schedule would allow
// calls of every version of the function.
func newTick(p plan, id, description, input string, every time.Duration, role awsiam.Role) {
	schedule := awsscheduler.NewCfnSchedule(p.Construct, &id, &awsscheduler.CfnScheduleProps{
		Description:        &description,
		GroupName:          p.Schedules.Group.ScheduleGroupName(),
		ScheduleExpression: awsscheduler.ScheduleExpression_Rate(seconds(every)).ExpressionString(),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn:         p.Functions.Breaker.FunctionArn(),
			RoleArn:     role.RoleArn(),
			Input:       &input,
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{MaximumRetryAttempts: jsii.Number(0)},
		},
	})
	afterPermissions(schedule, role)
}
