package scale_test

import (
	"flag"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/proof/scale"
)

var write = flag.String("write", "", "the file to write the document to")

const root = "../../"

func read(t *testing.T, path string) string {
	t.Helper()

	b, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func inputs(t *testing.T) (scale.Settings, map[string]scale.Measured) {
	t.Helper()

	settings, err := scale.ReadTemplate([]byte(read(t, "infra/surehook/testdata/prod.template.json")))
	if err != nil {
		t.Fatal(err)
	}
	measured, err := scale.ReadCosts(read(t, "docs/cost.md"))
	if err != nil {
		t.Fatal(err)
	}
	return settings, measured
}

// TestScale compares docs/scale.md with what the template and docs/cost.md give. With -write, it writes
// the document instead.
func TestScale(t *testing.T) {
	t.Parallel()

	settings, measured := inputs(t)
	document := scale.Report(settings, measured)
	if *write != "" {
		if err := os.WriteFile(*write, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(read(t, "docs/scale.md"), document); diff != "" {
		t.Errorf("docs/scale.md does not follow from the template and docs/cost.md: run make scale (-document +computed)\n%s", diff)
	}
}

// TestConstants finds changes of the constants that package scale repeats from other packages.
func TestConstants(t *testing.T) {
	t.Parallel()

	for file, want := range map[string][]string{
		"internal/delivery/breaker/release.go": {"maxWave      = 500 ", "waveInterval = time.Second"},
		"internal/delivery/breaker/review.go":  {"reviewPage = 100", "20 s of the 60 s of an invocation"},
		"internal/hook/ref.go":                 {"MaxShards = 16"},
		"infra/surehook/environments.go":       {"prod     600 of queues + 170 of ingest  + 230 of sender-fixed", "FixedSender: 230", "postsPerExecution   = 10 ", "batchesPerExecution = 1 "},
	} {
		text := read(t, file)
		for _, want := range want {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not contain %q: change the constants and texts of package scale, too", file, want)
			}
		}
	}
}

// The executions of ingest (infra/surehook/environments.go) assume that one execution serves 10 posts, or
// one batch of 100 events, per second.
func TestIngestTime(t *testing.T) {
	t.Parallel()

	if one, batch := scale.IngestTime(1), scale.IngestTime(100); one > time.Second/10 || batch > time.Second {
		t.Errorf("an invocation of ingest takes %v with one event and %v with 100; want at most 100 ms and 1 s", one, batch)
	}
}

func settings() scale.Settings {
	return scale.Settings{
		Sources: []scale.Source{
			{Queue: "Live", Function: "Deliver", Batch: 10, Concurrency: 200},
			{Queue: "Retry", Function: "Deliver", Batch: 10, Concurrency: 100},
		},
		Throttles:  map[string]float64{scale.RouteEvents: 1000, scale.RouteBatch: 50},
		WriteUnits: 18_000, ReadUnits: 30_000,
	}
}

func usage() map[string]scale.Measured {
	return map[string]scale.Measured{scale.Alone: {WriteUnits: 2, ReadUnits: 3}, scale.InBatch: {WriteUnits: 2, ReadUnits: 2}}
}

// The figures are computed by hand: a batch takes 284 ms (30 of requests, 54 of work,
// 200 of the endpoints), and 200 functions with batches of 10 carry 7,052 a second. With
// 2 % hanging, 18.3 % of the batches take 10 s.
func TestLimits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		workload scale.Workload
		first    string
		want     map[string]float64
	}{
		{
			name:     "posted alone",
			workload: scale.Workload{Scenario: scale.Alone, PerPost: 1},
			first:    "throttle of the route",
			want: map[string]float64{
				"throttle of the route": 1000, "functions on the queue live": 2000 / 0.28362, "warm write units of the table": 9000,
				"warm read units of the table": 10_000, "write units of a table": 20_000,
				"functions for posts":                       700 / (0.03 + 0.01382),
				"functions for posts, with fixed addresses": 470 / (0.03 + 0.01382),
			},
		},
		{
			name:     "in batches",
			workload: scale.Workload{Scenario: scale.InBatch, PerPost: 100},
			first:    "throttle of the route",
			want:     map[string]float64{"throttle of the route": 5000, "requests to the API": 1_000_000},
		},
		{
			name:     "each on a new connection", // 10 handshakes of 1 ms, by 160 of 1,769 MB
			workload: scale.Workload{Scenario: scale.InBatch, PerPost: 100, Fresh: 1},
			first:    "throttle of the route",
			want:     map[string]float64{"functions on the queue live": 2000 / (0.28362 + 0.11056)},
		},
		{
			name:     "with hanging deliveries",
			workload: scale.Workload{Scenario: scale.InBatch, PerPost: 100, Hanging: 0.02},
			first:    "functions on the queue live",
			want:     map[string]float64{"functions on the queue live": 2000 / (0.03 + 0.05362 + 10*0.18293 + 0.2*0.81707)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := scale.Limits(settings(), usage(), tt.workload)
			if got[0].Name != tt.first {
				t.Errorf("the first limit is %q at %.0f; want %q", got[0].Name, got[0].Carries, tt.first)
			}
			carries := make(map[string]float64)
			for _, limit := range got {
				carries[limit.Name] = limit.Carries
			}
			for name, want := range tt.want {
				if math.Abs(carries[name]-want) > want/1000 {
					t.Errorf("%s carries %.1f; want %.1f", name, carries[name], want)
				}
			}
		})
	}
}

func TestPlanFor(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name      string
		perSecond float64
		want      scale.Plan
	}{
		{
			name: "below the stack's own settings", perSecond: 100,
			want: scale.Plan{PerSecond: 100, PerPost: 1, Events: 1000, Batch: 50, Live: 200, Account: 309, WriteUnits: 18_000, ReadUnits: 30_000, Stacks: 1},
		},
		{
			name: "hanging deliveries need the functions", perSecond: 1000,
			want: scale.Plan{PerSecond: 1000, PerPost: 1, Events: 2000, Batch: 50, Live: 219, Account: 407, WriteUnits: 18_000, ReadUnits: 30_000, Stacks: 1},
		},
		{
			name: "more functions than one event source has", perSecond: 10_000,
			want: scale.Plan{PerSecond: 10_000, PerPost: 100, Events: 1000, Batch: 67, Live: 729, Account: 862, WriteUnits: 18_000, ReadUnits: 30_000, Stacks: 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tt.want, scale.PlanFor(settings(), usage(), tt.perSecond)); diff != "" {
				t.Errorf("PlanFor(%v) (-want +got):\n%s", tt.perSecond, diff)
			}
		})
	}
}

func TestRead_refusesIncompleteDocuments(t *testing.T) {
	t.Parallel()

	for _, text := range []string{`{`, `{"Resources":{}}`, `{"Resources":{"A":{"Type":"AWS::Lambda::EventSourceMapping","Properties":{"BatchSize":10}}}}`} {
		if s, err := scale.ReadTemplate([]byte(text)); err == nil {
			t.Errorf("ReadTemplate(%s) = %+v; want an error", text, s)
		}
	}
	if _, err := scale.ReadCosts("# none"); err == nil {
		t.Error("ReadCosts(without a table) = nil; want an error")
	}
}
