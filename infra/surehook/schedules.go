package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// schedulerPrincipal is the service that fires schedules.
const schedulerPrincipal = "scheduler.amazonaws.com"

// Schedules hold the tokens that are due later than a queue can delay. Those
// that call the breaker are in their group too.
type Schedules struct {
	Group awsscheduler.ScheduleGroup
	// Role is what the Scheduler may do when a schedule of the group fires.
	Role awsiam.Role
}

// SchedulesProps says what NewSchedules makes.
type SchedulesProps struct {
	Prefix        string       // name of the group
	Retry         awssqs.Queue // where schedules send their tokens
	Undeliverable awssqs.Queue // where tokens go that could not be sent
}

// NewSchedules makes the group of the schedules and the role that those of
// retries run as.
func NewSchedules(scope constructs.Construct, props SchedulesProps) Schedules {
	group := awsscheduler.NewScheduleGroup(scope, jsii.String("Schedules"), &awsscheduler.ScheduleGroupProps{
		ScheduleGroupName: &props.Prefix,
		// What is left in it are tokens for queues that go with the stack.
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	role := newScheduleRole(scope, "ScheduleRole", "Sends the tokens of due schedules to the retry lane", group)
	allow(role, "sqs:SendMessage").on(props.Retry.QueueArn(), props.Undeliverable.QueueArn())
	return Schedules{Group: group, Role: role}
}

// newScheduleRole makes a role for schedules of the group.
func newScheduleRole(scope constructs.Construct, id, description string, group awsscheduler.IScheduleGroup) awsiam.Role {
	return awsiam.NewRole(scope, &id, &awsiam.RoleProps{
		Description: &description,
		// The conditions keep schedules of others from using the role: the Scheduler
		// gives the group's ARN as the source.
		// https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
		AssumedBy: awsiam.NewServicePrincipal(jsii.String(schedulerPrincipal), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{
				"StringEquals": map[string]any{
					"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID(),
					"aws:SourceArn":     group.ScheduleGroupArn(),
				},
			},
		}),
	})
}
