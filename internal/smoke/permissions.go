package smoke

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
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

// simulate asks IAM's policy simulator whether every reviewed grant is allowed.
// The simulator knows permissions boundaries and the organization's policies.
func (s *session) simulate(ctx context.Context) (string, error) {
	want, err := s.deployment.reviewed(s.Stack)
	if err != nil {
		return "", err
	}
	client, asked := iam.NewFromConfig(s.AWS), 0
	var refused, unjudged []string
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
			if len(got.EvaluationResults) != len(input.ActionNames) {
				refused = append(refused, fmt.Sprintf("IAM answered for %d of %d grants of %s on %s", len(got.EvaluationResults), len(input.ActionNames), role, on))
			}
			for _, r := range got.EvaluationResults {
				action := aws.ToString(r.EvalActionName)
				switch reason, missing := s.Missing[simulatorName+": "+action]; {
				case missing:
					unjudged = append(unjudged, action+" ("+reason+")")
				case r.EvalDecision != types.PolicyEvaluationDecisionTypeAllowed:
					refused = append(refused, fmt.Sprintf("%s may not %s on %s: %s", role, action, on, r.EvalDecision))
				default:
					asked++
				}
			}
		}
	}
	note := fmt.Sprintf("IAM allows all %d reviewed grants", asked)
	if len(unjudged) > 0 {
		note += "; not judged: " + strings.Join(unjudged, "; ")
	}
	if len(refused) > 0 {
		return "", errors.New(strings.Join(refused, "; "))
	}
	return note, nil
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
