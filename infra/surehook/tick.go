package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"
)

// tickMaxAge is Lambda's minimum lifetime of a waiting asynchronous call. The
// next tick is due within a minute.
const tickMaxAge = time.Minute

// tick is a schedule of the breaker. The breaker distinguishes the inputs from queue messages.
type tick struct {
	id, description, input string
	every                  time.Duration // whole minutes, for the Scheduler
}

func ticks() []tick {
	return []tick{
		// The alarms rely on the gauges of each minute: see gaugePeriod.
		{"Tick", "Makes the breaker find endpoints with a lost circuit check", `{"tick":true}`, time.Minute},
		{"Review", "Makes the breaker review the active endpoints", `{"review":true}`, 15 * time.Minute},
		{"Reconcile", "Makes the breaker remove settled deliveries from the dead letters", `{"reconcile":true}`, 15 * time.Minute},
		{"Sweep", "Makes the breaker send a task in place of a lost task", `{"sweep":true}`, 5 * time.Minute},
	}
}

// newTicks makes the breaker's schedules: search for due endpoints, review,
// reconciliation of dead letters, and sweep of overdue deliveries. Neither the Scheduler nor Lambda retries a
// failed call, and no alarm reports a single failed call. The next call does
// the remaining work.
func newTicks(p plan) {
	role := newScheduleRole(p.Construct, "TickRole", "Calls the breaker when it is time", p.Schedules.Group)
	allow(role, "lambda:InvokeFunction").on(p.Functions.Breaker.FunctionArn())
	for _, t := range ticks() {
		every := awsscheduler.ScheduleExpression_Rate(seconds(t.every)).ExpressionString()
		newSchedule(p, t.id, t.description, every, role, awsscheduler.CfnSchedule_TargetProperty{
			Arn: p.Functions.Breaker.FunctionArn(), Input: &t.input, RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{MaximumRetryAttempts: jsii.Number(0)},
		})
	}
	// The Scheduler's responsibility ends when Lambda accepts the call.
	p.Functions.Breaker.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		RetryAttempts: jsii.Number(0),
		MaxEventAge:   seconds(tickMaxAge),
	})
}
