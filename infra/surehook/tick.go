package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// tickMaxAge is how long Lambda keeps a call of the breaker that it has no room
// for: the shortest it takes. The next one is due soon.
const tickMaxAge = time.Minute

// What the breaker is called with, which it tells from messages of a queue.
const (
	tickInput      = `{"tick":true}`
	reviewInput    = `{"review":true}`
	reconcileInput = `{"reconcile":true}`
)

// TicksProps says what NewTicks makes.
type TicksProps struct {
	Group       awsscheduler.IScheduleGroup // that the schedules are in
	Breaker     awslambda.Function          // what is called
	Environment Environment
}

// NewTicks calls the breaker again and again: to look for endpoints, to review
// them, and to reconcile the dead letters. A call that fails is not repeated,
// neither by the Scheduler nor by Lambda, and nobody is told: the next one does
// what it left undone.
func NewTicks(scope constructs.Construct, props TicksProps) {
	role := newScheduleRole(scope, "TickRole", "Calls the breaker when it is time", props.Group)
	allow(role, "lambda:InvokeFunction").on(props.Breaker.FunctionArn())

	env := props.Environment
	newTick(scope, "Tick", "Makes the breaker look for endpoints whose message was lost", tickInput, env.BreakerTick, role, props)
	newTick(scope, "Review", "Makes the breaker judge the endpoints that were active", reviewInput, env.Review, role, props)
	newTick(scope, "Reconcile", "Makes the breaker take from the dead letters what is dead no longer", reconcileInput, env.Reconcile, role, props)

	// The Scheduler's part ends when Lambda has taken the call.
	props.Breaker.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		RetryAttempts: jsii.Number(0),
		MaxEventAge:   seconds(tickMaxAge),
	})
}

// newTick is the plain CloudFormation resource, because CDK's own would let its
// role call every version of the function.
func newTick(scope constructs.Construct, id, description, input string, every time.Duration, role awsiam.Role, props TicksProps) {
	awsscheduler.NewCfnSchedule(scope, &id, &awsscheduler.CfnScheduleProps{
		Description:        &description,
		GroupName:          props.Group.ScheduleGroupName(),
		ScheduleExpression: awsscheduler.ScheduleExpression_Rate(seconds(every)).ExpressionString(),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn:         props.Breaker.FunctionArn(),
			RoleArn:     role.RoleArn(),
			Input:       &input,
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{MaximumRetryAttempts: jsii.Number(0)},
		},
	})
}
