package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// StackProps says what NewStack makes.
type StackProps struct {
	Environment Environment
	Dist        string // folder of the built functions: Dist/<function>/bootstrap
	Version     string // value of the tag surehook:version
}

// NewStack makes the one stack of an environment. It names no account and no
// region: those are the deployer's, and the template is the same everywhere.
func NewStack(scope constructs.Construct, id string, props StackProps) (awscdk.Stack, error) {
	if err := props.Environment.Validate(); err != nil {
		return nil, err
	}
	if err := checkDist(props.Dist); err != nil {
		return nil, fmt.Errorf("make stack %s: %w", id, err)
	}

	env := props.Environment
	stack := awscdk.NewStack(scope, &id, &awscdk.StackProps{
		StackName:   &id,
		Description: jsii.String("Surehook, outbound webhook delivery: " + env.Name),
		// The tags of a stack are given to all its resources at deployment. They are
		// not in the template, so that a new version alone changes nothing in it.
		Tags: &map[string]*string{
			"surehook:environment": &env.Name,
			"surehook:version":     &props.Version,
		},
		TerminationProtection: &env.Protected,
	})

	table := NewTable(stack, "Table", TableProps{Environment: env})
	queues := NewQueues(stack, QueuesProps{Prefix: id})
	secrets := NewSecrets(stack, SecretsProps{Prefix: id, Environment: env})
	schedules := NewSchedules(stack, SchedulesProps{Prefix: id, Retry: queues.Retry, Undeliverable: queues.Undeliverable})
	functions := NewFunctions(stack, FunctionsProps{
		Prefix:      id,
		Environment: env,
		Dist:        props.Dist,
		Table:       table,
		Queues:      queues,
		Secrets:     secrets,
		Schedules:   schedules,
	})
	NewTick(stack, TickProps{Group: schedules.Group, Function: functions.Breaker, Every: env.BreakerTick})
	api := NewAPI(stack, APIProps{Prefix: id, Environment: env, Functions: functions})

	newOutputs(stack, map[string]*string{
		"ApiUrl":            api.ApiEndpoint(),
		"AdminKeySecretArn": secrets.AdminKey.SecretArn(),
		"TableName":         table.TableName(),
		"KeyArn":            secrets.Key.KeyArn(),
		"LiveQueueUrl":      queues.Live.QueueUrl(),
		"RetryQueueUrl":     queues.Retry.QueueUrl(),
		"ReplayQueueUrl":    queues.Replay.QueueUrl(),
		"CircuitsQueueUrl":  queues.Circuits.QueueUrl(),
		"DeadLettersUrl":    queues.DeadLetters.QueueUrl(),
		"UndeliverableUrl":  queues.Undeliverable.QueueUrl(),
		"ScheduleGroupName": schedules.Group.ScheduleGroupName(),
	})
	checkRules(stack, env)
	return stack, nil
}

// newOutputs makes an output of each value: what operators, the tests and the
// demonstration need to find the deployed stack.
func newOutputs(stack awscdk.Stack, values map[string]*string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		awscdk.NewCfnOutput(stack, jsii.String("Output"+name), &awscdk.CfnOutputProps{Value: values[name]}).
			OverrideLogicalId(jsii.String(name))
	}
}

// removal is what becomes of data when its stack is deleted.
func removal(env Environment) awscdk.RemovalPolicy {
	if env.Protected {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}
