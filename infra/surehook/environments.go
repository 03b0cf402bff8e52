package surehook

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"

	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/names"
)

// Environment holds every difference between two deployments. EnvironmentNamed
// returns the standard environments. An embedding app can change a standard
// environment or define a new environment.
type Environment struct {
	// Name is dev, staging, prod or local, or a name from an embedding app. Two
	// deployments of one environment in one account and region need different
	// prefixes.
	Name string

	// Choices are the settings of the functions. The stacks of Senders are from NewSenders. An empty
	// Validation is names.ValidationOff, and an empty Envelope names.EnvelopeStandard.
	Choices

	// LogDays is the lifetime of log lines, in days that CloudWatch takes, such as 30 or 90.
	LogDays int
	// Protected data outlives the stack: the table refuses deletion, and
	// CloudFormation retains the table and the sealing key.
	Protected bool
	// SealingKey is the ARN of a KMS key of yours that seals the endpoints' secrets, in the stack's
	// region; empty for a key that the stack makes. It can never change: nothing else opens what it
	// sealed. Its policy must let the account's roles use it.
	SealingKey string
	// PermissionsBoundary is the ARN of a policy that bounds every role of the stack; empty for none.
	PermissionsBoundary string
	// PointInTimeRecovery keeps 35 days of backups of the table.
	PointInTimeRecovery bool
	// WarmThroughput is the throughput of a new table from the first second.
	// The zero value means DynamoDB's default.
	WarmThroughput WarmThroughput

	// Throttles bound the requests to the API, route by route.
	Throttles Throttles
	// Concurrency bounds the batches in progress, queue by queue.
	Concurrency Concurrency

	// Thresholds are the limits of the alarms.
	Thresholds Thresholds
	// AlarmEmail receives the alarms and the operational events; empty for
	// nobody. AWS first sends a confirmation link to the address.
	AlarmEmail string
	// Domain is the custom domain of the API, and then its only name. Without a
	// domain, the API has the name from AWS.
	Domain Domain
	// Archive exports the table's changes to S3 every day. The archive needs
	// PointInTimeRecovery.
	Archive bool

	// Producers are AWS principals of other accounts, as ARNs, that may send to the events queue.
	Producers []string
	// Events are the events of EventBridge.
	Events EventBus

	// FixedZones is the number of availability zones, 0 to 2, with a fixed source address
	// for the field egress of endpoints. Each zone costs a NAT gateway, about $33 a month
	// and more with its traffic.
	FixedZones int
	// FixedAllocations are elastic IP addresses of yours for the zones, one for each. Without
	// them, the stack makes the addresses.
	FixedAllocations []Allocation

	// Private is a network with private receivers, for the field egress of endpoints.
	Private Private

	// Architecture is the functions' architecture in Go's terms: arm64 or
	// amd64.
	Architecture string
}

// Allocation is an elastic IP address.
type Allocation struct {
	ID      string // such as eipalloc-0a1b2c3d
	Address string // IPv4
}

// EventBus is a bus of EventBridge with events for Surehook. The zero EventBus is none.
type EventBus struct {
	// Bus is the bus's name or ARN, in the stack's account and region.
	Bus string
	// Pattern is the event pattern of the rule, in JSON, such as {"source": ["com.example.orders"]}.
	Pattern string
	// TenantPath is the path of the tenant in the events, names with dots between; empty
	// for detail.tenant.
	TenantPath string
}

// Choices are the settings of the functions that whoever deploys chooses.
type Choices = config.Choices

// Portal is the appearance of the tenants' portal. The zero Portal has Surehook's
// appearance, and no other page may embed the portal.
type Portal = names.Portal

// WarmThroughput is the throughput of the table, and of each index, without a
// growth phase: units per second. On-demand capacity grows from there, at most
// to double the previous peak within 30 minutes.
//
// A new on-demand table starts at 4,000 write and 12,000 read units per second.
// At most Events.PerSecond + 100 x Batch.PerSecond events arrive per second, and
// an event with one first-try delivery takes at most 3 write and 5 read units
// (docs/cost.md, "delivered alone"):
//
//	dev      50 + 100 x  5 =   550 events/s    1,650 write    2,750 read units/s
//	staging 200 + 100 x 10 = 1,200 events/s    3,600 write    6,000 read units/s
//	prod  1,000 + 100 x 50 = 6,000 events/s   18,000 write   30,000 read units/s
//
// So the default of a new table carries dev and staging, and prod until its posts take 4,000 write
// units a second; prod's traffic seldom begins there, so it is off.
//
// Events with several endpoints and retries take more units. One partition key
// serves at most 1,000 write and 3,000 read units per second at any warm
// throughput.
//
// AWS charges an increase once. A later decrease is not possible.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
type WarmThroughput struct {
	ReadUnits, WriteUnits int
}

// Throttle bounds the requests of all callers to one route. API Gateway answers
// excess requests with 429 and does not call the function.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html
type Throttle struct {
	PerSecond int // sustained requests per second
	Burst     int // simultaneous requests
}

// Throttles are the throttles of the routes. No throttle exceeds Default, the
// upper bound of every route.
type Throttles struct {
	Default Throttle // all routes without a throttle below
	Events  Throttle // single events
	Batch   Throttle // batches of up to 100 events; the limit protects deliver
	Public  Throttle // each route of the API's documents, without a key; readers are people, not backends
	Pages   Throttle // each route of the console and the portal; a page loads about six files
}

// Concurrency is the number of batches in progress per queue, 2 to 1,000, and the
// ceiling of senders of the own region.
//
// Deliver, breaker and replay together take the sum of the queues from the account's
// concurrency. Leave room for the functions behind the API: an invocation of ingest
// lasts about 0.1 s, and 1 s with a batch, so 1,000 posts and 50 batches a second need
// 150. API Gateway caches the results of authorize. A reservation takes its executions from all other functions of
// the account and region, used or not:
//
//	dev       38 of queues +  12 of ingest  +  30 of sender-fixed
//	staging  105 of queues +  35 of ingest  +  75 of sender-fixed
//	prod     600 of queues + 170 of ingest  + 230 of sender-fixed
type Concurrency struct {
	Live, Retry, Replay int // queues of deliver
	Events              int // of ingest: the events queue
	Slots               int // of deliver: in-flight slots, the queues slot and overflow together, 4 to 1,000
	Coalesce            int // of deliver: the queue coalesce
	Circuits            int // of breaker
	ReplayJobs          int // of replay: the number of job pages in progress

	// FixedSender is the ceiling of sender-fixed, of environments with FixedZones, and of
	// sender-private, of those with Private, each: its attempts at the same time. Above the ceiling
	// Lambda refuses the call, nothing is sent, and the message returns with its back-off. Without
	// a ceiling the function can take all executions of the account: a batch of deliver makes ten
	// attempts at once. Zero for no ceiling. More than Slots, so that slow endpoints leave room for
	// others.
	FixedSender int
	// Account is the quota of concurrent executions that the account has in the
	// region, at least: 1,000 by default, and 10 in a new account. `make smoke`
	// compares the settings with the real quota.
	Account int
}

// AWS keeps this many executions of an account for functions without a reservation.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
const unreservedConcurrency = 100

// Requests per execution and second. Package scale holds the numbers to the arithmetic of
// docs/cost.md.
const (
	postsPerExecution   = 10 // an invocation with one event takes less than 0.1 s
	batchesPerExecution = 1  // with a batch of 100 events less than 1 s
)

// ingest returns the executions of ingest: those that the throttles let through, and those of
// the events queue.
func (e Environment) ingest() int {
	t := e.Throttles
	return t.Events.PerSecond/postsPerExecution + t.Batch.PerSecond/batchesPerExecution + e.Concurrency.Events
}

// ceilings returns the executions reserved for the senders of the own region.
func (e Environment) ceilings() int { return e.ownSenders() * e.Concurrency.FixedSender }

// executions returns the concurrent executions of the environment: the queues at their
// limits, ingest at its throttles and its queue, and the ceilings of sender-fixed and
// sender-private.
func (e Environment) executions() int {
	c := e.Concurrency
	return c.Live + c.Retry + c.Replay + c.Slots + c.Coalesce + c.Circuits + c.ReplayJobs + e.ingest() + e.ceilings()
}

// Lambda's bounds of the maximum concurrency of an event source.
// https://docs.aws.amazon.com/lambda/latest/api/API_ScalingConfig.html
const (
	leastConcurrency = 2
	mostConcurrency  = 1000
)

// reserve returns the concurrency of the queue slot: a tenth of the slots. A tenant
// holds a few shares of the reserve, so the task of another tenant finds a free
// share.
func (c Concurrency) reserve() int { return max(leastConcurrency, c.Slots/10) }

// overflow returns the concurrency of the queue overflow: the slots outside the
// reserve, for all tenants. So one tenant alone gets 90 % of the slots or more, if
// there are 20 or more.
func (c Concurrency) overflow() int { return c.Slots - c.reserve() }

// tenantShares returns the shares of a tenant in the reserve: a quarter.
func (c Concurrency) tenantShares() int { return max(1, c.reserve()/4) }

// Thresholds are the alarms' upper limits; SuccessRate is a lower limit. Counts
// are per alarm period: five minutes, unless the name says otherwise. The alarms of
// IngestErrors, FunctionErrors, TableThrottles and ScheduleFailures go off after two
// of three periods above the limit.
type Thresholds struct {
	DeadLettersPerHour int           // deliveries that died in an hour
	AtRiskPerHour      int           // endpoints whose first loss came near in an hour
	OldestPending      time.Duration // age of a queue's oldest message, without the message's delay
	SuccessRate        float64       // percent of the deliveries settled in the last hour, 0 to 100
	IngestErrors       int           // API answers with 5xx
	FunctionErrors     int           // failed, or throttled, invocations of one function
	TableThrottles     int           // throttled reads, or writes, of the table or an index
	ScheduleFailures   int           // failed calls of schedule targets
}

// Domain is a custom domain for the API. The deployer creates the DNS record:
// an alias of the outputs DomainTarget and DomainZoneId.
type Domain struct {
	Name           string // such as hooks.example.com; empty for none
	CertificateARN string // the domain's ACM certificate in the stack's region
}

// day is one day. Package time has no unit above hours.
const day = 24 * time.Hour

// environments returns all environments. The local environment gets localArch.
func environments(localArch string) []Environment {
	dev := Environment{
		Name:        "dev",
		Choices:     Choices{Retention: 30 * day, Egress: names.EgressPublic},
		LogDays:     7,
		Throttles:   throttles(50, 5, 5, 25),
		Concurrency: Concurrency{Events: 2, Live: 5, Retry: 2, Replay: 2, Slots: 20, Coalesce: 2, Circuits: 5, ReplayJobs: 2, FixedSender: 30, Account: 1000},
		Thresholds: Thresholds{
			DeadLettersPerHour: 100, OldestPending: 30 * time.Minute, SuccessRate: 90,
			IngestErrors: 5, FunctionErrors: 5, TableThrottles: 5, ScheduleFailures: 0,
		},
		Architecture: "arm64",
	}

	staging := dev
	staging.Name, staging.Retention, staging.LogDays = "staging", 90*day, 30
	staging.PointInTimeRecovery = true
	staging.Throttles = throttles(200, 10, 10, 50)
	staging.Concurrency = Concurrency{Events: 5, Live: 20, Retry: 10, Replay: 5, Slots: 50, Coalesce: 5, Circuits: 10, ReplayJobs: 5, FixedSender: 75, Account: 1000}
	staging.Thresholds.SuccessRate, staging.Thresholds.IngestErrors = 95, 1

	prod := staging
	prod.Name, prod.LogDays = "prod", 90
	prod.Protected, prod.Archive = true, true
	prod.Throttles = throttles(1000, 50, 10, 50)
	prod.Concurrency = Concurrency{Events: 20, Live: 200, Retry: 100, Replay: 50, Slots: 200, Coalesce: 20, Circuits: 20, ReplayJobs: 10, FixedSender: 230, Account: 1000}
	prod.Thresholds = Thresholds{DeadLettersPerHour: 100, OldestPending: 30 * time.Minute, SuccessRate: 95} // the others alarm at the first

	local := dev
	local.Name, local.LogDays = "local", 1
	local.Throttles = throttles(1000, 50, 100, 100)
	local.Concurrency = Concurrency{Events: 2, Live: 4, Retry: 2, Replay: 2, Slots: 10, Coalesce: 2, Circuits: 2, ReplayJobs: 2, FixedSender: 15, Account: 1000}
	local.Thresholds = Thresholds{DeadLettersPerHour: 10, OldestPending: 30 * time.Minute, SuccessRate: 95}
	local.Architecture, local.Egress = localArch, names.EgressLoopback

	return []Environment{dev, staging, prod, local}
}

// throttles returns the throttles with these requests a second: of single events and of any other
// route, of batches, of the documents, and of the pages. A burst is two seconds of requests.
func throttles(events, batch, public, pages int) Throttles {
	of := func(n int) Throttle { return Throttle{PerSecond: n, Burst: 2 * n} }
	return Throttles{Default: of(events), Events: of(events), Batch: of(batch), Public: of(public), Pages: of(pages)}
}

// EnvironmentNamed returns the environment with the name. arch is for "local"
// alone, because local functions run on this machine: arm64 or amd64, empty for
// the architecture of this program.
func EnvironmentNamed(name, arch string) (Environment, error) {
	const choices = "-c env=dev|staging|prod|local"
	if name == "" {
		return Environment{}, errors.New("no environment chosen: say " + choices)
	}
	for _, env := range environments(cmp.Or(arch, runtime.GOARCH)) {
		if env.Name != name {
			continue
		}
		if arch != "" && arch != env.Architecture {
			return Environment{}, fmt.Errorf("environment %s runs on %s: -c arch=%s is for env=local", name, env.Architecture, arch)
		}
		return env, env.Validate()
	}
	return Environment{}, fmt.Errorf("unknown environment %q: say %s", name, choices)
}
