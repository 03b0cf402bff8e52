package surehook

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

const (
	senderName    = "sender"         // folder of the function
	senderTimeout = 35 * time.Second // 30 s for an endpoint, the rest to report the outcome
	senderMemory  = pathMemory       // one request, and an answer of at most 64 KiB
)

// NewSenders makes the stacks of the environment's senders: one stack in each region of
// Environment.Senders, named after the prefix and the region. A sender posts signed
// requests and has no permission but to write its log. The stack with the prefix calls
// the functions by their names, so no value crosses regions.
//
// The stacks have no account: the deployer chooses the account of the main stack.
func NewSenders(scope constructs.Construct, props Props) ([]awscdk.Stack, error) {
	props, err := props.withDefaults()
	if err != nil {
		return nil, err
	}
	env := props.Environment
	var stacks []awscdk.Stack
	for _, region := range env.Senders {
		name := props.Prefix + "-sender-" + region
		tags := map[string]*string{"surehook:environment": &env.Name}
		if props.Version != "" {
			tags["surehook:version"] = &props.Version
		}
		stack := awscdk.NewStack(scope, &name, &awscdk.StackProps{
			StackName:   &name,
			Description: jsii.String(fmt.Sprintf("Surehook, outbound webhook delivery: sender of %s in %s", env.Name, region)),
			Env:         &awscdk.Environment{Region: jsii.String(region)},
			Tags:        &tags,
		})
		newFunction(stack, "Sender", plan{Props: props, settings: env.settings()}, functionProps{
			name: senderName, timeout: senderTimeout, memory: senderMemory, grant: grantNothing,
		})
		boundRoles(stack, env)
		checkRules(stack)
		stacks = append(stacks, stack)
	}
	return stacks, nil
}

// senders reports whether the environment has functions that send.
func (e Environment) senders() bool { return len(e.Senders) > 0 || e.ownSenders() > 0 }

// senders reports the same of a deployment, where a release has a sender by parameters.
func (p plan) senders() bool { return p.Environment.senders() || p.Functions.Private != nil }

// ownSenders returns how many functions of the own region send.
func (e Environment) ownSenders() int { return min(e.FixedZones, 1) + min(len(e.Private.Allow), 1) }
