package smoke

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// The receiver's stack: a template, and the function's code.
//
//go:embed template.json
var templateJSON string

//go:embed receiver.py
var receiverPython string

// Template returns the template of the receiver's stack with the function's code.
func Template() string {
	code, _ := json.Marshal(receiverPython) //nolint:errchkjson // every string has JSON
	return strings.Replace(templateJSON, `"receiver.py is put here"`, string(code), 1)
}

// Limits of the receiver's stack. AWS takes about a minute for either.
const (
	createLimit = 3 * time.Minute
	deleteLimit = 4 * time.Minute
	stackPoll   = time.Second
)

// receiverStack makes and removes the receiver's stack.
type receiverStack struct {
	client *cloudformation.Client
	name   string
	of     string // the deployment's stack, as the value of a tag
}

// create makes the stack and returns its outputs.
func (s receiverStack) create(ctx context.Context) (map[string]string, error) {
	template := Template()
	// The end of ctx does not end the call, so the removal comes after the creation.
	if _, err := s.client.CreateStack(context.WithoutCancel(ctx), &cloudformation.CreateStackInput{
		StackName:    &s.name,
		TemplateBody: &template,
		Capabilities: []types.Capability{types.CapabilityCapabilityIam},
		Tags:         []types.Tag{{Key: aws.String("surehook:smoke"), Value: &s.of}},
	}); err != nil {
		return nil, fmt.Errorf("make the stack %s: %w", s.name, err)
	}
	waiter := cloudformation.NewStackCreateCompleteWaiter(s.client, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = stackPoll, 2*stackPoll
	})
	got, err := waiter.WaitForOutput(ctx, &cloudformation.DescribeStacksInput{StackName: &s.name}, createLimit)
	if err != nil {
		return nil, fmt.Errorf("await the stack %s: %w%s", s.name, err, s.reasons(context.WithoutCancel(ctx)))
	}
	outputs := map[string]string{}
	for _, o := range got.Stacks[0].Outputs {
		outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	return outputs, nil
}

// reasons returns the reasons of the stack's failed resources.
func (s receiverStack) reasons(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	got, err := s.client.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &s.name})
	if err != nil {
		return ""
	}
	var why strings.Builder
	for _, e := range got.StackEvents {
		if strings.HasSuffix(string(e.ResourceStatus), "_FAILED") {
			fmt.Fprintf(&why, "; %s: %s", aws.ToString(e.LogicalResourceId), aws.ToString(e.ResourceStatusReason))
		}
	}
	return why.String()
}

// remove removes the stack, also one that was never made, and waits for the end.
func (s receiverStack) remove(ctx context.Context) error {
	if _, err := s.client.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &s.name}); err != nil {
		return fmt.Errorf("remove the stack %s: %w", s.name, err)
	}
	waiter := cloudformation.NewStackDeleteCompleteWaiter(s.client, func(o *cloudformation.StackDeleteCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = stackPoll, 2*stackPoll
	})
	if err := waiter.Wait(ctx, &cloudformation.DescribeStacksInput{StackName: &s.name}, deleteLimit); err != nil {
		return fmt.Errorf("await the end of the stack %s: %w", s.name, err)
	}
	return nil
}
