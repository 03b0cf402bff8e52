package surehook

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/names"
)

// settings returns what the environment says about the functions.
func (e Environment) settings() config.Settings {
	s := config.Settings{Choices: e.Choices, TenantShares: e.Concurrency.tenantShares(), TenantPath: cmp.Or(e.Events.TenantPath, names.DefaultTenantPath)}
	s.Validation, s.Envelope = cmp.Or(s.Validation, names.ValidationOff), cmp.Or(s.Envelope, names.EnvelopeStandard)
	if e.Domain.Name != "" {
		s.PublicURL = "https://" + e.Domain.Name
	}
	return s
}

// allSettings returns the settings of the functions, with the resources of the stack. A function
// gets those that package config lists for it.
func allSettings(p plan) config.Settings {
	s, q := p.Environment.settings(), p.Queues
	s.Table, s.KeyARN, s.TopicARN = *p.Table.TableName(), *p.Secrets.Key.KeyArn(), *p.Topic.TopicArn()
	s.AdminKeySecretARN = *p.Secrets.AdminKey.SecretArn()
	urls := s.Queues.All()
	for name, queue := range q.All() {
		*urls[name] = *(*queue).QueueUrl()
	}
	s.RetryQueueARN, s.UndeliverableRetryARN = *q.Retry.QueueArn(), *q.UndeliverableRetry.QueueArn()
	s.ScheduleGroup, s.ScheduleRoleARN = *p.Schedules.Group.ScheduleGroupName(), *p.Schedules.Role.RoleArn()
	if s.Destinations != "" {
		s.Account = *awscdk.Aws_ACCOUNT_ID()
	}
	return s
}

// functionVariables returns the environment variables of the function: its settings, and those that the Go
// runtime reads.
func functionVariables(s config.Settings, prefix, function string, memory int) *map[string]*string {
	s.Environment = prefix // of all metrics: two stacks may have one environment
	all := map[string]*string{names.EnvGarbage: jsii.String(names.CollectAt), names.EnvMemoryLimit: jsii.String(memoryLimit(memory))}
	for name, text := range s.Variables(function) {
		all[name] = &text
	}
	return &all
}
