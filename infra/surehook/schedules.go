package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// schedulerPrincipal is the service principal of EventBridge Scheduler.
const schedulerPrincipal = "scheduler.amazonaws.com"

// Schedules hold the tasks due later than a queue's longest delay. The
// breaker's schedules are in the same group.
type Schedules struct {
	Group awsscheduler.ScheduleGroup
	// Role holds the Scheduler's permissions for schedules of the group.
	Role awsiam.Role
}

// newSchedules makes the group of the schedules and the role of the retries'
// schedules.
func newSchedules(p plan) Schedules {
	group := awsscheduler.NewScheduleGroup(p.Construct, jsii.String("Schedules"), &awsscheduler.ScheduleGroupProps{
		ScheduleGroupName: &p.Prefix,
		// Remaining schedules hold only tasks for deleted queues.
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	role := newScheduleRole(p.Construct, "ScheduleRole", "Sends the tasks of due schedules to the retry queue", group)
	allow(role, "sqs:SendMessage").on(p.Queues.Retry.QueueArn(), p.Queues.UndeliverableRetry.QueueArn())
	return Schedules{Group: group, Role: role}
}

// newScheduleRole makes a role for schedules of the group.
func newScheduleRole(scope constructs.Construct, id, description string, group awsscheduler.IScheduleGroup) awsiam.Role {
	// The conditions reject schedules of other owners. The Scheduler sends the group's ARN as the source.
	// https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
	return newRole(scope, id, description, schedulerPrincipal, map[string]any{
		"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID(), "aws:SourceArn": group.ScheduleGroupArn()},
	})
}

// newSchedule makes a repeated schedule of the group, with the permissions of the role. It is a plain
// CloudFormation resource: CDK's own would allow calls of every version of a function.
func newSchedule(p plan, id, description string, expression *string, role awsiam.Role, target awsscheduler.CfnSchedule_TargetProperty) {
	target.RoleArn = role.RoleArn()
	schedule := awsscheduler.NewCfnSchedule(p.Construct, &id, &awsscheduler.CfnScheduleProps{
		Description:        &description,
		GroupName:          p.Schedules.Group.ScheduleGroupName(),
		ScheduleExpression: expression,
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target:             &target,
	})
	// CloudFormation makes a role's policy as a resource of its own, so the schedule could fire before.
	schedule.Node().AddDependency(role.Node().FindChild(jsii.String("DefaultPolicy")))
}
