package surehook

import (
	"strconv"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// The environment variables of the functions. All functions also have
// names.EnvEnvironment.

func ingestEnv(p FunctionsProps) map[string]*string {
	return map[string]*string{
		names.EnvTable:     p.Table.TableName(),
		names.EnvLiveQueue: p.Queues.Live.QueueUrl(),
		names.EnvRetention: jsii.String(p.Environment.Retention.String()),
	}
}

func deliverEnv(p FunctionsProps) map[string]*string {
	return withEgress(p.Environment, map[string]*string{
		names.EnvTable:            p.Table.TableName(),
		names.EnvKey:              p.Secrets.Key.KeyArn(),
		names.EnvLiveQueue:        p.Queues.Live.QueueUrl(),
		names.EnvRetryQueue:       p.Queues.Retry.QueueUrl(),
		names.EnvRetryQueueARN:    p.Queues.Retry.QueueArn(),
		names.EnvSlotQueue:        p.Queues.Slot.QueueUrl(),
		names.EnvOverflowQueue:    p.Queues.Overflow.QueueUrl(),
		names.EnvTenantPlaces:     jsii.String(strconv.Itoa(p.Environment.Concurrency.tenantPlaces())),
		names.EnvDeadLettersQueue: p.Queues.DeadLetters.QueueUrl(),
		names.EnvCircuitsQueue:    p.Queues.Circuits.QueueUrl(),
		names.EnvUndeliverableARN: p.Queues.Undeliverable.QueueArn(),
		names.EnvScheduleGroup:    p.Schedules.Group.ScheduleGroupName(),
		names.EnvScheduleRole:     p.Schedules.Role.RoleArn(),
		names.EnvTopic:            p.Topic.TopicArn(),
		names.EnvRetention:        jsii.String(p.Environment.Retention.String()),
	})
}

// withEgress adds the variables about permitted addresses. Only the local stack
// has names.EnvEgressHost (Environment.Validate).
func withEgress(env Environment, variables map[string]*string) map[string]*string {
	variables[names.EnvEgress] = &env.Egress
	if env.EgressHost != "" {
		variables[names.EnvEgressHost] = &env.EgressHost
	}
	return variables
}

func breakerEnv(p FunctionsProps) map[string]*string {
	return map[string]*string{
		names.EnvTable:            p.Table.TableName(),
		names.EnvRetryQueue:       p.Queues.Retry.QueueUrl(),
		names.EnvSlotQueue:        p.Queues.Slot.QueueUrl(),
		names.EnvOverflowQueue:    p.Queues.Overflow.QueueUrl(),
		names.EnvDeadLettersQueue: p.Queues.DeadLetters.QueueUrl(),
		names.EnvCircuitsQueue:    p.Queues.Circuits.QueueUrl(),
		names.EnvLiveQueue:        p.Queues.Live.QueueUrl(),
		names.EnvTopic:            p.Topic.TopicArn(),
		names.EnvRetention:        jsii.String(p.Environment.Retention.String()),
	}
}

func replayEnv(p FunctionsProps) map[string]*string {
	return map[string]*string{
		names.EnvTable:           p.Table.TableName(),
		names.EnvReplayQueue:     p.Queues.Replay.QueueUrl(),
		names.EnvReplayJobsQueue: p.Queues.ReplayJobs.QueueUrl(),
	}
}

func manageEnv(p FunctionsProps) map[string]*string {
	return withPortal(p.Environment.Portal, withEgress(p.Environment, map[string]*string{
		names.EnvTable:            p.Table.TableName(),
		names.EnvKey:              p.Secrets.Key.KeyArn(),
		names.EnvLiveQueue:        p.Queues.Live.QueueUrl(),
		names.EnvCircuitsQueue:    p.Queues.Circuits.QueueUrl(),
		names.EnvRetention:        jsii.String(p.Environment.Retention.String()),
		names.EnvRetryQueue:       p.Queues.Retry.QueueUrl(),
		names.EnvReplayQueue:      p.Queues.Replay.QueueUrl(),
		names.EnvSlotQueue:        p.Queues.Slot.QueueUrl(),
		names.EnvOverflowQueue:    p.Queues.Overflow.QueueUrl(),
		names.EnvReplayJobsQueue:  p.Queues.ReplayJobs.QueueUrl(),
		names.EnvDeadLettersQueue: p.Queues.DeadLetters.QueueUrl(),
		names.EnvUndeliverable:    p.Queues.Undeliverable.QueueUrl(),
	}))
}

// withPortal adds the variables of the portal's appearance that are set.
func withPortal(portal Portal, variables map[string]*string) map[string]*string {
	for name, value := range map[string]string{
		names.EnvPortalName: portal.Name, names.EnvPortalAccent: portal.Accent, names.EnvPortalEmbedders: strings.Join(portal.Embedders, ","),
	} {
		if value != "" {
			variables[name] = &value
		}
	}
	return variables
}

func authorizeEnv(p FunctionsProps) map[string]*string {
	return map[string]*string{
		names.EnvTable:          p.Table.TableName(),
		names.EnvAdminKeySecret: p.Secrets.AdminKey.SecretArn(),
	}
}
