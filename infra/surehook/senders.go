package surehook

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

const (
	senderName    = "sender"         // folder of the function
	senderTimeout = 35 * time.Second // 30 s for an endpoint, the rest to report the outcome
	senderMemory  = pathMemory       // one request, and an answer of at most 64 KiB
)

// allocation matches the ids of elastic IP addresses.
var allocation = regexp.MustCompile(`^eipalloc-[0-9a-f]+$`)

// awsRegion matches the names of AWS regions.
var awsRegion = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[1-9]$`)

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

// grantNothing: a sender may write its log only.
func grantNothing(awsiam.Role, plan) {}

// grantSenders: invoke the senders of the environment, and no other function. See also connectPrivate.
func grantSenders(role awsiam.Role, p plan) {
	var arns []*string
	for _, region := range p.Environment.Senders {
		arns = append(arns, functionARN(role, names.Sender(p.Prefix), &region))
	}
	if p.Environment.FixedZones > 0 {
		arns = append(arns, functionARN(role, names.FixedSender(p.Prefix), nil))
	}
	if len(arns) > 0 {
		allow(role, "lambda:InvokeFunction").on(arns...)
	}
}

// functionARN returns the ARN of a function by its name; region is nil for the stack's own.
func functionARN(scope constructs.Construct, name string, region *string) *string {
	return awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("lambda"), Region: region, Resource: jsii.String("function"), ResourceName: &name,
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
}

// checkSenders reports regions that are no regions, or are named twice, and numbers of
// zones without support.
func (e Environment) checkSenders(f *faults) {
	for i, region := range e.Senders {
		f.add(!awsRegion.MatchString(region), "%q is not a region for a sender, such as us-east-1", region)
		f.add(slices.Contains(e.Senders[:i], region), "the region %s has two senders", region)
	}
	f.add(len(e.FixedAllocations) > 0 && len(e.FixedAllocations) != e.FixedZones, "%d allocations for fixed addresses in %d zones: each zone takes one", len(e.FixedAllocations), e.FixedZones)
	for _, a := range e.FixedAllocations {
		ip, err := netip.ParseAddr(a.Address)
		f.add(!allocation.MatchString(a.ID) || err != nil || !ip.Is4(), "%q is not an allocation and its address, such as eipalloc-0a1b2c3d=198.51.100.7", a.ID+"="+a.Address)
	}
	f.add(e.FixedZones < 0 || e.FixedZones > mostZones, "fixed addresses in %d zones: a stack without a region takes 0 to %d", e.FixedZones, mostZones)
}

// senders reports whether the environment has functions that send.
func (e Environment) senders() bool { return len(e.Senders) > 0 || e.ownSenders() > 0 }

// senders reports the same of a deployment, where a release has a sender by parameters.
func (p plan) senders() bool { return p.Environment.senders() || p.Functions.Private != nil }

// ownSenders returns how many functions of the own region send.
func (e Environment) ownSenders() int {
	n := 0
	for _, on := range []bool{e.FixedZones > 0, e.Private.Allow != ""} {
		if on {
			n++
		}
	}
	return n
}
