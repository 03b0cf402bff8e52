// Package surehook is a CDK construct for a whole Surehook deployment. It defines
// the AWS resources and the permissions of each function. With the functions it shares
// the names of package internal/names and the settings of package internal/config, and
// does not know what they do.
//
// # Entry points
//
// New adds a Surehook deployment to a stack of another app. NewStack makes the
// stack of the command infra: one such construct, checked against the AwsSolutions
// rules of cdk-nag.
//
// # Environments
//
// An Environment holds every difference between two deployments: retention,
// throttles, concurrency, alarm thresholds. EnvironmentNamed returns dev,
// staging, prod and local. Environment.Validate reports unsafe values before
// synthesis.
package surehook
