// Package picture draws a CloudWatch dashboard without CloudWatch. It reads the
// dashboard from a synthesised CloudFormation template and the metrics from log
// lines in the Embedded Metric Format, and writes one SVG.
//
// A widget without values says "from AWS, not on this machine". The package
// never invents values, and does not know where they come from.
package picture
