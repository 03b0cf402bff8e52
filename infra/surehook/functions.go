package surehook

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// Timeouts of the functions.
const (
	apiTimeout       = 29 * time.Second // just below the 30 s after which an HTTP API answers 503 itself
	deliverTimeout   = 60 * time.Second // an endpoint may take 30 s; the rest is for loading and settling
	breakerTimeout   = 60 * time.Second // a wave of 500 deliveries, or a tick that finds 200 endpoints
	replayTimeout    = 60 * time.Second // a page of a job; its callers behind the API wait half as long at most
	authorizeTimeout = 5 * time.Second  // one read, two at a cold start, and one write per key and day
)

// Memory in MB, which is also the share of a CPU (1,769 MB is a whole one).
const (
	// workMemory is for functions that wait for AWS and for endpoints, but meet
	// bursts of TLS handshakes, signing and compression, and a cold start.
	workMemory = 512
	// authorizeMemory is for one read and one hash, whose answer is cached.
	authorizeMemory = 256
)

// Messages that an invocation gets at most.
const (
	// messageBatch are worked on at once, so the slowest of ten costs the others little.
	messageBatch = 10
	// jobBatch is one job's page, which has the whole time of its invocation.
	jobBatch = 1
)

// functionNames returns the folders below dist, one per function.
func functionNames() []string {
	return []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize"}
}

// Functions are the Lambda functions of the stack.
type Functions struct {
	Ingest, Deliver, Breaker, Replay, Manage, Authorize awslambda.Function
}

// FunctionsProps says what NewFunctions makes.
type FunctionsProps struct {
	Prefix      string // of the functions' names
	Environment Environment
	Dist        string // folder of the built functions
	Table       awsdynamodb.Table
	Queues      Queues
	Secrets     Secrets
	Schedules   Schedules
	Topic       awssns.Topic
}

// NewFunctions makes the functions, each with a role of its own that holds its
// own permissions only, and puts deliver, breaker and replay behind their queues.
func NewFunctions(scope constructs.Construct, p FunctionsProps) Functions {
	f := Functions{
		Ingest:  newFunction(scope, "Ingest", p, functionProps{"ingest", apiTimeout, workMemory, ingestEnv(p), grantIngest}),
		Deliver: newFunction(scope, "Deliver", p, functionProps{"deliver", deliverTimeout, workMemory, deliverEnv(p), grantDeliver}),
		Breaker: newFunction(scope, "Breaker", p, functionProps{"breaker", breakerTimeout, workMemory, breakerEnv(p), grantBreaker}),
		// The lane of this name is a resource of the same scope.
		Replay:    newFunction(scope, "Replayer", p, functionProps{"replay", replayTimeout, workMemory, replayEnv(p), grantReplay}),
		Manage:    newFunction(scope, "Manage", p, functionProps{"manage", apiTimeout, workMemory, manageEnv(p), grantManage}),
		Authorize: newFunction(scope, "Authorize", p, functionProps{"authorize", authorizeTimeout, authorizeMemory, authorizeEnv(p), grantAuthorize}),
	}
	atOnce := p.Environment.Concurrency
	addQueue(f.Deliver, p.Queues.Live, messageBatch, atOnce.Live)
	addQueue(f.Deliver, p.Queues.Retry, messageBatch, atOnce.Retry)
	addQueue(f.Deliver, p.Queues.Replay, messageBatch, atOnce.Replay)
	addQueue(f.Breaker, p.Queues.Circuits, messageBatch, atOnce.Circuits)
	addQueue(f.Replay, p.Queues.ReplayJobs, jobBatch, atOnce.ReplayJobs)
	return f
}

// addQueue makes the function work on a queue. Each lane has its own limit, so
// that a flood of retries or a large replay leaves first attempts their share.
func addQueue(f awslambda.Function, queue awssqs.Queue, batch, concurrency int) {
	f.AddEventSource(awslambdaeventsources.NewSqsEventSource(queue, &awslambdaeventsources.SqsEventSourceProps{
		BatchSize:               jsii.Number(batch),
		MaxConcurrency:          jsii.Number(concurrency),
		ReportBatchItemFailures: jsii.Bool(true),
	}))
}

// functionProps is what distinguishes one function from another.
type functionProps struct {
	name    string // folder below dist
	timeout time.Duration
	memory  int // MB
	env     map[string]*string
	grant   func(awsiam.Role, FunctionsProps)
}

func newFunction(scope constructs.Construct, id string, p FunctionsProps, f functionProps) awslambda.Function {
	name := p.Prefix + "-" + f.name
	logs := awslogs.NewLogGroup(scope, jsii.String(id+"Logs"), &awslogs.LogGroupProps{
		LogGroupName: jsii.String("/aws/lambda/" + name),
		Retention:    p.Environment.LogRetention,
		// A retained group would be in the way of the next stack of this name.
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	// Lambda's managed policy would allow writing to every log group.
	role := awsiam.NewRole(scope, jsii.String(id+"Role"), &awsiam.RoleProps{
		Description: jsii.String("What the function " + name + " may do"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	allow(role, "logs:CreateLogStream", "logs:PutLogEvents").on(logs.LogGroupArn())
	f.grant(role, p)
	f.env[names.EnvEnvironment] = &p.Environment.Name

	architecture := awslambda.Architecture_ARM_64()
	if p.Environment.Architecture == "amd64" {
		architecture = awslambda.Architecture_X86_64()
	}
	return awslambda.NewFunction(scope, &id, &awslambda.FunctionProps{
		FunctionName:  &name,
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  architecture,
		Handler:       jsii.String("bootstrap"),
		Code:          awslambda.Code_FromAsset(jsii.String(filepath.Join(p.Dist, f.name)), nil),
		Role:          role,
		Timeout:       seconds(f.timeout),
		MemorySize:    jsii.Number(f.memory),
		Environment:   &f.env,
		LogGroup:      logs,
		LoggingFormat: awslambda.LoggingFormat_JSON,
		// Lambda's own lines of each invocation say what its metrics say, and are paid by the byte.
		SystemLogLevelV2: awslambda.SystemLogLevel_WARN,
		Tracing:          awslambda.Tracing_DISABLED,
	})
}

// checkDist reports a function that has no folder below dist, before CDK does
// so in the words of another language.
func checkDist(dist string) error {
	for _, name := range functionNames() {
		folder := filepath.Join(dist, name)
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("function %s is not built: there is no folder %s (-c dist=DIR says where)", name, folder)
		}
	}
	return nil
}
