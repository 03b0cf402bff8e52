package surehook_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/infra/surehook"
)

// A shop adds Surehook to the shop's own stack, and a stack with a sender in another
// region.
func Example() {
	dist, err := buildFunctions()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dist) //nolint:errcheck // the system clears its temporary folder

	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("Shop"), nil)

	// The environment is a smaller prod with an alarm recipient.
	env, err := surehook.EnvironmentNamed("prod", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	env.Name = "shop"
	env.Concurrency.Live = 20
	env.AlarmEmail = "oncall@shop.example"
	env.Senders = []string{"us-east-1"}

	props := surehook.Props{Environment: env, Dist: dist, Prefix: "shop-webhooks"}
	webhooks, err := surehook.New(stack, "Webhooks", props)
	if err != nil {
		fmt.Println(err)
		return
	}

	// The senders have the same props. Deliver may call them from its first second, so
	// their stacks come first.
	senders, err := surehook.NewSenders(app, props)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, sender := range senders {
		stack.AddStackDependency(sender, jsii.String("deliver calls the sender"))
	}

	// The shop's backend has a key of its own, which its operator puts into the secret, and gets the API's
	// address.
	backend := awsiam.NewRole(stack, jsii.String("Backend"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil),
	})
	awssecretsmanager.NewSecret(stack, jsii.String("WebhooksKey"), nil).GrantRead(backend, nil)
	awscdk.NewCfnOutput(stack, jsii.String("WebhooksUrl"), &awscdk.CfnOutputProps{Value: webhooks.API.URL})

	template := assertions.Template_FromStack(stack, nil)
	for _, name := range []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize"} {
		template.HasResourceProperties(jsii.String("AWS::Lambda::Function"), map[string]any{"FunctionName": "shop-webhooks-" + name})
	}
	fmt.Println(*webhooks.Node().Path())
	for _, sender := range senders {
		assertions.Template_FromStack(sender, nil).HasResourceProperties(jsii.String("AWS::Lambda::Function"), map[string]any{"FunctionName": "shop-webhooks-sender"})
		fmt.Println(*sender.StackName())
	}
	// Output:
	// Shop/Webhooks
	// shop-webhooks-sender-us-east-1
}

// buildFunctions replaces `make build`. `make build` fills dist/arm64.
func buildFunctions() (string, error) {
	dist, err := os.MkdirTemp("", "dist-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize", "sender"} {
		if err := os.MkdirAll(filepath.Join(dist, name), 0o750); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dist, name, "bootstrap"), []byte("program"), 0o600); err != nil {
			return "", err
		}
	}
	return dist, nil
}
