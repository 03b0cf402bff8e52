package surehook

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// within is the construct's id in its own stack. CDK omits "Default" from
// logical ids, so the ids are as short as possible.
const within = "Default"

// NewStack makes the stack of one environment: a Surehook, checked against the
// rules of cdk-nag, and the outputs. The stack's name is the prefix. The stack
// has no account and no region: the deployer chooses both, and the template is
// the same everywhere.
func NewStack(scope constructs.Construct, props Props) (awscdk.Stack, error) {
	props, err := props.withDefaults()
	if err != nil {
		return nil, err
	}

	env := props.Environment
	tags := map[string]*string{"surehook:environment": &env.Name}
	stack := awscdk.NewStack(scope, &props.Prefix, &awscdk.StackProps{
		StackName:             &props.Prefix,
		Description:           jsii.String(description(env)),
		Tags:                  &tags,
		TerminationProtection: jsii.Bool(env.Protected && props.Protect),
	})
	s, err := New(stack, within, props)
	if err != nil {
		return nil, err
	}
	newOutputs(stack, s)
	keepSettings(stack, props.Settings)
	checkRules(stack)
	return stack, nil
}

// keepSettings writes the names of the settings into the template, but for those that are
// parameters: the stack keeps these itself.
func keepSettings(stack awscdk.Stack, names []string) {
	var kept []string
	for _, name := range names {
		parameter := ""
		for word := range strings.SplitSeq(strings.ToLower(name), "_") {
			parameter += strings.ToUpper(word[:1]) + word[1:]
		}
		if stack.Node().TryFindChild(&parameter) == nil {
			kept = append(kept, name)
		}
	}
	if len(kept) > 0 {
		stack.AddMetadata(jsii.String("Settings"), kept)
	}
}

func description(env Environment) string { return "Surehook, outbound webhook delivery: " + env.Name }

// newOutputs makes the outputs for operators, tests and the demonstration.
func newOutputs(stack awscdk.Stack, s Surehook) map[string]awscdk.CfnOutput {
	values := map[string]*string{
		"ApiUrl":                s.API.URL,
		"AdminKeySecretArn":     s.Secrets.AdminKey.SecretArn(),
		"TableName":             s.Table.TableName(),
		"StreamArn":             s.Table.TableStreamArn(),
		"KeyArn":                s.Secrets.Key.KeyArn(),
		"EventsQueueArn":        s.Queues.Events.QueueArn(),
		"RejectsQueueUrl":       s.Queues.Rejects.QueueUrl(),
		"DeadLettersUrl":        s.Queues.DeadLetters.QueueUrl(),
		"UndeliverableUrl":      s.Queues.Undeliverable.QueueUrl(),
		"UndeliverableRetryUrl": s.Queues.UndeliverableRetry.QueueUrl(),
		"ScheduleGroupName":     s.Schedules.Group.ScheduleGroupName(),
		"TopicArn":              s.Topic.TopicArn(),
	}
	for _, q := range (plan{Surehook: s}).work() {
		values[q.id+"QueueUrl"] = q.resource.QueueUrl()
	}
	if domain := s.API.Domain; domain != nil {
		values["DomainTarget"] = domain.RegionalDomainName()
		values["DomainZoneId"] = domain.RegionalHostedZoneId()
	}
	outputs := map[string]awscdk.CfnOutput{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		outputs[name] = awscdk.NewCfnOutput(stack, jsii.String("Output"+name), &awscdk.CfnOutputProps{Value: values[name]})
		outputs[name].OverrideLogicalId(jsii.String(name))
	}
	return outputs
}
