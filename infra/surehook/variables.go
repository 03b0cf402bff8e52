package surehook

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// The environment variables of the functions. All functions also have
// names.EnvEnvironment, names.EnvGarbage and names.EnvMemoryLimit.

func ingestEnv(p FunctionsProps) map[string]*string {
	return map[string]*string{
		names.EnvTable:         p.Table.TableName(),
		names.EnvLiveQueue:     p.Queues.Live.QueueUrl(),
		names.EnvCoalesceQueue: p.Queues.Coalesce.QueueUrl(),
		names.EnvEventsQueue:   p.Queues.Events.QueueUrl(),
		names.EnvRejectsQueue:  p.Queues.Rejects.QueueUrl(),
		names.EnvTenantPath:    jsii.String(cmp.Or(p.Environment.Events.TenantPath, names.DefaultTenantPath)),
		names.EnvRetention:     jsii.String(p.Environment.Retention.String()),
		names.EnvValidation:    jsii.String(cmp.Or(p.Environment.Validation, names.ValidationOff)),
	}
}

func deliverEnv(p FunctionsProps) map[string]*string {
	return withPublicURL(p, withOwnership(p.Environment, withDestinations(p, withSenders(p, withEgress(p.Environment, map[string]*string{
		names.EnvTable:                 p.Table.TableName(),
		names.EnvKey:                   p.Secrets.Key.KeyArn(),
		names.EnvLiveQueue:             p.Queues.Live.QueueUrl(),
		names.EnvRetryQueue:            p.Queues.Retry.QueueUrl(),
		names.EnvRetryQueueARN:         p.Queues.Retry.QueueArn(),
		names.EnvSlotQueue:             p.Queues.Slot.QueueUrl(),
		names.EnvOverflowQueue:         p.Queues.Overflow.QueueUrl(),
		names.EnvCoalesceQueue:         p.Queues.Coalesce.QueueUrl(),
		names.EnvTenantPlaces:          jsii.String(strconv.Itoa(p.Environment.Concurrency.tenantPlaces())),
		names.EnvDeadLettersQueue:      p.Queues.DeadLetters.QueueUrl(),
		names.EnvCircuitsQueue:         p.Queues.Circuits.QueueUrl(),
		names.EnvUndeliverableRetryARN: p.Queues.UndeliverableRetry.QueueArn(),
		names.EnvScheduleGroup:         p.Schedules.Group.ScheduleGroupName(),
		names.EnvScheduleRole:          p.Schedules.Role.RoleArn(),
		names.EnvTopic:                 p.Topic.TopicArn(),
		names.EnvRetention:             jsii.String(p.Environment.Retention.String()),
	})))))
}

// withPublicURL adds the address of the API, if it has a domain.
func withPublicURL(p FunctionsProps, variables map[string]*string) map[string]*string {
	if domain := p.Environment.Domain.Name; domain != "" {
		variables[names.EnvPublicURL] = jsii.String("https://" + domain)
	}
	return variables
}

// withSenders adds the regions of the senders, if there are any.
func withSenders(p FunctionsProps, variables map[string]*string) map[string]*string {
	if len(p.Environment.Senders) > 0 {
		variables[names.EnvSenderRegions] = jsii.String(strings.Join(p.Environment.Senders, ","))
	}
	return variables
}

// withAddresses adds the fixed addresses, if there are any.
func withAddresses(p FunctionsProps, variables map[string]*string) map[string]*string {
	if len(p.fixed.public) > 0 {
		variables[names.EnvFixedAddresses] = p.fixed.addresses()
	}
	return variables
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
		names.EnvReplayQueue:      p.Queues.Replay.QueueUrl(),
		names.EnvSlotQueue:        p.Queues.Slot.QueueUrl(),
		names.EnvOverflowQueue:    p.Queues.Overflow.QueueUrl(),
		names.EnvCoalesceQueue:    p.Queues.Coalesce.QueueUrl(),
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
	return withPublicURL(p, withProfiles(p.Environment, withDestinations(p, withEndpoints(p.Environment, withAddresses(p, withSenders(p, withSignIn(p.Environment.SignIn, withPortal(p.Environment.Portal, withEgress(p.Environment, map[string]*string{
		names.EnvTable:              p.Table.TableName(),
		names.EnvKey:                p.Secrets.Key.KeyArn(),
		names.EnvLiveQueue:          p.Queues.Live.QueueUrl(),
		names.EnvCircuitsQueue:      p.Queues.Circuits.QueueUrl(),
		names.EnvEventsQueue:        p.Queues.Events.QueueUrl(),
		names.EnvRejectsQueue:       p.Queues.Rejects.QueueUrl(),
		names.EnvRetention:          jsii.String(p.Environment.Retention.String()),
		names.EnvRetryQueue:         p.Queues.Retry.QueueUrl(),
		names.EnvReplayQueue:        p.Queues.Replay.QueueUrl(),
		names.EnvSlotQueue:          p.Queues.Slot.QueueUrl(),
		names.EnvOverflowQueue:      p.Queues.Overflow.QueueUrl(),
		names.EnvCoalesceQueue:      p.Queues.Coalesce.QueueUrl(),
		names.EnvReplayJobsQueue:    p.Queues.ReplayJobs.QueueUrl(),
		names.EnvDeadLettersQueue:   p.Queues.DeadLetters.QueueUrl(),
		names.EnvEnvelope:           jsii.String(cmp.Or(p.Environment.Envelope, names.EnvelopeStandard)),
		names.EnvUndeliverable:      p.Queues.Undeliverable.QueueUrl(),
		names.EnvUndeliverableRetry: p.Queues.UndeliverableRetry.QueueUrl(),
	})))))))))
}

// withEndpoints adds what new endpoints need: a place at their host and a proof, if there are such
// settings.
func withEndpoints(env Environment, variables map[string]*string) map[string]*string {
	if most := env.EndpointsPerHost; most > 0 {
		variables[names.EnvEndpointsPerHost] = jsii.String(strconv.Itoa(most))
	}
	return withOwnership(env, variables)
}

// withOwnership adds the proof that endpoints need, if they do.
func withOwnership(env Environment, variables map[string]*string) map[string]*string {
	if env.Ownership != "" {
		variables[names.EnvOwnership] = &env.Ownership
	}
	return variables
}

// withPortal adds the variables of the portal's appearance that are set.
func withPortal(portal Portal, variables map[string]*string) map[string]*string {
	for name, value := range map[string]string{
		names.EnvPortalName: portal.Name, names.EnvPortalAccent: portal.Accent, names.EnvPortalLogo: portal.Logo, names.EnvPortalEmbedders: strings.Join(portal.Embedders, ","),
	} {
		if value != "" {
			variables[name] = &value
		}
	}
	return variables
}

func authorizeEnv(p FunctionsProps) map[string]*string {
	return withSignIn(p.Environment.SignIn, map[string]*string{
		names.EnvTable:          p.Table.TableName(),
		names.EnvAdminKeySecret: p.Secrets.AdminKey.SecretArn(),
	})
}

// withSignIn adds the variables of people's sign-in that are set.
func withSignIn(s names.SignIn, variables map[string]*string) map[string]*string {
	for name, value := range map[string]string{
		names.EnvOIDCIssuer: s.Issuer, names.EnvOIDCClientID: s.ClientID, names.EnvOIDCRoles: s.Roles, names.EnvOIDCClaim: s.Claim,
		names.EnvOIDCScopes: s.Scopes, names.EnvOIDCOrigins: strings.Join(s.Origins, ","),
	} {
		if value != "" {
			variables[name] = &value
		}
	}
	return variables
}
