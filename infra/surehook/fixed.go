package surehook

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// mostZones is the number of zones that CDK knows in a stack without a region.
const mostZones = 2

// Fixed is the sender with fixed addresses, and its network. The zero Fixed has neither.
type Fixed struct {
	Sender awslambda.Function
	// Addresses are the elastic IP addresses, one per zone, if the stack makes them.
	Addresses []awsec2.CfnEIP

	public []*string // the addresses, one per zone
}

// newFixed makes a network with one NAT gateway and one elastic IP address per zone,
// and the sender in its private subnets. All requests of the sender come from these
// addresses. Without zones, newFixed makes nothing.
func newFixed(p plan) Fixed {
	zones := p.Environment.FixedZones
	if zones == 0 {
		return Fixed{}
	}
	var f Fixed
	var allocations []*string
	for _, own := range p.Environment.FixedAllocations {
		allocations, f.public = append(allocations, &own.ID), append(f.public, &own.Address)
	}
	for i := range zones - len(allocations) {
		address := awsec2.NewCfnEIP(p.Construct, jsii.String("EgressAddress"+strconv.Itoa(i+1)), &awsec2.CfnEIPProps{Domain: jsii.String("vpc")})
		// Receivers' firewalls know the address: prod keeps the address after the stack.
		address.ApplyRemovalPolicy(removal(p.Environment), nil)
		f.Addresses = append(f.Addresses, address)
		allocations, f.public = append(allocations, address.AttrAllocationId()), append(f.public, address.AttrPublicIp())
	}
	vpc := awsec2.NewVpc(p.Construct, jsii.String("EgressNetwork"), &awsec2.VpcProps{
		MaxAzs:      jsii.Number(zones),
		NatGateways: jsii.Number(zones),
		NatGatewayProvider: awsec2.NatProvider_Gateway(&awsec2.NatGatewayProps{
			EipAllocationIds: &allocations,
		}),
		// The default would be one more function, with permissions on security groups.
		RestrictDefaultSecurityGroup: jsii.Bool(false),
	})
	// CDK's names contain the stack of the synthesis, and a release is deployed under any name.
	awscdk.Tags_Of(vpc).Add(jsii.String("Name"), jsii.String(p.Prefix+"-egress"), &awscdk.TagProps{Priority: jsii.Number(300)})
	group := awsec2.NewSecurityGroup(p.Construct, jsii.String("EgressGroup"), &awsec2.SecurityGroupProps{
		Vpc: vpc, Description: jsii.String("Requests of the sender " + names.FixedSender(p.Prefix)), AllowAllOutbound: jsii.Bool(false),
	})
	for _, port := range []float64{443, 8443, 80, 8080} { // of package egress
		group.AddEgressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_Tcp(&port), jsii.String("webhooks"), nil)
	}
	f.Sender = newFunction(p.Construct, "FixedSender", p, functionProps{
		name: "sender-fixed", folder: senderName, timeout: senderTimeout, memory: senderMemory, grant: grantNetwork(names.FixedSender(p.Prefix)),
		vpc: vpc, groups: &[]awsec2.ISecurityGroup{group}, reserved: p.Environment.Concurrency.FixedSender,
	})
	return f
}
