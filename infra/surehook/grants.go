package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// Every grant is a list of actions on named resources. CDK's own grants of a
// table, a key or a queue allow more than the functions need (every index,
// kms:ReEncrypt*, sqs:GetQueueUrl). internal/smoke/grants.json lists all grants for
// reviewers.

// newRole makes a role that the service assumes on the conditions.
func newRole(scope constructs.Construct, id, description, service string, conditions map[string]any) awsiam.Role {
	return awsiam.NewRole(scope, &id, &awsiam.RoleProps{
		Description: &description, AssumedBy: awsiam.NewServicePrincipal(&service, &awsiam.ServicePrincipalOpts{Conditions: &conditions}),
	})
}

// grant is the first half of a permission: the role and the actions.
type grant struct {
	role       awsiam.Role
	effect     awsiam.Effect
	actions    []string
	conditions *map[string]any
}

// allow begins a permission of the role.
func allow(role awsiam.Role, actions ...string) grant {
	return grant{role: role, effect: awsiam.Effect_ALLOW, actions: actions}
}

// deny begins the refusal of what the role is allowed.
func deny(role awsiam.Role, actions ...string) grant {
	return grant{role: role, effect: awsiam.Effect_DENY, actions: actions}
}

// when restricts the permission to requests with the condition.
func (g grant) when(operator, key, value string) grant {
	g.conditions = &map[string]any{operator: map[string]any{key: value}}
	return g
}

// on completes the permission with the resources.
func (g grant) on(arns ...*string) {
	g.role.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Effect:     g.effect,
		Actions:    jsii.Strings(g.actions...),
		Resources:  &arns,
		Conditions: g.conditions,
	}))
}

// grantIngest: store the event or find the stored event, send the event's tasks, and
// count the events of tenants with a limit of events per second. A message of the events
// queue returns there, or moves to the rejects. Permissions to receive come with the event
// source.
func grantIngest(role awsiam.Role, p plan) {
	// The endpoints of a tenant are a list and a batch read.
	allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").
		on(p.Table.TableArn())
	allow(role, "sqs:SendMessage").on(p.Queues.Live.QueueArn(), p.Queues.Coalesce.QueueArn(), p.Queues.Events.QueueArn(), p.Queues.Rejects.QueueArn())
}

// grantDeliver: record attempts, send tasks of later attempts, update the
// circuits, and notify the tenant's subscribed endpoints and the operators.
// Permissions to receive from the queues come with the event sources.
func grantDeliver(role awsiam.Role, p plan) {
	// A transaction needs the permissions of its parts: here puts and updates.
	// The gate's counters and leases need updates, too.
	allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").
		on(p.Table.TableArn())
	allow(role, "dynamodb:Query").on(indexARN(p, names.IndexByEndpoint)) // parked deliveries for a free slot
	// Retries and delayed tasks go to the retry queue. The live queue gets the
	// first tasks of operational events. Tasks of endpoints that need in-flight
	// slots go to the queues slot and overflow.
	allow(role, "sqs:SendMessage").
		on(p.Queues.Live.QueueArn(), p.Queues.Retry.QueueArn(), p.Queues.Slot.QueueArn(), p.Queues.Overflow.QueueArn(), p.Queues.Coalesce.QueueArn(),
			p.Queues.DeadLetters.QueueArn(), p.Queues.Circuits.QueueArn())
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
	grantSenders(role, p)
	grantDestinations(role, p)
}

// grantBreaker: find due circuits and parked deliveries; release the deliveries
// or let them die; enqueue further circuit checks; review active endpoints and
// notify as deliver does; count the dead letters and remove the dead letters of
// settled deliveries; measure the queues before a sweep; read the table's stream, by Lambda
// in the function's name. Permissions to receive from the circuits queue come with the
// event source.
func grantBreaker(role awsiam.Role, p plan) {
	allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").
		on(p.Table.TableArn())
	allow(role, "dynamodb:Query").on(indexARN(p, names.IndexByEndpoint), indexARN(p, names.IndexByState))
	allow(role, "sqs:SendMessage").
		on(p.Queues.Live.QueueArn(), p.Queues.Retry.QueueArn(), p.Queues.Overflow.QueueArn(), p.Queues.Coalesce.QueueArn(),
			p.Queues.DeadLetters.QueueArn(), p.Queues.Circuits.QueueArn())
	allow(role, "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage").on(p.Queues.DeadLetters.QueueArn())
	allow(role, "sqs:GetQueueAttributes").on(p.Queues.Live.QueueArn(), p.Queues.Retry.QueueArn(), p.Queues.Replay.QueueArn(),
		p.Queues.Slot.QueueArn(), p.Queues.Overflow.QueueArn(), p.Queues.Coalesce.QueueArn())
	allow(role, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams").on(p.Table.TableStreamArn())
	allow(role, "sns:Publish").on(p.Topic.TopicArn())
}

// grantReplay: select past deliveries, create their next generation, and send
// the tasks; store the jobs and enqueue the jobs' remaining pages; remove everything of
// an erased tenant. An ordered delivery that ends by hand sends the task of the next one.
// Permissions to receive from the jobs queue come with the event source.
func grantReplay(role awsiam.Role, p plan) {
	// An erasure removes items by lists and by a scan.
	allow(role, "dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem",
		"dynamodb:Query", "dynamodb:Scan", "dynamodb:UpdateItem").on(p.Table.TableArn())
	// A job with add_to selects the events without a target by their state.
	allow(role, "dynamodb:Query").on(indexARN(p, names.IndexByEndpoint), indexARN(p, names.IndexByState))
	allow(role, "sqs:SendMessage").on(p.Queues.Live.QueueArn(), p.Queues.Replay.QueueArn(), p.Queues.ReplayJobs.QueueArn())
}

// grantManage: store endpoints and keys, read deliveries and queue depths, send
// the tasks of test events, enqueue circuit checks, and list and redrive rejects; where
// endpoints need a proof, send challenges from the senders.
func grantManage(role awsiam.Role, p plan) {
	allow(role, "dynamodb:BatchGetItem", "dynamodb:DeleteItem", "dynamodb:GetItem",
		"dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem").on(p.Table.TableArn())
	allow(role, "dynamodb:Query").on(indexARN(p, names.IndexByEndpoint), indexARN(p, names.IndexByState))
	allow(role, "sqs:SendMessage").on(p.Queues.Live.QueueArn(), p.Queues.Circuits.QueueArn())
	queues := p.Queues
	allow(role, "sqs:GetQueueAttributes").on(queues.Live.QueueArn(), queues.Retry.QueueArn(), queues.Replay.QueueArn(),
		queues.Slot.QueueArn(), queues.Overflow.QueueArn(), queues.Coalesce.QueueArn(), queues.Circuits.QueueArn(), queues.ReplayJobs.QueueArn(), queues.DeadLetters.QueueArn(), queues.Undeliverable.QueueArn(), queues.UndeliverableRetry.QueueArn())
	allow(role, "sqs:GetQueueAttributes", "sqs:SendMessage").on(queues.Events.QueueArn())
	allow(role, "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage").on(queues.Rejects.QueueArn())
	allow(role, "kms:Encrypt").on(p.Secrets.Key.KeyArn())
	if p.Environment.Ownership != "" {
		grantSenders(role, p)
	}
}

// grantAuthorize: find keys by hash, record the day of a key's last use, and
// read the first admin key.
func grantAuthorize(role awsiam.Role, p plan) {
	allow(role, "dynamodb:GetItem", "dynamodb:UpdateItem").on(p.Table.TableArn())
	allow(role, "secretsmanager:GetSecretValue").on(p.Secrets.AdminKey.SecretArn())
}

// grantNothing: a sender may write its log only.
func grantNothing(awsiam.Role, plan) {}

// grantSenders: invoke the senders of the environment, and no other function. See also connectPrivate.
func grantSenders(role awsiam.Role, p plan) {
	var arns []*string
	for _, region := range p.Environment.Senders {
		arns = append(arns, arnOf(role, &region, "lambda", "function", names.Sender(p.Prefix)))
	}
	if p.Environment.FixedZones > 0 {
		arns = append(arns, functionARN(role, names.FixedSender(p.Prefix)))
	}
	if len(arns) > 0 {
		allow(role, "lambda:InvokeFunction").on(arns...)
	}
}

// grantDestinations: assume the roles with the path, in any account but the
// deployment's own, which the code refuses, too. The trust policy of each role must admit the function.
func grantDestinations(role awsiam.Role, p plan) {
	if path := p.Environment.Destinations; path != "" {
		allow(role, "sts:AssumeRole").when("StringNotEquals", "aws:ResourceAccount", *awscdk.Aws_ACCOUNT_ID()).on(awscdk.Stack_Of(role).FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("iam"), Region: jsii.String(""), Account: jsii.String("*"),
			Resource: jsii.String("role" + path + "*"), ArnFormat: awscdk.ArnFormat_NO_RESOURCE_NAME,
		}))
	}
}

// grantNetwork: Lambda makes and removes the network interfaces of the function. EC2
// knows no resource of these actions before the interface exists. The code of the
// function itself is denied the actions: only Lambda can use the grant.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
func grantNetwork(function string) func(awsiam.Role, plan) {
	return func(role awsiam.Role, _ plan) {
		actions := []string{
			"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
			"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
		}
		allow(role, actions...).on(jsii.String("*"))
		deny(role, actions...).when("ArnEquals", "lambda:SourceFunctionArn", *functionARN(role, function)).on(jsii.String("*"))
	}
}

// grantExport: send spans to X-Ray, which knows no resources of a span. Its OTLP endpoint asks for
// the actions of spans.
func grantExport(role awsiam.Role, p plan) {
	if p.Environment.Traces == names.TracesXRay {
		allow(role, "xray:PutSpans", "xray:PutSpansForIndexing", "xray:PutTraceSegments").on(jsii.String("*"))
	}
}

// arnOf returns the ARN of a resource that the stack knows by its name; region is nil for the stack's own.
func arnOf(scope constructs.Construct, region *string, service, kind, name string) *string {
	return awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
		Service: &service, Region: region, Resource: &kind, ResourceName: &name, ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
}

// functionARN returns the ARN of a function by its name.
func functionARN(scope constructs.Construct, name string) *string {
	return arnOf(scope, nil, "lambda", "function", name)
}

func indexARN(p plan, index string) *string {
	return jsii.String(*p.Table.TableArn() + "/index/" + index)
}
