// Package probe finds out which of the services and calls that the stack needs a running server
// has. CloudFormation makes the stack, so each check makes a small stack of its own, uses what is
// in it, and removes it.
package probe

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
)

// timeout bounds one check: before its first function, a server may have to fetch an image.
const timeout = 3 * time.Minute

// The names of the checks that callers of Why ask for.
const (
	Functions = "Lambda"
	HTTPAPI   = "HTTP API"
	Firing    = "Scheduler fires"
)

// Result is the result of one check.
type Result struct {
	Service string
	Calls   string // what was tried
	Err     error  // nil: the server has it
}

// Results are the results of all checks, in a fixed order.
type Results []Result

// Server is the server to ask.
type Server struct {
	AWS aws.Config
	// APIHost returns the Host header for an HTTP API, from the URL in the output of its stack.
	APIHost func(apiURL string) (string, error)
}

// check makes a stack of the resources, and uses it.
type check struct {
	service, calls string
	resources      map[string]any
	outputs        map[string]any
	use            func(ctx context.Context, s Server, outputs map[string]string) error // nil: it is enough that they can be made
}

// Run runs the checks at the same time, after the one of CloudFormation. Without CloudFormation no
// other check runs.
func Run(ctx context.Context, s Server) Results {
	all := checks()
	results := make(Results, len(all))
	run := func(i int) {
		results[i] = Result{Service: all[i].service, Calls: all[i].calls, Err: s.try(ctx, all[i])}
	}
	run(0)
	if err := results[0].Err; err != nil {
		for i := range all[1:] {
			results[i+1] = Result{Service: all[i+1].service, Calls: all[i+1].calls, Err: errNotTried}
		}
		return results
	}
	var group sync.WaitGroup
	for i := 1; i < len(all); i++ {
		group.Go(func() { run(i) })
	}
	group.Wait()
	return results
}

var errNotTried = errors.New("not tried: CloudFormation is missing")

// Why returns why a flow that needs the services cannot run; empty if it can. Without names it asks
// about the whole stack, which needs everything but Firing. Checks that did not run say nothing.
func (r Results) Why(services ...string) string {
	var missing []string
	for _, result := range r {
		asked := len(services) == 0 && result.Service != Firing
		for _, service := range services {
			asked = asked || service == result.Service
		}
		if asked && result.Err != nil && !errors.Is(result.Err, errNotTried) {
			missing = append(missing, fmt.Sprintf("%s: %v", result.Service, result.Err))
		}
	}
	return strings.Join(missing, "; ")
}

// Write prints the results as a table.
func (r Results) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "service\ttried\tresult") //nolint:errcheck // Flush returns the error
	for _, result := range r {
		text := "yes"
		if result.Err != nil {
			text = "NO: " + result.Err.Error()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", result.Service, result.Calls, text) //nolint:errcheck // as above
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// try runs one check, and removes what it made.
func (s Server) try(ctx context.Context, c check) (err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client := cloudformation.NewFromConfig(s.AWS)
	name := "surehook-probe-" + strings.ToLower(rand.Text()[:8])
	template := object{"AWSTemplateFormatVersion": "2010-09-09", "Resources": c.resources}
	if c.outputs != nil {
		template["Outputs"] = c.outputs
	}
	text, err := json.Marshal(template)
	if err != nil {
		return fmt.Errorf("write the template: %w", err)
	}
	if _, err := client.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: aws.String(string(text)), Capabilities: []cftypes.Capability{cftypes.CapabilityCapabilityIam},
	}); err != nil {
		return plain("CreateStack", err)
	}
	defer func() {
		removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		if _, removeErr := client.DeleteStack(removal, &cloudformation.DeleteStackInput{StackName: &name}); removeErr != nil && err == nil {
			err = plain("DeleteStack", removeErr)
		}
	}()
	outputs, err := await(ctx, client, name)
	if err != nil || c.use == nil {
		return err
	}
	return c.use(ctx, s, outputs)
}

// await waits until the stack is complete, and returns its outputs.
func await(ctx context.Context, client *cloudformation.Client, name string) (map[string]string, error) {
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for {
		out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil {
			return nil, plain("DescribeStacks", err)
		}
		if len(out.Stacks) != 1 {
			return nil, fmt.Errorf("DescribeStacks returns %d stacks instead of 1", len(out.Stacks))
		}
		stack := out.Stacks[0]
		switch status := stack.StackStatus; {
		case status == cftypes.StackStatusCreateComplete:
			outputs := map[string]string{}
			for _, o := range stack.Outputs {
				outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
			}
			return outputs, nil
		case status != cftypes.StackStatusCreateInProgress:
			return nil, fmt.Errorf("CloudFormation does not make the stack: %s%s", status, reason(ctx, client, name))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("the stack is not complete: %w", context.Cause(ctx))
		}
	}
}

// reason returns what the first failed resource of the stack says.
func reason(ctx context.Context, client *cloudformation.Client, name string) string {
	out, err := client.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &name})
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(out.StackEvents) { // newest first
		if e.ResourceStatus == cftypes.ResourceStatusCreateFailed && e.ResourceStatusReason != nil {
			return fmt.Sprintf(", %s: %.200s", aws.ToString(e.ResourceType), *e.ResourceStatusReason)
		}
	}
	return ""
}

// plain returns the error of a call with the words of the service, without those of the SDK.
func plain(call string, err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Errorf("%s answers %s %.200s", call, api.ErrorCode(), api.ErrorMessage())
	}
	return fmt.Errorf("%s: %w", call, err)
}

// get asks the address with the Host header until the function answers, about 10 seconds at most.
func get(ctx context.Context, address, host string) error {
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for tries := 0; ; tries++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return fmt.Errorf("ask the API: %w", err)
		}
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return fmt.Errorf("ask the API: %w", err)
		}
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // part of a message
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK && strings.Contains(string(text), answer) {
			return nil
		}
		if tries == 20 {
			return fmt.Errorf("the API answers %s %s", resp.Status, strings.TrimSpace(string(text)))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("ask the API: %w", context.Cause(ctx))
		}
	}
}
