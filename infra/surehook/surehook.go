package surehook

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/config"
)

// Props configures New and NewStack.
type Props struct {
	// Environment is a result of EnvironmentNamed, with changes as needed.
	Environment Environment
	// Dist is the folder of the built functions, Dist/<function>/bootstrap,
	// built for the environment's architecture. `make build` fills
	// dist/<architecture>.
	Dist string
	// Prefix begins the names of the resources and must be unique in the
	// account and region: 2 to 40 lowercase letters, digits and hyphens, a
	// letter first and no hyphen last. Empty means "surehook-" and the
	// environment's name.
	Prefix string
	// Version is the value of the tag surehook:version of the functions. Empty
	// means no tag.
	Version string
	// Protect turns the termination protection of a stack of NewStack on, in an environment
	// with protected data. Not for the creation: a stack whose creation failed must be removed.
	Protect bool
	// Settings are the names of the settings of a deployment with NewStack. The template keeps
	// them, so that the next deployment can tell which of them it drops.
	Settings []string

	release *release // of NewRelease; nil for stacks of CDK
}

// withDefaults returns the props with defaults, or all faults of the props.
func (p Props) withDefaults() (Props, error) {
	if p.Prefix == "" {
		p.Prefix = "surehook-" + p.Environment.Name
	}
	faults := []error{p.Environment.Validate()}
	if p.release == nil && !prefixes.MatchString(p.Prefix) {
		faults = append(faults, fmt.Errorf("prefix %q is not 2 to 40 lowercase letters, digits and hyphens with a letter first and no hyphen last", p.Prefix))
	}
	faults = append(faults, checkDist(p.Dist, p.Environment))
	return p, errors.Join(faults...)
}

// prefixes matches valid prefixes. 40 characters keep every name within its
// service's limit: 64 characters for functions and schedule groups.
var prefixes = regexp.MustCompile(`^[a-z][a-z0-9-]{0,38}[a-z0-9]$`)

// Surehook is a whole deployment. The parts are exported for an app's
// additions: grants, further alarms, DNS records, subscriptions.
type Surehook struct {
	constructs.Construct

	// Table holds all data.
	Table awsdynamodb.TableV2
	// Queues are the sources of the functions' work.
	Queues Queues
	// Secrets hold the sealing key and the first API key.
	Secrets Secrets
	// Schedules hold the retries due later than a queue's longest delay.
	Schedules Schedules
	// Topic receives the alarms and the operational events.
	Topic awssns.Topic
	// Functions are the Lambda functions.
	Functions Functions
	// API accepts events from backends.
	API API
	// Monitor watches all of the parts above.
	Monitor Monitor
	// Archive keeps the table's history; nil without an archive.
	Archive *Archive
}

// plan is a Surehook in the making: its props, and the parts so far.
type plan struct {
	Surehook
	Props

	settings config.Settings // of the functions
}

// New adds a Surehook to the scope: a stack, or a construct in a stack. Several
// deployments fit in one account and region, each with its own prefix. New
// returns an error for unsafe props and for functions without a build.
func New(scope constructs.Construct, id string, props Props) (Surehook, error) {
	props, err := props.withDefaults()
	if err != nil {
		return Surehook{}, fmt.Errorf("make %s: %w", id, err)
	}

	env, prefix := props.Environment, props.Prefix
	p := plan{Props: props, Surehook: Surehook{Construct: constructs.NewConstruct(scope, &id)}}
	p.Table = newTable(p.Construct, env)
	p.Queues = newQueues(p.Construct, env)
	newEventRule(p.Construct, prefix, env.Events, p.Queues)
	for _, arn := range env.Producers { // of other accounts, within their own permissions
		admit(p.Queues.Events, awsiam.NewArnPrincipal(&arn), nil)
	}
	p.Secrets = newSecrets(p)
	p.Schedules = newSchedules(p)
	p.Topic = newTopic(p)
	p.Functions = newFunctions(p)
	newTicks(p)
	p.API = newAPI(p)
	if env.Archive {
		p.Archive = newArchive(p)
	}
	p.Monitor = newMonitor(p)
	if err := checkVariables(p.Construct, nil); err != nil {
		return Surehook{}, fmt.Errorf("make %s: %w", id, err)
	}
	boundRoles(p.Construct, env)
	suppress(p.Construct, suppressions(prefix, env))
	if props.Version != "" {
		// A tag on the table would touch it at each release.
		awscdk.Tags_Of(p.Construct).Add(jsii.String("surehook:version"), &props.Version, &awscdk.TagProps{IncludeResourceTypes: jsii.Strings("AWS::Lambda::Function")})
	}
	return p.Surehook, nil
}

// GrantSend lets the grantee, such as the role of a backend, send events to the queue of
// events. A grantee of another account needs the permission in its own account, too.
func (s Surehook) GrantSend(grantee awsiam.IGrantable) awsiam.Grant {
	return awsiam.Grant_AddToPrincipalOrResource(&awsiam.GrantWithResourceOptions{
		Grantee: grantee, Actions: jsii.Strings("sqs:SendMessage"), ResourceArns: &[]*string{s.Queues.Events.QueueArn()}, Resource: s.Queues.Events,
	})
}

// boundRoles bounds every role in the scope.
func boundRoles(scope constructs.Construct, env Environment) {
	if env.PermissionsBoundary != "" {
		awsiam.PermissionsBoundary_Of(scope).Apply(awsiam.ManagedPolicy_FromManagedPolicyArn(scope, jsii.String("Boundary"), &env.PermissionsBoundary))
	}
}

// removal returns the policy for data after deletion of the stack. What a failed creation made
// is empty, and goes with it.
func removal(env Environment) awscdk.RemovalPolicy {
	if env.Protected {
		return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}
	return awscdk.RemovalPolicy_DESTROY
}
