// Command infra is the CDK app: it says which AWS resources an environment has
// and what each function may do with them. It shares with the functions only
// the words of internal/names, and knows nothing of how they work.
//
// The CDK command line runs it (see cdk.json) and tells it what to make by
// context:
//
//	-c env=dev|staging|prod|local   which environment; required
//	-c dist=DIR                     where the functions are built: DIR/<function>/bootstrap
//	-c arch=arm64|amd64             local only: the architecture they are built for
//	-c version=VERSION              the tag surehook:version of the resources
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

// run writes the templates to where the CDK command line wants them.
func run() error {
	defer jsii.Close()

	app := awscdk.NewApp(nil)
	env, err := EnvironmentNamed(contextOf(app, "env", ""), contextOf(app, "arch", ""))
	if err != nil {
		return err
	}
	_, err = NewStack(app, "surehook-"+env.Name, StackProps{
		Environment: env,
		Dist:        contextOf(app, "dist", "../dist"),
		Version:     contextOf(app, "version", "dev"),
	})
	if err != nil {
		return err
	}
	app.Synth(nil)

	return nil
}

// contextOf returns the text that -c key=... gave, or fallback without one.
func contextOf(app awscdk.App, key, fallback string) string {
	if value, ok := app.Node().TryGetContext(jsii.String(key)).(string); ok && value != "" {
		return value
	}
	return fallback
}
