package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// tickMaxAge is how long Lambda keeps a tick that it has no room for: the
// shortest it takes. By then the next tick is due.
const tickMaxAge = time.Minute

// tickInput is the event, which the function tells from one of a queue.
const tickInput = `{"tick":true}`

// TickProps says what NewTick makes.
type TickProps struct {
	Group    awsscheduler.IScheduleGroup // that the schedule is in
	Function awslambda.Function          // what is called with tickInput
	Every    time.Duration               // whole minutes
}

// NewTick calls the function again and again. A tick that fails is not
// repeated, neither by the Scheduler nor by Lambda, and nobody is told: the next
// one does what it left undone.
//
// The schedule is the plain CloudFormation resource, because CDK's own would
// let its role call every version of the function.
func NewTick(scope constructs.Construct, props TickProps) {
	role := newScheduleRole(scope, "TickRole", "Calls the breaker once per tick", props.Group)
	allow(role, "lambda:InvokeFunction").on(props.Function.FunctionArn())

	awsscheduler.NewCfnSchedule(scope, jsii.String("Tick"), &awsscheduler.CfnScheduleProps{
		Description:        jsii.String("Makes the breaker look for endpoints whose message was lost"),
		GroupName:          props.Group.ScheduleGroupName(),
		ScheduleExpression: awsscheduler.ScheduleExpression_Rate(seconds(props.Every)).ExpressionString(),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn:         props.Function.FunctionArn(),
			RoleArn:     role.RoleArn(),
			Input:       jsii.String(tickInput),
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{MaximumRetryAttempts: jsii.Number(0)},
		},
	})
	// The Scheduler's part ends when Lambda has taken the call.
	props.Function.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		RetryAttempts: jsii.Number(0),
		MaxEventAge:   seconds(tickMaxAge),
	})
}
