// Command infra is the CDK app. It makes the stack of one environment, and the stacks of its
// senders, from the construct in package infra/surehook. Other apps can embed the construct.
//
// The CDK command line runs the app (see cdk.json). Context values choose the stacks:
//
//	-c env=dev|staging|prod|local   the environment; required
//	-c prefix=PREFIX                the stack and the prefix of all names; default: surehook-ENV
//	-c dist=DIR                     the folder of the built functions: DIR/<function>/bootstrap
//	-c arch=arm64|amd64             local only: the architecture of the functions
//	-c host=NAME                    local only: one more host for deliveries, at private addresses
//	-c version=VERSION              the tag surehook:version of the functions; default: dev
//	-c protect=1                    terminate prod's stack never; not for its creation, which may fail and be removed
//	-c release=1                    a template to deploy without CDK, see surehook.NewRelease; not with senders
//	-c settings=FILE                the settings of the deployment, see settings.schema.json; default: none
//	-c NAME=VALUE                   one of those settings, in place of the file's
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/infra/surehook"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

// run writes the templates to the output folder of the CDK command line.
func run() error {
	defer jsii.Close()

	app := awscdk.NewApp(nil)
	env, err := surehook.EnvironmentNamed(contextOf(app, "env", ""), contextOf(app, "arch", ""))
	if err != nil {
		return fmt.Errorf("choose the environment: %w", err)
	}
	env.EgressHost = contextOf(app, "host", "")
	set, err := readSettings(contextOf(app, "settings", ""), func(name string) string { return contextOf(app, name, "") })
	if err != nil {
		return err
	}
	set.apply(&env)
	if err := newStacks(app, env, set.names()); err != nil {
		return err
	}
	app.Synth(nil)

	return nil
}

// newStacks makes the main stack and the stacks of the senders, or a release. The senders are
// deployed first, because deliver may call them as soon as it runs.
func newStacks(app awscdk.App, env surehook.Environment, settings []string) error {
	props := surehook.Props{
		Environment: env,
		Dist:        contextOf(app, "dist", "../dist"),
		Prefix:      contextOf(app, "prefix", ""),
		Version:     contextOf(app, "version", "dev"),
		Protect:     contextOf(app, "protect", "") != "",
		Settings:    settings,
	}
	if contextOf(app, "release", "") != "" {
		if len(env.Senders) > 0 {
			return errors.New("SENDERS does not go with -c release: each sender has a stack of its own")
		}
		if _, err := surehook.NewRelease(app, props); err != nil {
			return fmt.Errorf("make the release: %w", err)
		}
		return nil
	}
	stack, err := surehook.NewStack(app, props)
	if err != nil {
		return fmt.Errorf("make the stack: %w", err)
	}
	senders, err := surehook.NewSenders(app, props)
	if err != nil {
		return fmt.Errorf("make the senders: %w", err)
	}
	for _, sender := range senders {
		stack.AddStackDependency(sender, jsii.String("deliver calls the sender"))
	}
	return nil
}

// contextOf returns the value of -c key=..., or fallback if it is missing or empty.
func contextOf(app awscdk.App, key, fallback string) string {
	if value, ok := app.Node().TryGetContext(jsii.String(key)).(string); ok && value != "" {
		return value
	}
	return fallback
}
