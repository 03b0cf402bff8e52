package surehook

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Props says what New and NewStack make.
type Props struct {
	// Environment is what the deployment is like: one of EnvironmentNamed, changed
	// as need be.
	Environment Environment
	// Dist is the folder of the built functions, Dist/<function>/bootstrap, built
	// for the architecture of the environment. `make build` fills dist/<architecture>.
	Dist string
	// Prefix begins the names of the resources, so that it is one of its own in the
	// account and region: 2 to 40 small letters, digits and hyphens, a letter first
	// and no hyphen last. Empty means "surehook-" and the environment's name.
	Prefix string
	// Version is the value of the tag surehook:version of the resources. Empty
	// means no such tag.
	Version string
}

// withDefaults returns the props with what may be left out, or all that is
// wrong with them.
func (p Props) withDefaults() (Props, error) {
	if p.Prefix == "" {
		p.Prefix = "surehook-" + p.Environment.Name
	}
	faults := []error{p.Environment.Validate()}
	if !prefixes.MatchString(p.Prefix) {
		faults = append(faults, fmt.Errorf("prefix %q: it is 2 to 40 small letters, digits and hyphens, a letter first and no hyphen last", p.Prefix))
	}
	faults = append(faults, checkDist(p.Dist))
	return p, errors.Join(faults...)
}

// prefixes are those with which every name stays within its service's limit:
// 64 characters for functions and groups of schedules.
var prefixes = regexp.MustCompile(`^[a-z][a-z0-9-]{0,38}[a-z0-9]$`)

// Surehook is a whole deployment. Its parts are exposed for what an app adds
// around them: grants, alarms of its own, records in the DNS, subscriptions.
type Surehook struct {
	constructs.Construct

	// Table holds all that is kept.
	Table awsdynamodb.Table
	// Queues are what the functions work from.
	Queues Queues
	// Secrets hold the sealing key and the first API key.
	Secrets Secrets
	// Schedules hold the retries that are due later than a queue can delay.
	Schedules Schedules
	// Topic gets the alarms and the operational events.
	Topic awssns.Topic
	// Functions do the work.
	Functions Functions
	// API is what backends post events to.
	API API
	// Monitor watches all of them.
	Monitor Monitor
	// Archive keeps what the table forgets, nil without one.
	Archive *Archive
}

// New puts a Surehook into the scope, a stack or a construct in one. Several
// may be in one account and region, each under a prefix of its own. It reports
// props that must not be deployed, and functions that are not built.
func New(scope constructs.Construct, id string, props Props) (Surehook, error) {
	props, err := props.withDefaults()
	if err != nil {
		return Surehook{}, fmt.Errorf("make %s: %w", id, err)
	}

	env, prefix := props.Environment, props.Prefix
	s := Surehook{Construct: constructs.NewConstruct(scope, &id)}
	s.Table = NewTable(s.Construct, "Table", TableProps{Environment: env})
	s.Queues = NewQueues(s.Construct, QueuesProps{Prefix: prefix})
	s.Secrets = NewSecrets(s.Construct, SecretsProps{Prefix: prefix, Environment: env})
	s.Schedules = NewSchedules(s.Construct, SchedulesProps{Prefix: prefix, Retry: s.Queues.Retry, Undeliverable: s.Queues.Undeliverable})
	s.Topic = NewTopic(s.Construct, TopicProps{Prefix: prefix, Environment: env})
	s.Functions = NewFunctions(s.Construct, FunctionsProps{
		Prefix:      prefix,
		Environment: env,
		Dist:        props.Dist,
		Table:       s.Table,
		Queues:      s.Queues,
		Secrets:     s.Secrets,
		Schedules:   s.Schedules,
		Topic:       s.Topic,
	})
	NewTicks(s.Construct, TicksProps{Group: s.Schedules.Group, Breaker: s.Functions.Breaker, Environment: env})
	s.API = NewAPI(s.Construct, APIProps{Prefix: prefix, Environment: env, Functions: s.Functions})
	if env.Archive {
		archive := NewArchive(s.Construct, ArchiveProps{Prefix: prefix, Environment: env, Table: s.Table, Group: s.Schedules.Group})
		s.Archive = &archive
	}
	s.Monitor = NewMonitor(s.Construct, MonitorProps{
		Prefix:      prefix,
		Environment: env,
		Queues:      s.Queues,
		Functions:   s.Functions,
		Table:       s.Table,
		API:         s.API.HTTP,
		Schedules:   s.Schedules.Group,
		Archive:     s.Archive,
		Topic:       s.Topic,
	})
	suppress(s.Construct, suppressions(prefix, env))
	if props.Version != "" {
		awscdk.Tags_Of(s.Construct).Add(jsii.String("surehook:version"), &props.Version, nil)
	}
	return s, nil
}

// removal is what becomes of data when its stack is deleted.
func removal(env Environment) awscdk.RemovalPolicy {
	if env.Protected {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}
