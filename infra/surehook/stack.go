package surehook

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// within is the id of the construct in its own stack. CDK leaves "Default" out
// of the logical ids, so that those of the stack are as short as can be.
const within = "Default"

// NewStack makes the one stack of an environment: a Surehook, held to the rules
// of cdk-nag, and the outputs that lead to it. Its name is the prefix. It names
// no account and no region: those are the deployer's, and the template is the
// same everywhere.
func NewStack(scope constructs.Construct, props Props) (awscdk.Stack, error) {
	props, err := props.withDefaults()
	if err != nil {
		return nil, err
	}

	env := props.Environment
	// The tags of a stack are given to all its resources at deployment. They are
	// not in the template, so that a new version alone changes nothing in it.
	tags := map[string]*string{"surehook:environment": &env.Name}
	if version := props.Version; version != "" {
		tags["surehook:version"] = &version
		props.Version = ""
	}
	stack := awscdk.NewStack(scope, &props.Prefix, &awscdk.StackProps{
		StackName:             &props.Prefix,
		Description:           jsii.String("Surehook, outbound webhook delivery: " + env.Name),
		Tags:                  &tags,
		TerminationProtection: &env.Protected,
	})
	s, err := New(stack, within, props)
	if err != nil {
		return nil, err
	}
	newOutputs(stack, s)
	checkRules(stack)
	return stack, nil
}

// newOutputs makes the outputs: what operators, the tests and the demonstration
// need to find the deployed stack.
func newOutputs(stack awscdk.Stack, s Surehook) {
	values := map[string]*string{
		"ApiUrl":             s.API.URL,
		"AdminKeySecretArn":  s.Secrets.AdminKey.SecretArn(),
		"TableName":          s.Table.TableName(),
		"KeyArn":             s.Secrets.Key.KeyArn(),
		"LiveQueueUrl":       s.Queues.Live.QueueUrl(),
		"RetryQueueUrl":      s.Queues.Retry.QueueUrl(),
		"ReplayQueueUrl":     s.Queues.Replay.QueueUrl(),
		"ReplayJobsQueueUrl": s.Queues.ReplayJobs.QueueUrl(),
		"CircuitsQueueUrl":   s.Queues.Circuits.QueueUrl(),
		"DeadLettersUrl":     s.Queues.DeadLetters.QueueUrl(),
		"UndeliverableUrl":   s.Queues.Undeliverable.QueueUrl(),
		"ScheduleGroupName":  s.Schedules.Group.ScheduleGroupName(),
		"TopicArn":           s.Topic.TopicArn(),
	}
	if domain := s.API.Domain; domain != nil {
		values["DomainTarget"] = domain.RegionalDomainName()
		values["DomainZoneId"] = domain.RegionalHostedZoneId()
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		awscdk.NewCfnOutput(stack, jsii.String("Output"+name), &awscdk.CfnOutputProps{Value: values[name]}).
			OverrideLogicalId(jsii.String(name))
	}
}
