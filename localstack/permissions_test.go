//go:build e2e

package localstack_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"surehook.example/surehook/localstack/stack"
	"surehook.example/surehook/localstack/tools/iam"
)

// fullRun reports whether all tests of the package ran.
func fullRun() bool {
	run, skip := flag.Lookup("test.run"), flag.Lookup("test.skip")
	return run.Value.String() == "" && skip.Value.String() == ""
}

// everyGrantNeeded checks that no grant of a function can be taken away unnoticed: without
// the grant, a call of the run would have been refused. The exceptions are the grants that
// Lambda itself uses. Infra's TestGrants_services holds these to the template. The file
// permissions.txt of the run says how many calls each grant carried alone.
//
// The emulator refused every call that the grants do not permit. So both directions
// together say that the grants are those that the code needs.
func everyGrantNeeded(ctx context.Context) error {
	var report bytes.Buffer
	var unneeded []string
	for _, region := range []string{world.stack.AWS.Region, stack.SenderRegion} {
		client := lambda.NewFromConfig(world.stack.AWS, func(o *lambda.Options) { o.Region = region })
		functions, err := client.ListFunctions(ctx, &lambda.ListFunctionsInput{})
		if err != nil {
			return fmt.Errorf("list the functions in %s: %w", region, err)
		}
		for _, f := range functions.Functions {
			if !strings.HasPrefix(*f.FunctionName, stack.Name) {
				continue
			}
			role, err := iam.Read(ctx, awsiam.NewFromConfig(world.stack.AWS), *f.Role)
			if err != nil {
				return err
			}
			sources, err := client.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{FunctionName: f.FunctionName})
			if err != nil {
				return fmt.Errorf("list the event sources of %s: %w", *f.FunctionName, err)
			}
			var queues []string
			for _, source := range sources.EventSourceMappings {
				queues = append(queues, aws.ToString(source.EventSourceArn))
			}
			refused := role.Refused(world.emulator.Front.Used(role.Name))
			for i, g := range role.Grants {
				fmt.Fprintf(&report, "%8d %s: %s\n", refused[i], *f.FunctionName, g)
				if refused[i] == 0 && !usedByLambda(g, queues) {
					unneeded = append(unneeded, fmt.Sprintf("\n\t%s: %s", *f.FunctionName, g))
				}
			}
		}
	}
	if err := os.WriteFile(filepath.Join(world.emulator.Dir, "permissions.txt"), report.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the report of the permissions: %w", err)
	}
	if len(unneeded) > 0 {
		return errors.New("no call of this run needs these grants (add a flow, or take the grant away):" + strings.Join(unneeded, ""))
	}
	return nil
}

// usedByLambda reports whether Lambda uses the grant: to write the function's log, and to
// receive from the function's queues and from its stream.
func usedByLambda(g iam.Grant, sources []string) bool {
	switch g.Action {
	case "logs:CreateLogStream", "logs:PutLogEvents":
		return true
	case "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage",
		"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams":
		return slices.Contains(sources, g.Resource)
	}
	return false
}
