package surehook

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/names"
)

// A region has one function with one role, which may only write the function's log. So a stolen
// sender can read nothing and call nobody.
func TestSenders(t *testing.T) {
	t.Parallel()

	for _, region := range customised().Senders {
		tpl := templateOf(t, "surehook-custom-sender-"+region)
		got := map[string]int{}
		for _, r := range tpl.Resources {
			got[r.Type]++
		}
		want := map[string]int{"AWS::Lambda::Function": 1, "AWS::Logs::LogGroup": 1, "AWS::IAM::Role": 1, "AWS::IAM::Policy": 1}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("resources in %s (-want +got):\n%s", region, diff)
		}
		f := tpl.get(t, "AWS::Lambda::Function", "Sender")
		f.check(t, "FunctionName", names.Sender("surehook-custom"))
		f.check(t, "Timeout", 35)
		f.check(t, "MemorySize", pathMemory)
		f.check(t, "RecursiveLoop", "Allow")
		f.check(t, "VpcConfig", nil)
		wantEnv := map[string]string{"SUREHOOK_EGRESS": names.EgressPublic, "SUREHOOK_ENVIRONMENT": "surehook-custom"}
		if diff := cmp.Diff(wantEnv, variables(f)); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
		grants := map[string]map[string][]string{"SenderRole": {"${SenderLogs.Arn}": {"logs:CreateLogStream", "logs:PutLogEvents"}}}
		if diff := cmp.Diff(grants, grantsOf(t, tpl)); diff != "" {
			t.Errorf("grants (-want +got):\n%s", diff)
		}
		for _, n := range tpl.notes {
			t.Errorf("%s of %s: %s", n.level, n.path, n.text)
		}
	}
}

// A boundary bounds every role, those of the senders, too.
func TestBoundary(t *testing.T) {
	t.Parallel()

	custom := customised()
	for _, name := range []string{"custom", "surehook-custom-sender-us-east-1"} {
		roles := templateOf(t, name).all("AWS::IAM::Role")
		if len(roles) == 0 {
			t.Errorf("%s has no role", name)
		}
		for id, role := range roles {
			if got := role.at("PermissionsBoundary"); got != custom.PermissionsBoundary {
				t.Errorf("the role %s of %s has the boundary %v; want %s", id, name, got, custom.PermissionsBoundary)
			}
		}
	}
}

// Deliver may invoke the senders of the environment, by name, and no other function. So may
// manage, where an endpoint needs a proof of ownership.
func TestSenders_invoked(t *testing.T) {
	t.Parallel()

	const arn = "arn:${AWS::Partition}:lambda:"
	want := []string{
		arn + "${AWS::Region}:${AWS::AccountId}:function:surehook-custom-sender-fixed",
		arn + "ap-southeast-2:${AWS::AccountId}:function:surehook-custom-sender",
		arn + "us-east-1:${AWS::AccountId}:function:surehook-custom-sender",
	}
	got := make(map[string][]string)
	for role, grants := range grantsOf(t, templateOf(t, "custom")) {
		for on, actions := range grants {
			if slices.Contains(actions, "lambda:InvokeFunction") && (role == "DeliverRole" || strings.Contains(on, "sender")) {
				got[role] = append(got[role], on)
			}
		}
	}
	for _, senders := range got {
		slices.Sort(senders)
	}
	if diff := cmp.Diff(map[string][]string{"DeliverRole": want, "ManageRole": want}, got); diff != "" {
		t.Errorf("senders by invoker (-want +got):\n%s", diff)
	}
}

// The fixed sender is in private subnets of two zones. Each zone has a NAT gateway with an address,
// and manage lists the addresses. The security group lets out to the four ports of endpoints only.
func TestSenders_fixed(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "custom")
	addresses, gateways := tpl.all("AWS::EC2::EIP"), tpl.all("AWS::EC2::NatGateway")
	if len(addresses) != 2 || len(gateways) != 2 {
		t.Fatalf("%d addresses and %d gateways; want 2 and 2", len(addresses), len(gateways))
	}
	var used []string
	for _, gateway := range gateways {
		used = append(used, show(gateway.at("AllocationId")))
	}
	slices.Sort(used)
	if want := []string{"${EgressAddress1.AllocationId}", "${EgressAddress2.AllocationId}"}; !slices.Equal(used, want) {
		t.Errorf("the gateways have %v; want %v", used, want)
	}
	manage := variables(tpl.get(t, "AWS::Lambda::Function", "Manage"))
	if got, want := manage["SUREHOOK_FIXED_ADDRESSES"], "${EgressAddress1.PublicIp},${EgressAddress2.PublicIp}"; got != want {
		t.Errorf("manage lists %s; want %s", got, want)
	}
	f := tpl.get(t, "AWS::Lambda::Function", "FixedSender")
	f.check(t, "FunctionName", names.FixedSender("surehook-custom"))
	subnets, _ := f.at("VpcConfig", "SubnetIds").([]any)
	for _, subnet := range subnets {
		if !strings.Contains(show(subnet), "PrivateSubnet") {
			t.Errorf("the sender is in the subnet %s; want private subnets", show(subnet))
		}
	}
	if len(subnets) != 2 {
		t.Errorf("the sender is in %d subnets; want 2", len(subnets))
	}
	group := tpl.get(t, "AWS::EC2::SecurityGroup", "EgressGroup")
	var ports []float64
	rules, _ := group.at("SecurityGroupEgress").([]any)
	for _, rule := range rules {
		port, _ := rule.(map[string]any)["FromPort"].(float64)
		ports = append(ports, port)
	}
	if want := []float64{443, 8443, 80, 8080}; !slices.Equal(ports, want) || group.at("SecurityGroupIngress") != nil {
		t.Errorf("the group lets out to the ports %v, and in by %v; want out to %v, and nothing in", ports, group.at("SecurityGroupIngress"), want)
	}
}

// The roles of the fixed and of the private sender have the permissions that Lambda needs for the
// network, and deny them to the function's own code.
func TestSenders_networkRoles(t *testing.T) {
	t.Parallel()

	for role, function := range map[string]string{"${FixedSenderRole}": "sender-fixed", "${PrivateSenderRole}": "sender-private"} {
		var allowed, denied []any
		for _, policy := range templateOf(t, "allocated").all("AWS::IAM::Policy") {
			if roles, _ := policy.at("Roles").([]any); show(roles[0]) != role {
				continue
			}
			statements, _ := policy.at("PolicyDocument", "Statement").([]any)
			for _, s := range statements {
				statement, _ := s.(map[string]any)
				actions, _ := statement["Action"].([]any)
				if len(actions) == 0 || !strings.HasPrefix(show(actions[0]), "ec2:") {
					continue
				}
				if statement["Effect"] == "Deny" {
					denied = actions
					if condition := show(statement["Condition"]); !strings.Contains(condition, "lambda:SourceFunctionArn") || !strings.Contains(condition, function) {
						t.Errorf("the denial has the condition %s; want the function's own code", condition)
					}
					continue
				}
				allowed = actions
			}
		}
		if diff := cmp.Diff(allowed, denied); diff != "" || len(allowed) == 0 {
			t.Errorf("allowed to Lambda (-) and denied to the code (+):\n%s", diff)
		}
	}
}

// An environment without senders has no part of them.
func TestSenders_none(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		for logical, r := range tpl.Resources {
			if strings.HasPrefix(r.Type, "AWS::EC2::") || strings.Contains(logical, "Sender") {
				t.Errorf("%s has the %s %s", env.Name, r.Type, logical)
			}
		}
	}
}

func TestSenders_alarms(t *testing.T) {
	t.Parallel()

	alarms := alarmsOf(t, "custom")
	for _, name := range []string{"sender-fallbacks", "sender-answers-lost", "sender-fixed-errors", "sender-fixed-throttles"} {
		if _, ok := alarms[name]; !ok {
			t.Errorf("no alarm %s", name)
		}
	}
}

// TestFixed_allocations checks that addresses of the user's take the place of those that the stack
// makes, and that the template names its settings.
func TestFixed_allocations(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "allocated")
	if made := tpl.all("AWS::EC2::EIP"); len(made) > 0 {
		t.Errorf("the stack makes the addresses %v; want none", made)
	}
	var used []string
	for _, gateway := range tpl.all("AWS::EC2::NatGateway") {
		used = append(used, show(gateway.at("AllocationId")))
	}
	slices.Sort(used)
	if want := []string{"eipalloc-0a", "eipalloc-0b"}; !slices.Equal(used, want) {
		t.Errorf("the gateways use %v; want %v", used, want)
	}
	if got := variables(tpl.get(t, "AWS::Lambda::Function", "Manage"))["SUREHOOK_FIXED_ADDRESSES"]; got != "198.51.100.7,198.51.100.8" {
		t.Errorf("manage shows the addresses %s; want those of the allocations", got)
	}
	want := map[string]any{"Settings": []any{"FIXED", "FIXED_ALLOCATIONS"}}
	if diff := cmp.Diff(any(want), tpl.raw["Metadata"]); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}
