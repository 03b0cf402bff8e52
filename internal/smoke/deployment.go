package smoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"surehook.example/surehook/internal/names"
)

// deployment is what CloudFormation knows of the deployment.
type deployment struct {
	stack     arn.ARN           // partition, region and account
	outputs   map[string]string // by name
	resources map[string]resource
	adminKey  string

	environment string // dev, staging, prod, local, or the name of an embedding app's
}

// resource is a resource of a stack.
type resource struct {
	Type     string // AWS::...
	Physical string
}

// environmentTag is the stack's tag with the name of the environment.
const environmentTag = "surehook:environment"

// silent reports whether the environment's alarms send no messages: failures are
// normal in dev and local.
func (d deployment) silent() bool { return d.environment == "dev" || d.environment == "local" }

// hashed matches the hash of eight digits that ends a logical id of CDK.
var hashed = regexp.MustCompile(`[0-9A-F]{8}$`)

// discover reads the stack and the admin key.
func discover(ctx context.Context, cfg aws.Config, stack string) (deployment, error) {
	client := cloudformation.NewFromConfig(cfg)
	d := deployment{outputs: map[string]string{}, resources: map[string]resource{}}
	got, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		return d, fmt.Errorf("read the stack %s: %w", stack, err)
	}
	if len(got.Stacks) != 1 {
		return d, fmt.Errorf("read the stack %s: %d stacks have the name", stack, len(got.Stacks))
	}
	if d.stack, err = arn.Parse(aws.ToString(got.Stacks[0].StackId)); err != nil {
		return d, fmt.Errorf("read the stack %s: %w", stack, err)
	}
	for _, o := range got.Stacks[0].Outputs {
		d.outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	for _, t := range got.Stacks[0].Tags {
		if aws.ToString(t.Key) == environmentTag {
			d.environment = aws.ToString(t.Value)
		}
	}
	pages := cloudformation.NewListStackResourcesPaginator(client, &cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return d, fmt.Errorf("list the resources of %s: %w", stack, err)
		}
		for _, r := range page.StackResourceSummaries {
			d.resources[aws.ToString(r.LogicalResourceId)] = resource{Type: aws.ToString(r.ResourceType), Physical: aws.ToString(r.PhysicalResourceId)}
		}
	}
	for _, name := range []string{"ApiUrl", "AdminKeySecretArn", "KeyArn", "StreamArn", "TopicArn", "TableName", "ScheduleGroupName"} {
		if d.outputs[name] == "" {
			return d, fmt.Errorf("the stack %s has no output %s: is it a Surehook?", stack, name)
		}
	}
	d.adminKey, err = adminKey(ctx, cfg, d.outputs["AdminKeySecretArn"])
	return d, err
}

// keyPrefix begins every API key; the secret holds the rest.
const keyPrefix = "shk_"

// adminKey reads the admin key from Secrets Manager.
func adminKey(ctx context.Context, cfg aws.Config, secret string) (string, error) {
	got, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &secret})
	if err != nil {
		return "", fmt.Errorf("read the admin key: %w", err)
	}
	var fields map[string]string
	if err := json.Unmarshal([]byte(aws.ToString(got.SecretString)), &fields); err != nil {
		return "", errors.New("read the admin key: the secret is not a JSON object of strings")
	}
	if fields[names.SecretAdminKeyJSON] == "" {
		return "", fmt.Errorf("read the admin key: the secret has no field %q", names.SecretAdminKeyJSON)
	}
	return keyPrefix + fields[names.SecretAdminKeyJSON], nil
}

// named returns the resource with the id of the CDK app: the logical id without
// its hash.
func (d deployment) named(id string) (resource, bool) {
	for logical, r := range d.resources {
		if logical == id || hashed.ReplaceAllString(logical, "") == id {
			return r, true
		}
	}
	return resource{}, false
}

// physical returns the physical ids of the type's resources.
func (d deployment) physical(kind string) []string {
	var ids []string
	for _, r := range d.resources {
		if r.Type == kind {
			ids = append(ids, r.Physical)
		}
	}
	return ids
}

// arn returns the resource's ARN.
func (d deployment) arn(r resource) (string, error) {
	if arn.IsARN(r.Physical) {
		return r.Physical, nil // a state machine
	}
	a := d.stack
	switch r.Type {
	case "AWS::DynamoDB::GlobalTable":
		a.Service, a.Resource = "dynamodb", "table/"+r.Physical
	case "AWS::SQS::Queue":
		a.Service, a.Resource = "sqs", r.Physical[strings.LastIndex(r.Physical, "/")+1:]
	case "AWS::Logs::LogGroup":
		a.Service, a.Resource = "logs", "log-group:"+r.Physical+":*"
	case "AWS::Lambda::Function":
		a.Service, a.Resource = "lambda", "function:"+r.Physical
	case "AWS::IAM::Role":
		a.Service, a.Region, a.Resource = "iam", "", "role/"+r.Physical
	case "AWS::S3::Bucket":
		a.Service, a.Region, a.AccountID, a.Resource = "s3", "", "", r.Physical
	default:
		return "", fmt.Errorf("the ARN of a resource of type %s is not known", r.Type)
	}
	return a.String(), nil
}
