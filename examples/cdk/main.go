// Command cdk is the CDK app of a shop. The shop's stack embeds Surehook with the construct of
// surehook.New, and has a role for the shop's own backend. A second stack has the sender of
// another region.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/infra/surehook"
)

// dist holds the functions, built by `make build` in the root of the repository.
const dist = "../../dist/arm64"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cdk:", err)
		os.Exit(1)
	}
}

// run writes the templates of the stack "Shop" and of the sender's stack.
func run() error {
	defer jsii.Close()

	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("Shop"), nil)

	// Start from an environment of Surehook and change what the shop needs.
	env, err := surehook.EnvironmentNamed("prod", "")
	if err != nil {
		return fmt.Errorf("choose the environment: %w", err)
	}
	env.Name = "shop"
	env.Concurrency.Live = 20
	env.AlarmEmail = "oncall@shop.example"
	env.Senders = []string{"us-east-1"} // endpoints may choose "region": "us-east-1"

	props := surehook.Props{Environment: env, Dist: dist, Prefix: "shop-webhooks"}
	webhooks, err := surehook.New(stack, "Webhooks", props)
	if err != nil {
		return fmt.Errorf("add Surehook: %w", err)
	}

	// The senders take the same props. Deliver may call them as soon as it runs, so their
	// stacks are deployed first.
	senders, err := surehook.NewSenders(app, props)
	if err != nil {
		return fmt.Errorf("add the senders: %w", err)
	}
	for _, sender := range senders {
		stack.AddStackDependency(sender, jsii.String("deliver calls the sender"))
	}

	// The backend has a key of its own: put one with the scope events:write into the secret (surehook keys
	// create). The output has the URL of the API.
	backend := awsiam.NewRole(stack, jsii.String("Backend"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil),
	})
	awssecretsmanager.NewSecret(stack, jsii.String("WebhooksKey"), nil).GrantRead(backend, nil)
	awscdk.NewCfnOutput(stack, jsii.String("WebhooksUrl"), &awscdk.CfnOutputProps{Value: webhooks.API.URL})

	app.Synth(nil)

	return nil
}
