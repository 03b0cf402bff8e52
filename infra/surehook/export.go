package surehook

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogsdestinations"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

const (
	exportName    = "export"         // folder of the function
	exportTimeout = 30 * time.Second // 20 s for an export, with its retries
	exportMemory  = 256              // MB: decode some lines, one request
)

// newExport makes the function that exports spans, and subscribes the function to the
// lines with spans: accepted events in the log of ingest, and attempts in the log of
// deliver. Logs sends no other line.
func newExport(p plan, f Functions) awslambda.Function {
	export := newFunction(p.Construct, "Export", p, functionProps{name: exportName, timeout: exportTimeout, memory: exportMemory, grant: grantExport})
	for _, s := range []struct {
		id, line string
		of       awslambda.Function
	}{
		{"SpansOfIngest", names.LineIngested, f.Ingest},
		{"SpansOfDeliver", names.LineAttempted, f.Deliver},
	} {
		awslogs.NewSubscriptionFilter(p.Construct, &s.id, &awslogs.SubscriptionFilterProps{
			LogGroup:      s.of.LogGroup(),
			Destination:   awslogsdestinations.NewLambdaDestination(export, nil),
			FilterPattern: awslogs.FilterPattern_StringValue(jsii.String("$.message"), jsii.String("="), &s.line),
		})
	}
	return export
}
