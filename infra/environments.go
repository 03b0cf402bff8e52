package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"surehook/internal/names"
)

// Environment is everything in which one deployment differs from another.
type Environment struct {
	Name string // dev, staging, prod or local

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
			Concurrency:  Concurrency{Live: 5, Retry: 2, Replay: 2, Circuits: 5},
			BreakerTick:  time.Minute,
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
			Concurrency:  Concurrency{Live: 20, Retry: 10, Replay: 5, Circuits: 10},
			BreakerTick:  time.Minute,
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
			Concurrency:  Concurrency{Live: 200, Retry: 100, Replay: 50, Circuits: 20},
			BreakerTick:  time.Minute,
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
			Concurrency:  Concurrency{Live: 4, Retry: 2, Replay: 2, Circuits: 2},
			BreakerTick:  time.Minute,
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

// Validate reports everything that must not be deployed.
func (e Environment) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("environment %s: "+format, append([]any{e.Name}, args...)...))
		}
	}
	local := e.Name == "local"
	fault(e.Egress != names.EgressPublic && e.Egress != names.EgressLoopback, "egress %q is unknown", e.Egress)
	fault(e.Egress == names.EgressLoopback && !local, "egress %q would let customers reach our own network: it is for the local stack only", e.Egress)
	fault(e.Architecture != "arm64" && e.Architecture != "amd64", "architecture %q is not arm64 or amd64", e.Architecture)
	fault(e.Retention < day, "retention of %v is less than a day", e.Retention)
	most := e.Throttles.Default
	for _, t := range []Throttle{most, e.Throttles.Events, e.Throttles.Batch, e.Throttles.Public} {
		fault(t.PerSecond < 1 || t.Burst < 1, "throttle of %d requests a second, burst %d, lets nothing in", t.PerSecond, t.Burst)
		fault(t.PerSecond > most.PerSecond || t.Burst > most.Burst, "throttle of %d requests a second, burst %d, is above the default", t.PerSecond, t.Burst)
	}
	for _, n := range []int{e.Concurrency.Live, e.Concurrency.Retry, e.Concurrency.Replay, e.Concurrency.Circuits} {
		fault(n < 2 || n > 1000, "concurrency of a queue is %d: Lambda takes 2 to 1000", n)
	}
	fault(e.BreakerTick < time.Minute || e.BreakerTick%time.Minute != 0, "a breaker tick every %v: the Scheduler takes whole minutes", e.BreakerTick)
	return errors.Join(faults...)
}
