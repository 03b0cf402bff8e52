// Command infra is the CDK app: the stack of one environment. What is in it is
// the package infra/surehook, which other apps can embed.
//
// The CDK command line runs it (see cdk.json) and tells it what to make by
// context:
//
//	-c env=dev|staging|prod|local   which environment; required
//	-c dist=DIR                     where the functions are built: DIR/<function>/bootstrap
//	-c arch=arm64|amd64             local only: the architecture they are built for
//	-c version=VERSION              the tag surehook:version of the resources
//	-c email=ADDRESS                who gets the alarms and operational events; nobody without
//	-c domain=NAME                  a name of one's own for the API, together with
//	-c certificate=ARN              the certificate for it, of ACM in the stack's region
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"surehook/infra/surehook"
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
	env, err := surehook.EnvironmentNamed(contextOf(app, "env", ""), contextOf(app, "arch", ""))
	if err != nil {
		return fmt.Errorf("choose the environment: %w", err)
	}
	env.AlarmEmail = contextOf(app, "email", "")
	env.Domain = surehook.Domain{Name: contextOf(app, "domain", ""), CertificateARN: contextOf(app, "certificate", "")}
	_, err = surehook.NewStack(app, surehook.Props{
		Environment: env,
		Dist:        contextOf(app, "dist", "../dist"),
		Version:     contextOf(app, "version", "dev"),
	})
	if err != nil {
		return fmt.Errorf("make the stack: %w", err)
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
