package smoke

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"surehook.example/surehook/internal/names"
)

// The reviewed grants: role -> resource, and condition -> actions. The tests of
// infra compare the templates with this file.
//
//go:embed grants.json
var grantsJSON []byte

// reviewedPrefix is the prefix of names in the reviewed grants.
const reviewedPrefix = "surehook-prod"

// grants are the permissions of a role: resource, and condition -> actions.
type grants map[string][]string

// conditional separates the resource from the condition in a key of grants.
const conditional = " if "

// reviewed returns the reviewed grants of the deployment's roles, by the roles'
// names in IAM, with the deployment's resources.
func (d deployment) reviewed(prefix string) (map[string]grants, error) {
	var table map[string]grants
	if err := json.Unmarshal(grantsJSON, &table); err != nil {
		return nil, fmt.Errorf("read the reviewed grants: %w", err)
	}
	roles := map[string]grants{}
	for id, all := range table {
		role, ok := d.named(id)
		if !ok && strings.HasPrefix(id, "Archive") {
			continue // an environment without the archive
		}
		if !ok {
			return nil, fmt.Errorf("the stack has no role %s", id)
		}
		roles[role.Physical] = grants{}
		for ref, actions := range all {
			on, condition, _ := strings.Cut(ref, conditional)
			resolved, err := d.resolve(strings.ReplaceAll(on, reviewedPrefix, prefix))
			if err != nil {
				return nil, fmt.Errorf("resolve %s of %s: %w", on, id, err)
			}
			if condition != "" {
				resolved += conditional + condition
			}
			roles[role.Physical][resolved] = actions
		}
	}
	return roles, nil
}

// resolve replaces the references of a reviewed resource, such as
// "${Table.Arn}/index/by_state", by the deployment's.
func (d deployment) resolve(ref string) (string, error) {
	ref = strings.NewReplacer("${AWS::Partition}", d.stack.Partition, "${AWS::Region}", d.stack.Region, "${AWS::AccountId}", d.stack.AccountID).Replace(ref)
	rest, found := strings.CutPrefix(ref, "${")
	if !found {
		return ref, nil
	}
	name, tail, _ := strings.Cut(rest, "}")
	if output, ok := arnOutputs()[name]; ok {
		return d.outputs[output] + tail, nil
	}
	r, ok := d.named(strings.TrimSuffix(name, ".Arn"))
	if !ok {
		return "", fmt.Errorf("the stack has no resource %s", name)
	}
	arn, err := d.arn(r)
	return arn + tail, err
}

// arnOutputs are the references whose ARN is an output of the stack.
func arnOutputs() map[string]string {
	return map[string]string{"AdminKey": "AdminKeySecretArn", "Key.Arn": "KeyArn", "Table.StreamArn": "StreamArn", "Topic": "TopicArn"}
}

// permissions compares the roles' policies with the reviewed grants.
func (s *session) permissions(ctx context.Context) (string, error) {
	want, err := s.deployment.reviewed(s.Stack)
	if err != nil {
		return "", err
	}
	client := iam.NewFromConfig(s.AWS)
	var faults []string
	for _, role := range slices.Sorted(maps.Keys(want)) {
		got, attached, err := policiesOf(ctx, client, role)
		if err != nil {
			return "", allowed("read the policies of "+role, err)
		}
		if deliver, ok := s.deployment.named("DeliverRole"); ok && deliver.Physical == role {
			got.dropSettings(s.Stack)
		}
		faults = append(faults, judgePolicies(role, want[role], got, attached)...)
	}
	if len(faults) > 0 {
		return "", errors.New(strings.Join(faults, "; "))
	}
	return fmt.Sprintf("the policies of %d roles are the reviewed grants", len(want)), nil
}

// policiesOf reads the grants of a role's own policies, and the names of
// attached policies.
func policiesOf(ctx context.Context, client *iam.Client, role string) (got grants, attached []string, err error) {
	list, err := client.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: &role})
	if err != nil {
		return nil, nil, fmt.Errorf("list attached policies: %w", err)
	}
	for _, p := range list.AttachedPolicies {
		attached = append(attached, aws.ToString(p.PolicyName))
	}
	own, err := client.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &role})
	if err != nil {
		return nil, nil, fmt.Errorf("list policies: %w", err)
	}
	got = grants{}
	for _, name := range own.PolicyNames {
		p, err := client.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &role, PolicyName: &name})
		if err != nil {
			return nil, nil, fmt.Errorf("read policy %s: %w", name, err)
		}
		if err := got.add(aws.ToString(p.PolicyDocument)); err != nil {
			return nil, nil, fmt.Errorf("read policy %s: %w", name, err)
		}
	}
	return got, attached, nil
}

// dropSettings removes the permissions to call the senders of the stack, and to assume the
// roles of destinations in AWS: the reviewed grants are of an environment without these
// settings. A path of roles is never "/", the roles of everybody.
func (g grants) dropSettings(stack string) {
	for on, actions := range g {
		resource, _, _ := strings.Cut(on, conditional)
		parsed, err := arn.Parse(resource)
		function, isFunction := strings.CutPrefix(parsed.Resource, "function:")
		ours := err == nil && parsed.Service == "lambda" && isFunction && (function == names.Sender(stack) || function == names.FixedSender(stack) || function == names.PrivateSender(stack))
		theirs := err == nil && parsed.Service == "iam" && parsed.AccountID == "*" && strings.HasPrefix(parsed.Resource, "role/") && parsed.Resource != "role/*"
		if ours && slices.Equal(actions, []string{"lambda:InvokeFunction"}) || theirs && slices.Equal(actions, []string{"sts:AssumeRole"}) {
			delete(g, on)
		}
	}
}

// oneOrMore is a JSON string, or a list of strings.
type oneOrMore []string

// UnmarshalJSON reads either form.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o))
}

// add adds the statements of a policy document, which IAM returns with escapes
// of URLs.
func (g grants) add(document string) error {
	if text, err := url.QueryUnescape(document); err == nil && strings.HasPrefix(document, "%7B") {
		document = text
	}
	var policy struct {
		Statement []struct {
			Sid       string    `json:"Sid"`
			Effect    string    `json:"Effect"`
			Action    oneOrMore `json:"Action"`
			Resource  oneOrMore `json:"Resource"`
			Condition any       `json:"Condition"`
		} `json:"Statement"`
		Version string `json:"Version"`
	}
	// No reviewed policy has any other field, such as NotAction.
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&policy); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	for _, s := range policy.Statement {
		condition, err := json.Marshal(s.Condition)
		if err != nil {
			return fmt.Errorf("write the condition: %w", err)
		}
		for _, resource := range s.Resource {
			if s.Condition != nil {
				resource += conditional + string(condition)
			}
			if s.Effect != "Allow" {
				resource += " (" + s.Effect + ")"
			}
			g[resource] = append(g[resource], s.Action...)
		}
	}
	return nil
}

// judgePolicies returns every difference between a role's reviewed grants and
// its policies.
func judgePolicies(role string, want, got grants, attached []string) (faults []string) {
	for _, name := range attached {
		faults = append(faults, role+" has the attached policy "+name)
	}
	for _, on := range slices.Sorted(maps.Keys(want)) {
		for _, action := range want[on] {
			if !slices.Contains(got[on], action) {
				faults = append(faults, fmt.Sprintf("%s lacks %s on %s", role, action, on))
			}
		}
	}
	for _, on := range slices.Sorted(maps.Keys(got)) {
		for _, action := range got[on] {
			if !slices.Contains(want[on], action) {
				faults = append(faults, fmt.Sprintf("%s has %s on %s beyond the reviewed grants", role, action, on))
			}
		}
	}
	return faults
}

// simulate asks IAM's policy simulator whether every reviewed grant is allowed.
// The simulator knows permissions boundaries and the organization's policies.
func (s *session) simulate(ctx context.Context) (string, error) {
	want, err := s.deployment.reviewed(s.Stack)
	if err != nil {
		return "", err
	}
	client, asked := iam.NewFromConfig(s.AWS), 0
	refused, unasked := []string{}, s.unasked(want)
	for _, role := range slices.Sorted(maps.Keys(want)) {
		arn, err := s.deployment.arn(resource{Type: "AWS::IAM::Role", Physical: role})
		if err != nil {
			return "", err
		}
		for _, on := range slices.Sorted(maps.Keys(want[role])) {
			input, err := simulation(arn, on, want[role][on])
			if err != nil {
				return "", err
			}
			got, err := client.SimulatePrincipalPolicy(ctx, input)
			if err != nil {
				return "", allowed("simulate the policies of "+role, err)
			}
			if asked += len(got.EvaluationResults); len(got.EvaluationResults) != len(input.ActionNames) {
				refused = append(refused, fmt.Sprintf("IAM answered for %d of %d grants of %s on %s", len(got.EvaluationResults), len(input.ActionNames), role, on))
			}
			for _, r := range got.EvaluationResults {
				if r.EvalDecision != types.PolicyEvaluationDecisionTypeAllowed {
					refused = append(refused, fmt.Sprintf("%s may not %s on %s: %s", role, aws.ToString(r.EvalActionName), on, r.EvalDecision))
				}
			}
		}
	}
	note := fmt.Sprintf("IAM allows all %d reviewed grants", asked)
	if len(unasked) > 0 {
		note += "; not asked: " + strings.Join(unasked, "; ")
	}
	if len(refused) > 0 {
		return "", errors.New(strings.Join(refused, "; "))
	}
	return note, nil
}

// unasked takes the actions out of want that the place's simulator cannot judge,
// and returns the actions with the reasons. On AWS there is none.
func (s *session) unasked(want map[string]grants) (reasons []string) {
	for _, all := range want {
		for on, actions := range all {
			all[on] = slices.DeleteFunc(actions, func(action string) bool {
				reason, ok := s.Missing[simulatorName+": "+action]
				if ok {
					reasons = append(reasons, action+" ("+reason+")")
				}
				return ok
			})
			if len(all[on]) == 0 {
				delete(all, on)
			}
		}
	}
	return reasons
}

// simulatorName is the name of the check by IAM's policy simulator.
const simulatorName = "permissions suffice"

// simulation is the question about one resource. A name that is chosen at
// runtime, the "*" at the end, is "smoke".
func simulation(role, on string, actions []string) (*iam.SimulatePrincipalPolicyInput, error) {
	resource, condition, _ := strings.Cut(on, conditional)
	if trimmed, ok := strings.CutSuffix(resource, "*"); ok && !strings.HasSuffix(resource, ":*") {
		resource = trimmed + "smoke"
	}
	input := &iam.SimulatePrincipalPolicyInput{PolicySourceArn: &role, ActionNames: actions, ResourceArns: []string{resource}}
	if condition == "" {
		return input, nil
	}
	var operators map[string]map[string]string
	if err := json.Unmarshal([]byte(condition), &operators); err != nil {
		return nil, fmt.Errorf("read the condition %s: %w", condition, err)
	}
	for _, values := range operators {
		for key, value := range values {
			input.ContextEntries = append(input.ContextEntries, types.ContextEntry{
				ContextKeyName: &key, ContextKeyType: types.ContextKeyTypeEnumString, ContextKeyValues: []string{value},
			})
		}
	}
	return input, nil
}
