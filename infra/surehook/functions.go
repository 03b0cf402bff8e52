package surehook

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// Timeouts of the functions.
const (
	apiTimeout       = 29 * time.Second // just below the 30 s limit of an HTTP API; a longer request gets 503
	deliverTimeout   = 60 * time.Second // 30 s for an endpoint, the rest for loading and settling
	breakerTimeout   = 60 * time.Second // a wave of 500 deliveries, or a tick with 200 endpoints
	replayTimeout    = 60 * time.Second // one page of a job; API callers wait at most half as long
	authorizeTimeout = 5 * time.Second  // one read, two at a cold start, and one write per key and day
)

// Memory in MB. The memory also sets the share of a CPU: 1,769 MB is one CPU.
const (
	// pathMemory is for the functions on the path of every event. They wait for AWS and
	// for endpoints: a post takes some 1.2 ms of a processor, and a delivery 0.45 ms.
	// See docs/adr/31.
	pathMemory = 160
	// workMemory is for functions that read and write pages and waves of deliveries,
	// or sort many records.
	workMemory = 512
	// authorizeMemory is for one read and one hash. API Gateway caches the
	// answer.
	authorizeMemory = 256
)

// Batch sizes: messages per invocation at most.
const (
	// messageBatch messages run concurrently, so the slowest of ten adds little
	// delay for the others.
	messageBatch = 10
	// slotBatch is one task: the invocation is the in-flight slot, and delays no
	// other task.
	slotBatch = 1
	// coalesceBatch tasks become one request: hook.MaxCoalesceEvents.
	coalesceBatch = 100
	// coalesceGather is the wait for the tasks of a window: hook.CoalesceGather.
	coalesceGather = 2 * time.Second
	// streamBatch is the most that Lambda allows: the breaker looks at an event once, and
	// the later, the fewer deliveries are still queued. A batch has 6 MB at most.
	streamBatch = 10_000
	// streamGather is the longest that Lambda allows, for the same reason.
	streamGather = 5 * time.Minute
	// jobBatch is one page of one job. The page has the invocation's whole
	// time.
	jobBatch = 1
)

// functionNames returns the folders below dist of the functions in every
// environment.
func functionNames() []string {
	return []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize"}
}

// Functions are the Lambda functions of the stack.
type Functions struct {
	Ingest, Deliver, Breaker, Replay, Manage, Authorize awslambda.Function
	// Export exports spans; nil in an environment without traces.
	Export awslambda.Function
	// Fixed is the sender with fixed addresses; zero in an environment without zones.
	Fixed Fixed
	// Private is the sender in the private network; nil in an environment without one.
	Private awslambda.Function
}

// newFunctions makes the functions and connects deliver, breaker and replay to
// their queues. Each function has a role with only the function's own
// permissions.
func newFunctions(p plan) Functions {
	p.settings = allSettings(p)
	p.Functions.Fixed = newFixed(p)
	inside := newNetwork(p)
	f := Functions{
		Fixed:   p.Functions.Fixed,
		Private: newPrivate(p, inside),
		Ingest:  newFunction(p.Construct, "Ingest", p, functionProps{name: "ingest", timeout: apiTimeout, memory: pathMemory, grant: grantIngest}),
		Deliver: newFunction(p.Construct, "Deliver", p, functionProps{name: "deliver", timeout: deliverTimeout, memory: pathMemory, grant: grantDeliver}),
		Breaker: newFunction(p.Construct, "Breaker", p, functionProps{name: "breaker", timeout: breakerTimeout, memory: workMemory, grant: grantBreaker}),
		// "Replay" is already the construct id of the replay queue in this
		// scope.
		Replay:    newFunction(p.Construct, "Replayer", p, functionProps{name: "replay", timeout: replayTimeout, memory: workMemory, grant: grantReplay}),
		Manage:    newFunction(p.Construct, "Manage", p, functionProps{name: "manage", timeout: apiTimeout, memory: workMemory, grant: grantManage}),
		Authorize: newFunction(p.Construct, "Authorize", p, functionProps{name: "authorize", timeout: authorizeTimeout, memory: authorizeMemory, grant: grantAuthorize}),
	}
	if p.Environment.Destinations != "" {
		f.Manage.AddEnvironment(jsii.String("SUREHOOK_PRINCIPAL"), f.Deliver.Role().RoleArn(), nil)
	}
	if len(p.Functions.Fixed.public) > 0 {
		f.Manage.AddEnvironment(jsii.String("SUREHOOK_FIXED_ADDRESSES"), awscdk.Fn_Join(jsii.String(","), &p.Functions.Fixed.public), nil)
	}
	p.Functions = f
	connectPrivate(p, inside)
	addQueues(p)
	addStream(f.Breaker, p.Table)
	if p.Environment.Traces != "" {
		f.Export = newExport(p, f)
	}
	return f
}

// source is a queue with its consumer.
type source struct {
	watched[awssqs.Queue]

	to                 awslambda.Function
	batch, concurrency int
	gather             time.Duration
	by, holds          string        // the function, and a message of the queue, in words
	delay              time.Duration // of messages that are sent at once, although they are due later
}

// work returns the queues with a consumer, the queues of deliver first. Healthy queues drain. A retry,
// a circuit check, or an event past a limit, due within 15 minutes is sent at once with a delay. The
// queues without one here delay a message by at most a minute.
func (p plan) work() []source {
	q, f, atOnce := p.Queues, p.Functions, p.Environment.Concurrency
	of := func(name, id string, queue awssqs.Queue) watched[awssqs.Queue] {
		return watched[awssqs.Queue]{name, id, queue}
	}
	return []source{
		{of("live", "Live", q.Live), f.Deliver, messageBatch, atOnce.Live, 0, "deliver", "A delivery on the live queue", 0},
		{of("retry", "Retry", q.Retry), f.Deliver, messageBatch, atOnce.Retry, 0, "deliver", "A delivery on the retry queue", maxDelay},
		{of("replay", "Replay", q.Replay), f.Deliver, messageBatch, atOnce.Replay, 0, "deliver", "A delivery on the replay queue", 0},
		{of("slot", "Slot", q.Slot), f.Deliver, slotBatch, atOnce.reserve(), 0, "deliver", "A delivery on the slot queue", 0},
		{of("overflow", "Overflow", q.Overflow), f.Deliver, slotBatch, atOnce.overflow(), 0, "deliver", "A delivery on the overflow queue", 0},
		{of("coalesce", "Coalesce", q.Coalesce), f.Deliver, coalesceBatch, atOnce.Coalesce, coalesceGather, "deliver", "A delivery on the coalesce queue", maxDelay},
		{of("events", "Events", q.Events), f.Ingest, messageBatch, atOnce.Events, 0, "ingest", "A message of the events queue", maxDelay},
		{of("circuits", "Circuits", q.Circuits), f.Breaker, messageBatch, atOnce.Circuits, 0, "breaker", "A circuit check", maxDelay},
		{of("replay jobs", "ReplayJobs", q.ReplayJobs), f.Replay, jobBatch, atOnce.ReplayJobs, 0, "replay", "A page of a replay job", maxDelay},
	}
}

// addQueues connects the functions to their queues. Each queue has a separate limit, so
// a flood of retries or a large replay leaves capacity for first attempts.
func addQueues(p plan) {
	for _, source := range p.work() {
		options := &awslambda.EventSourceMappingOptions{
			EventSourceArn:          source.resource.QueueArn(),
			BatchSize:               jsii.Number(source.batch),
			MaxConcurrency:          jsii.Number(source.concurrency),
			ReportBatchItemFailures: jsii.Bool(true),
		}
		if source.gather > 0 {
			options.MaxBatchingWindow = seconds(source.gather)
		}
		// CDK's class for queues would put the stack's name into the logical id.
		source.to.AddEventSourceMapping(&source.id, options)
		source.resource.GrantConsumeMessages(source.to)
	}
}

// addStream connects the function to the changes of the table that make deliveries queued:
// stored events, and deliveries with a replay. Lambda reads the stream for free, and filters
// before it invokes. Failed records come again until they leave the stream after a day.
func addStream(f awslambda.Function, table awsdynamodb.ITableV2) {
	written := awslambda.FilterRule_Or(jsii.String("INSERT"), jsii.String("MODIFY"))
	event := map[string]any{"Keys": map[string]any{names.SortKey: map[string]any{"S": awslambda.FilterRule_IsEqual("event")}}}
	replayed := map[string]any{"NewImage": map[string]any{"replayed": map[string]any{"M": map[string]any{"generation": map[string]any{"N": awslambda.FilterRule_Exists()}}}}}
	var filters []*map[string]any
	for _, change := range []map[string]any{event, replayed} {
		filters = append(filters, awslambda.FilterCriteria_Filter(&map[string]any{"eventName": written, "dynamodb": change}))
	}
	f.AddEventSourceMapping(jsii.String("Stream"), &awslambda.EventSourceMappingOptions{
		EventSourceArn:     table.TableStreamArn(),
		StartingPosition:   awslambda.StartingPosition_TRIM_HORIZON,
		BatchSize:          jsii.Number(streamBatch),
		MaxBatchingWindow:  seconds(streamGather),
		BisectBatchOnError: jsii.Bool(true),
		Filters:            &filters,
	})
}

// functionProps holds the differences between the functions.
type functionProps struct {
	name    string // after the prefix
	folder  string // below dist; empty: the name
	timeout time.Duration
	memory  int // MB
	grant   func(awsiam.Role, plan)
	// reserved executions: no other function takes them, and the function takes no
	// more; 0 for none.
	reserved int
	vpc      awsec2.IVpc // nil: the network of Lambda
	groups   *[]awsec2.ISecurityGroup
}

// chained returns the functions fed by a queue or a schedule. An event past a tenant's limit
// goes round in the events queue, and a delivery's tasks
// pass through such a function once per attempt, and more often under limits.
// Lambda stops a chain of queue and function after about 16 rounds and moves the
// message to the queue's dead-letter queue, unless the function allows recursion.
// Surehook bounds the chains itself: see hook.MaxHops.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
func chained() []string { return []string{"ingest", "deliver", "breaker", "replay"} }

// recursion allows the chained functions, and the senders: deliver calls a sender once
// per attempt of the chain.
func recursion(f functionProps) awslambda.RecursiveLoop {
	if slices.Contains(chained(), f.name) || cmp.Or(f.folder, f.name) == senderName {
		return awslambda.RecursiveLoop_ALLOW
	}
	return awslambda.RecursiveLoop_TERMINATE
}

// memoryLimit returns the limit of the Go runtime in a function with the memory, in MB: three
// quarters. The rest is for the program's pages and for memory that the runtime does not
// count. Near the limit the runtime collects garbage earlier than at names.CollectAt.
func memoryLimit(memory int) string { return strconv.Itoa(memory*3/4) + "MiB" }

func newFunction(scope constructs.Construct, id string, p plan, f functionProps) awslambda.Function {
	name, folder := p.Prefix+"-"+f.name, cmp.Or(f.folder, f.name)
	logs := newLogs(scope, id+"Logs", "/aws/lambda/"+name, p)
	// Lambda's managed policy would allow writes to every log group.
	role := newRole(scope, id+"Role", "Permissions of the function "+name, "lambda.amazonaws.com", nil)
	allow(role, "logs:CreateLogStream", "logs:PutLogEvents").on(logs.LogGroupArn())
	f.grant(role, p)
	architecture := awslambda.Architecture_ARM_64()
	if p.Environment.Architecture == "amd64" {
		architecture = awslambda.Architecture_X86_64()
	}
	var reserved *float64
	if f.reserved > 0 {
		reserved = jsii.Number(f.reserved)
	}
	return awslambda.NewFunction(scope, &id, &awslambda.FunctionProps{
		FunctionName:   &name,
		Runtime:        awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:   architecture,
		Handler:        jsii.String("bootstrap"),
		Code:           p.code(folder),
		Role:           role,
		Vpc:            f.vpc,
		SecurityGroups: f.groups,
		Timeout:        seconds(f.timeout),
		MemorySize:     jsii.Number(f.memory),
		Environment:    functionVariables(p.settings, p.Prefix, folder, f.memory),
		LogGroup:       logs,
		LoggingFormat:  awslambda.LoggingFormat_JSON,
		// Lambda's own log lines repeat the metrics and cost money per byte.
		SystemLogLevelV2: awslambda.SystemLogLevel_WARN,
		Tracing:          awslambda.Tracing_DISABLED,
		RecursiveLoop:    recursion(f),

		ReservedConcurrentExecutions: reserved,
	})
}

// code returns the code of the function in a folder of Dist.
func (p plan) code(folder string) awslambda.Code {
	if p.release != nil {
		return awslambda.Code_FromBucket(p.release.bucket, jsii.String(p.release.folder+"/"+folder+".zip"), nil)
	}
	return awslambda.Code_FromAsset(jsii.String(filepath.Join(p.Dist, folder)), nil)
}

// checkDist reports a function without a built program below dist. CDK would accept
// an empty folder, and the deployed function would not start.
func checkDist(dist string, env Environment) error {
	all := functionNames()
	if env.Traces != "" {
		all = append(all, exportName)
	}
	if env.senders() {
		all = append(all, senderName)
	}
	for _, name := range all {
		program := filepath.Join(dist, name, "bootstrap")
		if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return fmt.Errorf("function %s is not built: %s is missing or empty (run make build, or set the folder with -c dist=DIR)", name, program)
		}
	}
	return nil
}
