package surehook_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"surehook/infra/surehook"
)

// A shop has a stack of its own, and puts Surehook into it.
func Example() {
	dist, err := buildFunctions()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dist) //nolint:errcheck // it is below the system's temporary folder

	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("Shop"), nil)

	// Its environment is like prod, but smaller, and somebody is told of alarms.
	env, err := surehook.EnvironmentNamed("prod", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	env.Name = "shop"
	env.Concurrency.Live = 20
	env.AlarmEmail = "oncall@shop.example"

	webhooks, err := surehook.New(stack, "Webhooks", surehook.Props{Environment: env, Dist: dist, Prefix: "shop-webhooks"})
	if err != nil {
		fmt.Println(err)
		return
	}

	// The shop's backend may read the first API key, and learns where the API is.
	backend := awsiam.NewRole(stack, jsii.String("Backend"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil),
	})
	webhooks.Secrets.AdminKey.GrantRead(backend, nil)
	awscdk.NewCfnOutput(stack, jsii.String("WebhooksUrl"), &awscdk.CfnOutputProps{Value: webhooks.API.URL})

	template := assertions.Template_FromStack(stack, nil)
	for _, name := range []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize"} {
		template.HasResourceProperties(jsii.String("AWS::Lambda::Function"), map[string]any{"FunctionName": "shop-webhooks-" + name})
	}
	fmt.Println(*webhooks.Node().Path())
	// Output: Shop/Webhooks
}

// buildFunctions stands for `make build`, which fills dist/arm64.
func buildFunctions() (string, error) {
	dist, err := os.MkdirTemp("", "dist-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize"} {
		if err := os.MkdirAll(filepath.Join(dist, name), 0o750); err != nil {
			return "", err
		}
	}
	return dist, nil
}
