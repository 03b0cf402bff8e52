package surehook

import (
	"encoding/json"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxPolicy is the most characters of a managed policy, without white space.
const maxPolicy = 6144

// spared are actions that CloudFormation may need for a type, and does not for this stack.
func spared() []string {
	return []string{
		// Services that nothing in the stack uses.
		"application-autoscaling:*", "elasticfilesystem:*", "firehose:*", "kinesis:*", "s3files:*", "s3tables:*",
		// The table has one replica, no stream to Kinesis, and a key of DynamoDB.
		"dynamodb:*Item", "dynamodb:Query", "dynamodb:*Replica*", "dynamodb:*Kinesis*", "cloudwatch:PutMetricData", "iam:CreateServiceLinkedRole", "kms:RevokeGrant",
		// Nothing else is encrypted under a key of the deployer's.
		"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey",
		// Policies belong to roles alone.
		"iam:*GroupPolicy", "iam:*UserPolicy",
		// A network in one account, with addresses of its own and without a VPN.
		"ec2:AcceptAddressTransfer", "ec2:*NatGatewayAddress", "ec2:*VpnGateway*", "ec2:*SubnetCidrBlock", "ec2:*VpcEncryptionControl", "ec2:ModifyVpcTenancy",
		// The log groups have no bearer token, and no protection against their deletion.
		"logs:PutBearerTokenAuthentication", "logs:PutLogGroupDeletionProtection", "logs:*KmsKey", "s3:REST.PUT.OBJECT",
		// The secret is not replicated.
		"secretsmanager:*Replic*",
	}
}

// beside are actions that AWS asks of the deployer and that are not in the schema of the type: of
// an access log of API Gateway.
func beside() map[string][]string {
	return map[string][]string{
		"AWS::ApiGatewayV2::Stage": {"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery"},
	}
}

// TestDeployer compares the policy for a deployer's role, infra/deployer.json, with the types of
// the templates and the calls of deploy.sh. testdata/handlers.input.json has the actions of each type
// from the registry of CloudFormation, as in cfn-lint's schemas.
func TestDeployer(t *testing.T) {
	t.Parallel()

	var handlers map[string][]string
	readJSON(t, "testdata/handlers.input.json", &handlers)
	needed := map[string]string{} // by action: for what
	for _, env := range []string{"prod", "custom"} {
		for _, r := range templateOf(t, env).Resources {
			if handlers[r.Type] == nil {
				t.Fatalf("testdata/handlers.input.json has no actions for %s", r.Type)
			}
			for _, action := range slices.Concat(handlers[r.Type], beside()[r.Type]) {
				if !matches(spared(), action) {
					needed[action] = r.Type
				}
			}
		}
	}
	calls := deployCalls(t)
	if len(calls) < 40 {
		t.Fatalf("deploy.sh has the calls %q; want more", calls)
	}
	for _, action := range calls {
		needed[action] = "deploy.sh"
	}

	allowed, size := deployerPolicy(t)
	for action, of := range needed {
		if !matches(allowed, action) {
			t.Errorf("the policy lacks %s for %s", action, of)
		}
	}
	for _, pattern := range allowed {
		used := false
		for action := range needed {
			used = used || matches([]string{pattern}, action)
		}
		if !used {
			t.Errorf("nothing needs %s of the policy", pattern)
		}
	}
	if size > maxPolicy {
		t.Errorf("the policy has %d characters without white space; IAM takes %d", size, maxPolicy)
	}
}

// deployerPolicy returns the actions of the policy, and its size as IAM counts it.
func deployerPolicy(t *testing.T) (actions []string, size int) {
	t.Helper()

	var policy struct{ Statement []struct{ Action any } }
	text := readJSON(t, "../deployer.json", &policy)
	for _, s := range policy.Statement {
		switch action := s.Action.(type) {
		case string:
			actions = append(actions, action)
		case []any:
			for _, one := range action {
				actions = append(actions, one.(string)) //nolint:forcetypeassert,errcheck // a mistake fails the test
			}
		}
	}
	return actions, len(strings.Join(strings.Fields(string(text)), ""))
}

// deployCalls returns the actions of the calls in deploy.sh, without those that need no permission,
// and the actions that it has simulated.
func deployCalls(t *testing.T) (actions []string) {
	t.Helper()

	script, err := os.ReadFile("../deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?m)(?:\baws |[\t( ])(acm|cloudformation|cloudwatch|dynamodb|events|iam|kms|lambda|logs|s3api|scheduler) ([a-z]+(?:-[a-z]+)+)`)
	for _, found := range call.FindAllStringSubmatch(string(script), -1) {
		action := strings.Replace(found[1], "s3api", "s3", 1) + ":"
		for word := range strings.SplitSeq(found[2], "-") {
			action += strings.ToUpper(word[:1]) + word[1:]
		}
		// CDK's alone, and of a sentence for people.
		if action != "cloudformation:ListChangeSets" && action != "cloudformation:ContinueUpdateRollback" {
			actions = append(actions, action)
		}
	}
	actions = append(actions, regexp.MustCompile(`\b[a-z]+:[A-Z][A-Za-z]+\b`).FindAllString(string(script), -1)...)
	return append(actions, "s3:PutObject", "s3:GetObject") // aws s3 cp, and CloudFormation that reads the template
}

// matches reports whether one of the patterns of IAM matches the action.
func matches(patterns []string, action string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(action))
		return ok && err == nil
	})
}

func readJSON(t *testing.T, file string, into any) []byte {
	t.Helper()

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return text
}
