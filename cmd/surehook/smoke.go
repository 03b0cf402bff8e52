package main

import (
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/spf13/cobra"

	"surehook.example/surehook/internal/smoke"
)

// smokeTries is the number of tries of a request to AWS: IAM's simulator answers
// some calls a second.
const smokeTries = 8

func (p *program) smoke() *cobra.Command {
	var stack string
	var long, template bool
	c := &cobra.Command{
		Use: "smoke", Short: "Prove a deployment on AWS from outside, in five minutes", Args: arguments,
		Long: "Prove a deployment on AWS from outside, and remove what the command made. See docs/deploying.md.\n" +
			"Credentials and region come from the environment, as for the AWS CLI. The first Ctrl-C ends the checks; the removal then takes about a minute.",
		Example: "  surehook smoke --stack surehook-dev",
	}
	c.Flags().StringVar(&stack, "stack", "", "the deployment's stack, such as surehook-dev")
	c.Flags().BoolVar(&long, "long", false, "wait for a schedule beyond 15 minutes: 17 minutes")
	c.Flags().BoolVar(&template, "template", false, "print the template of the receiver's stack, and do nothing else")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if template {
			fmt.Fprint(p.Out, smoke.Template())
			return nil
		}
		if stack == "" {
			return usagef("--stack is missing: say which deployment, such as --stack surehook-dev")
		}
		// Ctrl-C must not end a request of the removal, so the client has no deadline of ctx.
		cfg, err := config.LoadDefaultConfig(c.Context(), config.WithRetryMaxAttempts(smokeTries))
		if err != nil {
			return usagef("read the AWS configuration: %w", err)
		}
		results, err := smoke.Run(c.Context(), smoke.Options{
			Stack: stack, AWS: cfg, HTTP: &http.Client{}, Latency: smoke.DefaultLatency(), Long: long, Out: p.Out, Now: p.Now,
		})
		if err != nil {
			return usagef("%w", err) // the deployment was not found
		}
		if smoke.Failed(results) {
			return failure("a check failed")
		}
		return nil
	}
	return c
}
