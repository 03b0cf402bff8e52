package surehook

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/private"
)

// Private is a network with receivers that only the operator's own networks reach, for the field
// egress of endpoints. The zero Private is none.
type Private struct {
	// Allow is the JSON of the allow-list, see package internal/rule/private, at most 900 bytes.
	Allow string
	// CA is the PEM of authorities that the receivers' certificates may have, beside the public
	// ones, at most 3,000 bytes.
	CA string
	// Subnets are those of the sender, in VPC. Without them the stack makes a VPC with subnets in two
	// zones, without a way out, for a peering or a transit gateway.
	Subnets []string
	VPC     string
	// Groups are security groups of the sender, in place of the one that lets out to the list alone.
	Groups []string
}

const (
	privateName  = "sender-private"
	privateRange = "10.255.252.0/24" // of a VPC that the stack makes
	maxPrivateCA = 3000              // of 4 KB for all variables of the function
)

// ec2ID matches what follows the kind in an id of EC2.
var ec2ID = regexp.MustCompile(`^-([0-9a-f]{8}|[0-9a-f]{17})$`)

// network is the private network of a deployment: from its environment, or from the parameters of
// a release.
type network struct {
	allow, ca string
	subnets   *[]*string
	vpc       *string
	groups    *[]*string // nil: one that lets out to rules alone
	rules     []any
	overIPv6  any // a bool
}

// newNetwork makes the private network; nil without one.
func newNetwork(p plan) *network {
	n := p.Environment.Private
	switch {
	case p.release != nil && p.release.private != nil:
		return p.release.private
	case n.Allow == "":
		return nil
	}
	list, _ := private.Parse([]byte(n.Allow)) // by Validate
	made := network{allow: n.Allow, ca: n.CA, subnets: jsii.Strings(n.Subnets...), vpc: &n.VPC, rules: ruledOut(list), overIPv6: jsii.Bool(overIPv6(list))}
	if len(n.Groups) > 0 {
		made.groups = jsii.Strings(n.Groups...)
	}
	if len(n.Subnets) == 0 {
		vpc := awsec2.NewVpc(p.Construct, jsii.String("PrivateNetwork"), &awsec2.VpcProps{
			MaxAzs: jsii.Number(mostZones), NatGateways: jsii.Number(0), IpAddresses: awsec2.IpAddresses_Cidr(jsii.String(privateRange)),
			SubnetConfiguration:          &[]*awsec2.SubnetConfiguration{{Name: jsii.String("Sender"), SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED}},
			RestrictDefaultSecurityGroup: jsii.Bool(false), // which would be one more function
		})
		awscdk.Tags_Of(vpc).Add(jsii.String("Name"), jsii.String(p.Prefix+"-private"), &awscdk.TagProps{Priority: jsii.Number(300)})
		made.vpc, made.subnets = vpc.VpcId(), vpc.SelectSubnets(&awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED}).SubnetIds
	}
	return &made
}

// newPrivate makes the sender in the private network; nil in a deployment without one.
func newPrivate(p plan, n *network) awslambda.Function {
	if n == nil {
		return nil
	}
	groups := n.groups
	if groups == nil {
		groups = &[]*string{awsec2.NewCfnSecurityGroup(p.Construct, jsii.String("PrivateGroup"), &awsec2.CfnSecurityGroupProps{
			VpcId: n.vpc, GroupDescription: jsii.String("Requests of the sender " + names.PrivateSender(p.Prefix)), SecurityGroupEgress: &n.rules,
		}).AttrGroupId()}
	}
	p.settings.Private, p.settings.PrivateCA = n.allow, n.ca
	sender := newFunction(p.Construct, "PrivateSender", p, functionProps{
		name: privateName, folder: senderName, timeout: senderTimeout, memory: senderMemory,
		grant: grantNetwork(names.PrivateSender(p.Prefix)), reserved: p.Environment.Concurrency.FixedSender,
	})
	cfnOf[awslambda.CfnFunction](sender).SetVpcConfig(&awslambda.CfnFunction_VpcConfigProperty{
		SubnetIds: n.subnets, SecurityGroupIds: groups, Ipv6AllowedForDualStack: n.overIPv6,
	})
	return sender
}

// connectPrivate lets the functions that send call the sender in the private network, and tells manage
// the list.
func connectPrivate(p plan, n *network) {
	if n == nil {
		return
	}
	f := p.Functions
	f.Manage.AddEnvironment(jsii.String("SUREHOOK_PRIVATE_ALLOW"), &n.allow, nil)
	callers := map[string]awsiam.IRole{"Deliver": f.Deliver.Role()}
	if p.Environment.Ownership != "" {
		callers["Manage"] = f.Manage.Role()
	}
	for name, role := range callers {
		awsiam.NewPolicy(p.Construct, jsii.String(name+"CallsPrivateSender"), &awsiam.PolicyProps{Roles: &[]awsiam.IRole{role}, Statements: &[]awsiam.PolicyStatement{
			awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Actions: jsii.Strings("lambda:InvokeFunction"), Resources: &[]*string{functionARN(p.Construct, names.PrivateSender(p.Prefix))},
			}),
		}})
	}
}

// ruledOut returns the rules of a security group that lets out to the list alone. DNS by the resolver
// of the VPC needs none. A group without a rule of IPv4 keeps the one that EC2 gives it, which lets out
// to everywhere: a list without IPv4 gets one that no packet fits, as CDK gives its groups.
func ruledOut(list private.List) []any {
	var rules []any
	nothing := &awsec2.CfnSecurityGroup_EgressProperty{
		IpProtocol: jsii.String("icmp"), FromPort: jsii.Number(252), ToPort: jsii.Number(86), CidrIp: jsii.String("255.255.255.255/32"), Description: jsii.String("nothing"),
	}
	if !slices.ContainsFunc(list.Targets(), func(t private.Target) bool { return t.CIDR.Addr().Is4() }) {
		rules = append(rules, nothing)
	}
	for _, target := range list.Targets() {
		cidr := jsii.String(target.CIDR.String())
		rule := &awsec2.CfnSecurityGroup_EgressProperty{
			IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(int(target.Port)), ToPort: jsii.Number(int(target.Port)), CidrIp: cidr, Description: jsii.String("receivers"),
		}
		if target.CIDR.Addr().Is6() {
			rule.CidrIp, rule.CidrIpv6 = nil, cidr
		}
		rules = append(rules, rule)
	}
	return rules
}

func overIPv6(list private.List) bool {
	return slices.ContainsFunc(list.Targets(), func(t private.Target) bool { return t.CIDR.Addr().Is6() })
}

// check reports a list that the sender would refuse, and a half of a network.
func (n Private) check(f *faults) {
	list, err := private.Parse([]byte(n.Allow))
	f.add(err != nil, "private receivers: %w", err)
	f.add(len(n.Allow) > maxSetting, "the list of private receivers has %d bytes, and %d is the most", len(n.Allow), maxSetting)
	f.add(n.Allow == "" && (n.CA != "" || n.VPC != "" || len(n.Subnets)+len(n.Groups) > 0), "a private network needs the list of its receivers")
	f.add(len(n.CA) > maxPrivateCA, "the authorities of private receivers have %d bytes, and %d is the most", len(n.CA), maxPrivateCA)
	if n.CA != "" {
		_, wrong := hook.NewTLS("ca", hook.Material{CA: n.CA}, time.Time{})
		for _, field := range wrong {
			f.add(true, "the authorities of private receivers: the file %s", field.Message)
		}
	}
	f.add(len(n.Subnets) == 0 && (n.VPC != "" || len(n.Groups) > 0), "a VPC and security groups of private receivers need subnets")
	f.add(len(n.Subnets) == 0 && overIPv6(list), "private receivers over IPv6 need dual-stack subnets of yours")
	f.add(len(n.Subnets) > 0 && (n.VPC != "") == (len(n.Groups) > 0), "the private subnets need either their VPC or security groups of yours")
	check := func(what, kind string, ids ...string) {
		for _, id := range ids {
			after, ok := strings.CutPrefix(id, kind)
			f.add(!ok || !ec2ID.MatchString(after), "%q is not a %s, such as %s-0a1b2c3d", id, what, kind)
		}
	}
	if n.VPC != "" {
		check("VPC", "vpc", n.VPC)
	}
	check("subnet", "subnet", n.Subnets...)
	check("security group", "sg", n.Groups...)
}
