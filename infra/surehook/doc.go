// Package surehook is a CDK construct for a whole Surehook deployment. The
// package defines the AWS resources and the permissions of each function. The
// construct and the functions share only package internal/names. The package
// does not know the functions' behavior.
//
// # Entry points
//
// New adds a Surehook to a stack of another app. NewStack makes the stack of
// the command infra: one such construct, checked against the AwsSolutions rules
// of cdk-nag.
//
// # Environments
//
// An Environment holds every difference between two deployments: retention,
// throttles, concurrency, alarm thresholds. EnvironmentNamed returns dev,
// staging, prod and local. Environment.Validate reports unsafe values before
// synthesis.
package surehook
