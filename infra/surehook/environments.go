package surehook

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"surehook/internal/names"
)

// Environment is everything in which one deployment differs from another.
// EnvironmentNamed returns ours; an app that embeds Surehook may change one of
// them, or write its own.
type Environment struct {
	// Name is dev, staging, prod or local, or another that an embedding app chose.
	// All metrics have it as their dimension, so that no two deployments in an
	// account and region share one.
	Name string

	// Retention is how long events, deliveries and attempts are kept in the table.
	Retention time.Duration
	// LogRetention is how long log lines are kept.
	LogRetention awslogs.RetentionDays
	// Protected data outlives the stack: the table refuses to be deleted, and it
	// and the key that its secrets are sealed under stay when the stack goes.
	Protected bool
	// PointInTimeRecovery keeps 35 days of backups of the table.
	PointInTimeRecovery bool

	// Throttles bound what the API lets in, route by route.
	Throttles Throttles
	// Concurrency bounds the work on the queues, queue by queue.
	Concurrency Concurrency
	// BreakerTick is how often the breaker looks for endpoints whose message on
	// the circuits queue was lost: whole minutes, for the Scheduler is no finer.
	BreakerTick time.Duration
	// Review is how often the breaker judges the endpoints that were active, and
	// Reconcile how often it takes from the dead letters what is dead no longer:
	// whole minutes too.
	Review, Reconcile time.Duration

	// Thresholds are what the alarms are raised at.
	Thresholds Thresholds
	// AlarmEmail gets the alarms and the operational events; empty for nobody. AWS
	// sends it a link first, to confirm.
	AlarmEmail string
	// Domain is where the API is, if not at the name that AWS gives it.
	Domain Domain
	// Archive exports a day's changes of the table to S3, every day. The table
	// needs PointInTimeRecovery for it.
	Archive bool

	// Architecture the functions are built for: arm64 or amd64, as Go has it.
	Architecture string
	// Egress is names.EgressPublic or, for the local stack only, names.EgressLoopback.
	Egress string
}

// Throttle bounds the requests to one route, from all callers together; the
// rest is answered with 429 before a function runs.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html
type Throttle struct {
	PerSecond int // requests a second in the long run
	Burst     int // requests that may come at once
}

// Throttles are the throttles of the routes. None is above the default, which
// is the most that any route of the stack lets in.
type Throttles struct {
	Default Throttle // endpoints, reads and keys, and whatever has none of its own
	Events  Throttle // events, one by one
	Batch   Throttle // up to 100 events by request: deliver is what these must not drown
	Public  Throttle // what is read without a key, each route: people do so, and backends do not
}

// Concurrency is how many batches of each queue are worked on at once, 2 to
// 1,000. Their sum is what deliver and breaker take of the account's concurrency
// (1,000 unless raised): leave room for the functions behind the API.
type Concurrency struct {
	Live, Retry, Replay int // lanes of deliver
	Circuits            int // of breaker
	ReplayJobs          int // of replay: as many jobs have a page made at once
}

// Thresholds are what an alarm is raised above, or below for SuccessRate. The
// counts are of what comes in the alarm's period, which is five minutes where
// the name does not say it.
type Thresholds struct {
	DeadLettersPerHour int           // deliveries that gave up in an hour
	OldestPending      time.Duration // age of a lane's oldest message, not counting how long it was held back
	SuccessRate        float64       // percent of the deliveries that ended in the last hour, 0 to 100
	IngestErrors       int           // requests that the API answered with 5xx
	FunctionErrors     int           // invocations of one function that failed; or that found no room
	TableThrottles     int           // reads, or writes, that the table or an index refused
	ScheduleFailures   int           // schedules that could not reach their target
}

// Domain is a name of the deployer's own for the API. The record in the DNS is
// left to them: an alias of the outputs DomainTarget and DomainZoneId.
type Domain struct {
	Name           string // such as hooks.example.com; empty for none
	CertificateARN string // certificate of ACM for the name, in the stack's region
}

// day is here because time has no unit beyond hours.
const day = 24 * time.Hour

// environments returns all environments, the local one for the architecture.
func environments(localArch string) []Environment {
	return []Environment{
		{
			Name:         "dev",
			Retention:    30 * day,
			LogRetention: awslogs.RetentionDays_ONE_WEEK,
			Throttles: Throttles{
				Default: Throttle{PerSecond: 50, Burst: 100},
				Events:  Throttle{PerSecond: 50, Burst: 100},
				Batch:   Throttle{PerSecond: 5, Burst: 10},
				Public:  Throttle{PerSecond: 5, Burst: 10},
			},
			Concurrency: Concurrency{Live: 5, Retry: 2, Replay: 2, Circuits: 5, ReplayJobs: 2},
			BreakerTick: time.Minute,
			Review:      15 * time.Minute,
			Reconcile:   15 * time.Minute,
			Thresholds: Thresholds{
				DeadLettersPerHour: 100, OldestPending: 30 * time.Minute, SuccessRate: 90,
				IngestErrors: 5, FunctionErrors: 5, TableThrottles: 5, ScheduleFailures: 0,
			},
			Architecture: "arm64",
			Egress:       names.EgressPublic,
		},
		{
			Name:                "staging",
			Retention:           90 * day,
			LogRetention:        awslogs.RetentionDays_ONE_MONTH,
			PointInTimeRecovery: true,
			Throttles: Throttles{
				Default: Throttle{PerSecond: 200, Burst: 400},
				Events:  Throttle{PerSecond: 200, Burst: 400},
				Batch:   Throttle{PerSecond: 10, Burst: 20},
				Public:  Throttle{PerSecond: 10, Burst: 20},
			},
			Concurrency: Concurrency{Live: 20, Retry: 10, Replay: 5, Circuits: 10, ReplayJobs: 5},
			BreakerTick: time.Minute,
			Review:      15 * time.Minute,
			Reconcile:   15 * time.Minute,
			Thresholds: Thresholds{
				DeadLettersPerHour: 100, OldestPending: 30 * time.Minute, SuccessRate: 95,
				IngestErrors: 1, FunctionErrors: 5, TableThrottles: 5, ScheduleFailures: 0,
			},
			Architecture: "arm64",
			Egress:       names.EgressPublic,
		},
		{
			Name:                "prod",
			Retention:           90 * day,
			LogRetention:        awslogs.RetentionDays_THREE_MONTHS,
			Protected:           true,
			PointInTimeRecovery: true,
			Throttles: Throttles{
				Default: Throttle{PerSecond: 1000, Burst: 2000},
				Events:  Throttle{PerSecond: 1000, Burst: 2000},
				Batch:   Throttle{PerSecond: 50, Burst: 100},
				Public:  Throttle{PerSecond: 10, Burst: 20},
			},
			Concurrency: Concurrency{Live: 200, Retry: 100, Replay: 50, Circuits: 20, ReplayJobs: 10},
			BreakerTick: time.Minute,
			Review:      15 * time.Minute,
			Reconcile:   15 * time.Minute,
			Thresholds: Thresholds{
				DeadLettersPerHour: 100, OldestPending: 30 * time.Minute, SuccessRate: 95,
				IngestErrors: 0, FunctionErrors: 0, TableThrottles: 0, ScheduleFailures: 0,
			},
			Archive:      true,
			Architecture: "arm64",
			Egress:       names.EgressPublic,
		},
		{
			Name:         "local",
			Retention:    7 * day,
			LogRetention: awslogs.RetentionDays_ONE_DAY,
			Throttles: Throttles{
				Default: Throttle{PerSecond: 1000, Burst: 2000},
				Events:  Throttle{PerSecond: 1000, Burst: 2000},
				Batch:   Throttle{PerSecond: 50, Burst: 100},
				Public:  Throttle{PerSecond: 100, Burst: 200},
			},
			Concurrency: Concurrency{Live: 4, Retry: 2, Replay: 2, Circuits: 2, ReplayJobs: 2},
			BreakerTick: time.Minute,
			Review:      15 * time.Minute,
			Reconcile:   15 * time.Minute,
			Thresholds: Thresholds{
				DeadLettersPerHour: 10, OldestPending: 30 * time.Minute, SuccessRate: 95,
				IngestErrors: 0, FunctionErrors: 0, TableThrottles: 0, ScheduleFailures: 0,
			},
			Architecture: localArch,
			Egress:       names.EgressLoopback,
		},
	}
}

// EnvironmentNamed returns the environment with the name. arch is for "local"
// alone, whose functions run on the machine at hand: arm64 or amd64, empty for
// the architecture this program was built for.
func EnvironmentNamed(name, arch string) (Environment, error) {
	const choices = "-c env=dev|staging|prod|local"
	if name == "" {
		return Environment{}, errors.New("no environment chosen: say " + choices)
	}
	localArch := arch
	if localArch == "" {
		localArch = runtime.GOARCH
	}
	for _, env := range environments(localArch) {
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
