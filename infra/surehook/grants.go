package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// Every grant is a list of actions on named resources: CDK's own grants of a
// table, a key or a queue hold more than the functions use (every index,
// kms:ReEncrypt*, sqs:GetQueueUrl), and testdata/grants.json is what a reviewer
// reads.

// grant is the half of a permission that says who and what.
type grant struct {
	role       awsiam.Role
	actions    []string
	conditions *map[string]any
}

// allow begins a permission of the role.
func allow(role awsiam.Role, actions ...string) grant {
	return grant{role: role, actions: actions}
}

// when narrows the permission to requests that match the condition.
func (g grant) when(operator, key, value string) grant {
	g.conditions = &map[string]any{operator: map[string]any{key: value}}
	return g
}

// on completes the permission with the resources it holds for.
func (g grant) on(arns ...*string) {
	g.role.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:    jsii.Strings(g.actions...),
		Resources:  &arns,
		Conditions: g.conditions,
	}))
}

// grantIngest: put the event or see that it is there, and send its tokens.
func grantIngest(role awsiam.Role, p FunctionsProps) {
	allow(role, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query").on(p.Table.TableArn())
	allow(role, "sqs:SendMessage").on(p.Queues.Live.QueueArn())
}

// grantDeliver: record attempts, make the next ones happen, keep the circuits,
// and tell of what happened: to the tenant's endpoints that subscribe to it and
// to the operators. What it may take from the lanes comes with its event sources.
func grantDeliver(role awsiam.Role, p FunctionsProps) {
	// A transaction needs the permissions of its parts: here, puts and updates.
	// What the gate counts and gives out is updated too.
	allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").
		on(p.Table.TableArn())
	// Retries and delayed tokens go to the retry lane. The live lane is for the
	// first tokens of operational events.
	allow(role, "sqs:SendMessage").
		on(p.Queues.Live.QueueArn(), p.Queues.Retry.QueueArn(), p.Queues.DeadLetters.QueueArn(), p.Queues.Circuits.QueueArn())
	allow(role, "kms:Decrypt").on(p.Secrets.Key.KeyArn())
	allow(role, "scheduler:CreateSchedule").on(awscdk.Stack_Of(role).FormatArn(&awscdk.ArnComponents{
		Service:      jsii.String("scheduler"),
		Resource:     jsii.String("schedule"),
		ResourceName: jsii.String(*p.Schedules.Group.ScheduleGroupName() + "/*"),
	}))
	allow(role, "iam:PassRole").
		when("StringEquals", "iam:PassedToService", schedulerPrincipal).
		on(p.Schedules.Role.RoleArn())
	allow(role, "sns:Publish").on(p.Topic.TopicArn())
}

// grantBreaker: find the circuits that are due and the deliveries that are
// parked, release them or let them die, and ask itself to look again; judge the
// endpoints that were active, and tell of it as deliver does; count the dead
// letters, and take from them what is dead no longer. What it may take from the circuits queue comes
// with its event source.
func grantBreaker(role awsiam.Role, p FunctionsProps) {
	allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").
		on(p.Table.TableArn())
	allow(role, "dynamodb:Query").on(indexARN(p, names.IndexByEndpoint), indexARN(p, names.IndexByState))
	allow(role, "sqs:SendMessage").
		on(p.Queues.Live.QueueArn(), p.Queues.Retry.QueueArn(), p.Queues.DeadLetters.QueueArn(), p.Queues.Circuits.QueueArn())
	allow(role, "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage").on(p.Queues.DeadLetters.QueueArn())
	allow(role, "sns:Publish").on(p.Topic.TopicArn())
}

// grantReplay: choose past deliveries, make their next generation, and send its
// tokens; keep the jobs, and send itself what they have left to do. What it may
// take from the jobs queue comes with its event source.
func grantReplay(role awsiam.Role, p FunctionsProps) {
	allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").
		on(p.Table.TableArn())
	allow(role, "dynamodb:Query").on(indexARN(p, names.IndexByEndpoint))
	allow(role, "sqs:SendMessage").on(p.Queues.Replay.QueueArn(), p.Queues.ReplayJobs.QueueArn())
}

// grantManage: keep endpoints and keys, read what became of events and how full
// the queues are, send the tokens of test events, and ask the breaker to look at
// endpoints.
func grantManage(role awsiam.Role, p FunctionsProps) {
	allow(role, "dynamodb:BatchGetItem", "dynamodb:DeleteItem", "dynamodb:GetItem",
		"dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").on(p.Table.TableArn())
	allow(role, "dynamodb:Query").on(indexARN(p, names.IndexByEndpoint), indexARN(p, names.IndexByState))
	allow(role, "sqs:SendMessage").on(p.Queues.Live.QueueArn(), p.Queues.Circuits.QueueArn())
	queues := p.Queues
	allow(role, "sqs:GetQueueAttributes").on(queues.Live.QueueArn(), queues.Retry.QueueArn(), queues.Replay.QueueArn(),
		queues.Circuits.QueueArn(), queues.ReplayJobs.QueueArn(), queues.DeadLetters.QueueArn(), queues.Undeliverable.QueueArn())
	allow(role, "kms:Encrypt").on(p.Secrets.Key.KeyArn())
}

// grantAuthorize: look keys up by their hash, note the day of their last use,
// and read the first admin key.
func grantAuthorize(role awsiam.Role, p FunctionsProps) {
	allow(role, "dynamodb:GetItem", "dynamodb:UpdateItem").on(p.Table.TableArn())
	allow(role, "secretsmanager:GetSecretValue").on(p.Secrets.AdminKey.SecretArn())
}

func indexARN(p FunctionsProps, index string) *string {
	return jsii.String(*p.Table.TableArn() + "/index/" + index)
}
