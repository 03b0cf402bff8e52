package iam

import (
	"context"
	"fmt"
	"net/url"
	"path"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// Read reads the own policies of the role with the ARN. The template attaches no managed
// policies.
func Read(ctx context.Context, client *iam.Client, roleARN string) (*Role, error) {
	parsed, err := arn.Parse(roleARN)
	if err != nil {
		return nil, fmt.Errorf("read the role %s: %w", roleARN, err)
	}
	name := path.Base(parsed.Resource)
	names, err := client.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &name})
	if err != nil {
		return nil, fmt.Errorf("list the policies of %s: %w", name, err)
	}
	role := &Role{Name: name, Account: parsed.AccountID}
	for _, policy := range names.PolicyNames {
		got, err := client.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &name, PolicyName: &policy})
		if err != nil {
			return nil, fmt.Errorf("read the policy %s of %s: %w", policy, name, err)
		}
		// IAM returns documents with escapes of URLs.
		document, err := url.PathUnescape(aws.ToString(got.PolicyDocument))
		if err != nil {
			return nil, fmt.Errorf("read the policy %s of %s: %w", policy, name, err)
		}
		grants, err := Parse(document)
		if err != nil {
			return nil, fmt.Errorf("read the policy %s of %s: %w", policy, name, err)
		}
		role.Grants = append(role.Grants, grants...)
	}
	return role, nil
}
