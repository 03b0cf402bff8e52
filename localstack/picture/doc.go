// Package picture draws a dashboard of CloudWatch without CloudWatch: it reads
// the dashboard out of a synthesised CloudFormation template, the metrics out of
// log lines in the Embedded Metric Format, and writes one SVG.
//
// It draws what there are values of, and says of everything else that only AWS
// has it; it makes nothing up. It knows nothing of how the values came to be.
package picture
