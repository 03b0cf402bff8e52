package emf_test

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

var set = emf.Set{Environment: "prod"}

// attempted is the log line of an attempt in package deliver.
func attempted() []slog.Attr {
	return []slog.Attr{
		slog.String(names.LogTenant, "acme"),
		slog.String(names.LogEndpoint, "ep_a"),
		slog.Int(names.LogAttempt, 3),
		slog.String(names.LogOutcome, hook.ClassDelivered.String()),
		slog.Int(names.LogStatus, 200),
		slog.Int64(names.LogDuration, 912),
		slog.Int64(names.LogLatency, 330_912),
		slog.String(names.LogDecision, "delivered"),
	}
}

// ofAttempt are the metrics of the same attempt.
func ofAttempt() []emf.Metric {
	return []emf.Metric{
		emf.Count(names.MetricAttempts, 1).By(emf.Outcome(hook.ClassDelivered)),
		emf.Milliseconds(names.MetricAttemptTime, 912*time.Millisecond),
		emf.Count(names.MetricDelivered, 1),
		emf.Milliseconds(names.MetricLatency, 330_912*time.Millisecond),
		emf.Count(names.MetricRetried, 1),
		emf.Count(names.MetricDead, 0),
	}
}

func TestSet_Append(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		line []slog.Attr
		ms   []emf.Metric
		want metrics
	}{
		{name: "no metric", line: nil, ms: nil, want: metrics{}},
		{name: "a count of 0 is no metric", line: nil, ms: []emf.Metric{emf.Count("dead", 0), emf.Count("dead", -1), {}}, want: metrics{}},
		{name: "a count", line: nil, ms: []emf.Metric{emf.Count("accepted", 3)}, want: metrics{"accepted environment=prod Count": 3}},
		{name: "a gauge of 0 is a metric", line: nil, ms: []emf.Metric{emf.Gauge("circuits_open", 0)}, want: metrics{"circuits_open environment=prod Count": 0}},
		{name: "a duration", line: nil, ms: []emf.Metric{emf.Milliseconds("duration_ms", 1999*time.Microsecond)}, want: metrics{"duration_ms environment=prod Milliseconds": 1}},
		{name: "a negative duration counts as 0", line: nil, ms: []emf.Metric{emf.Milliseconds("duration_ms", -time.Hour)}, want: metrics{"duration_ms environment=prod Milliseconds": 0}},
		{name: "the longest of all", line: nil, ms: []emf.Metric{emf.Milliseconds("duration_ms", math.MaxInt64), emf.Count("n", math.MaxInt32)}, want: metrics{"duration_ms environment=prod Milliseconds": 9223372036854, "n environment=prod Count": math.MaxInt32}},
		{name: "the first of two of a name", line: nil, ms: []emf.Metric{emf.Count("n", 1), emf.Count("n", 2)}, want: metrics{"n environment=prod Count": 1}},
		{name: "by outcome, one metric of two", line: nil, ms: []emf.Metric{emf.Count("attempts", 1).By(emf.Outcome(hook.ClassTimeout)), emf.Count("dead", 1)}, want: metrics{
			"attempts environment=prod Count":                 1,
			"attempts environment=prod outcome=timeout Count": 1,
			"dead environment=prod Count":                     1,
		}},
		{name: "by the zero class", line: nil, ms: []emf.Metric{emf.Count("attempts", 1).By(emf.Outcome(0))}, want: metrics{
			"attempts environment=prod Count": 1, "attempts environment=prod outcome=unknown Count": 1,
		}},
		{name: "by region", line: []slog.Attr{slog.String(names.LogRegion, "us-east-1")}, ms: []emf.Metric{emf.Count("n", 1).By(emf.Region("us-east-1"))}, want: metrics{
			"n environment=prod Count": 1, "n environment=prod region=us-east-1 Count": 1,
		}},
		{name: "by queue", line: nil, ms: []emf.Metric{emf.Count("n", 1).By(emf.Queue("prod-retry"))}, want: metrics{
			"n environment=prod Count": 1, "n environment=prod queue=prod-retry Count": 1,
		}},
		{name: "by the own region", line: []slog.Attr{slog.String(names.LogRegion, "")}, ms: []emf.Metric{emf.Count("n", 1).By(emf.Region(""))}, want: metrics{"n environment=prod Count": 1}},
		{name: "by the zero dimension", line: nil, ms: []emf.Metric{emf.Count("attempts", 1).By(emf.Dimension{})}, want: metrics{"attempts environment=prod Count": 1}},
		{name: "fields of the line win", line: []slog.Attr{slog.Int64("duration_ms", 7), slog.String("outcome", "reset")}, ms: []emf.Metric{
			emf.Milliseconds("duration_ms", time.Second), emf.Count("attempts", 1).By(emf.Outcome(hook.ClassTimeout)),
		}, want: metrics{
			"duration_ms environment=prod Milliseconds":     7,
			"attempts environment=prod Count":               1,
			"attempts environment=prod outcome=reset Count": 1,
		}},
		{name: "all of an attempt", line: attempted(), ms: ofAttempt(), want: metrics{
			"attempts environment=prod Count":                   1,
			"attempts environment=prod outcome=delivered Count": 1,
			"duration_ms environment=prod Milliseconds":         912,
			"delivered environment=prod Count":                  1,
			"latency_ms environment=prod Milliseconds":          330_912,
			"retried environment=prod Count":                    1,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			line := written(set.Append(tt.line, at, tt.ms...))
			got, err := newFormat(t).read(line)
			if err != nil {
				t.Fatalf("Append() writes %s: %v", line, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Append() writes %s; metrics differ (-want +got):\n%s", line, diff)
			}
		})
	}
}

// TestSet_Append_bytes pins the bytes, because CloudWatch and the stack's queries read names and order.
func TestSet_Append_bytes(t *testing.T) {
	t.Parallel()

	const want = `"tenant":"acme","endpoint_id":"ep_a","attempt":3,"outcome":"delivered","status":200,"duration_ms":912,"latency_ms":330912,"decision":"delivered",` +
		`"_aws":{"Timestamp":1772627820000,"CloudWatchMetrics":[` +
		`{"Namespace":"Surehook","Dimensions":[["environment"],["environment","outcome"]],"Metrics":[{"Name":"attempts","Unit":"Count"}]},` +
		`{"Namespace":"Surehook","Dimensions":[["environment"]],"Metrics":[{"Name":"duration_ms","Unit":"Milliseconds"},{"Name":"delivered","Unit":"Count"},` +
		`{"Name":"latency_ms","Unit":"Milliseconds"},{"Name":"retried","Unit":"Count"}]}]},` +
		`"attempts":1,"delivered":1,"retried":1,"environment":"prod","requestId":"8286a188-ba32-4475-8077-530cd35c09a9"}` + "\n"
	line := written(set.Append(attempted(), at, ofAttempt()...))
	const head = `{"timestamp":`
	if string(line[:len(head)]) != head {
		t.Errorf("line = %s; want it to begin with %s", line, head)
	}
	if got := string(line[len(line)-min(len(want), len(line)):]); got != want {
		t.Errorf("line differs (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestSet_Append_withoutAnEnvironmentLeavesTheLine(t *testing.T) {
	t.Parallel()

	got := emf.Set{}.Append(attempted(), at, ofAttempt()...)
	if !slices.EqualFunc(got, attempted(), slog.Attr.Equal) {
		t.Errorf("Append() = %v; want %v", got, attempted())
	}
}

func TestSet_Append_leavesTheArrayOfTheLine(t *testing.T) {
	t.Parallel()

	line := append(make([]slog.Attr, 0, 100), attempted()...)
	one, two := set.Append(line, at, emf.Count("one", 1)), set.Append(line, at, emf.Count("two", 1))
	if one[len(line)+1].Key != "one" || two[len(line)+1].Key != "two" || line[:cap(line)][len(line)].Key != "" {
		t.Errorf("Append() wrote into its line: %v, %v", one, two)
	}
}

func TestSet_Append_moreThanOneDirective(t *testing.T) {
	t.Parallel()

	var ms []emf.Metric
	for i := range 201 {
		ms = append(ms, emf.Count("m"+strconv.Itoa(i), i+1))
	}
	got, err := newFormat(t).read(written(set.Append(nil, at, ms...)))
	if err != nil || len(got) != len(ms) {
		t.Errorf("Append(%d metrics) gives %d: %v", len(ms), len(got), err)
	}
}

// TestNames checks that the names of metrics, dimensions and reserved members are
// distinct, because a metric cannot also be a dimension.
func TestNames(t *testing.T) {
	t.Parallel()

	all := []string{
		names.MetricEnvironment, names.MetricOutcome, names.MetricAccepted, names.MetricWarned, names.MetricAttempts,
		names.MetricAttemptTime, names.MetricDelivered, names.MetricLatency, names.MetricDead, names.MetricParked,
		names.MetricRetried, names.MetricCircuits, names.MetricAtRisk, names.MetricOpenCircuits, names.MetricOpenLetters, names.MetricSwept,
		"_aws", "timestamp", "time", "level", "message", "msg", "requestId",
	}
	slices.Sort(all)
	if unique := slices.Compact(slices.Clone(all)); len(unique) != len(all) {
		t.Errorf("names = %q; want each once", all)
	}
}

func FuzzSet_Append(f *testing.F) {
	f.Add("prod", []byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte{1, 2}, int64(1), int64(0))
	f.Add("dev \xff\n\"", []byte{255, 254, 11, 77}, []byte{}, int64(math.MaxInt64), int64(math.MinInt64))
	f.Add("", []byte{1}, []byte{1}, int64(0), int64(0))
	check := newFormat(f)
	f.Fuzz(func(t *testing.T, environment string, picks, fields []byte, n, ms int64) {
		environment = environment[:min(len(environment), 256)]
		var line []slog.Attr
		for _, b := range fields {
			if key := "m" + strconv.Itoa(int(b)%32); !slices.ContainsFunc(line, func(a slog.Attr) bool { return a.Key == key }) {
				line = append(line, slog.Int64(key, n))
			}
		}
		var all []emf.Metric
		for i, b := range picks {
			all = append(all, picked(b, i, n))
		}
		out := written(emf.Set{Environment: environment}.Append(line, time.UnixMilli(ms), all...))
		got, err := check.read(out)
		if err != nil {
			t.Errorf("Append() writes %s: %v", out, err)
		}
		if environment == "" && len(got) > 0 {
			t.Errorf("Append() without environment gives %v", got)
		}
	})
}

// picked returns a metric chosen by b and i.
func picked(b byte, i int, n int64) emf.Metric {
	name := "m" + strconv.Itoa(int(b)%32)
	m := []emf.Metric{
		emf.Count(name, int(n)), emf.Gauge(name, int(n)), emf.Milliseconds(name, time.Duration(n)),
	}[i%3]
	return m.By([]emf.Dimension{{}, emf.Outcome(hook.Class(b)), emf.Queue(name)}[int(b)%3])
}

func BenchmarkSet_Append(b *testing.B) {
	log := slog.New(slog.NewJSONHandler(discard{}, nil))
	for _, s := range []emf.Set{{}, set} {
		b.Run("environment="+s.Environment, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				log.LogAttrs(b.Context(), slog.LevelInfo, "delivery.attempted", s.Append(attempted(), at, ofAttempt()...)...)
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func ExampleSet_Append() {
	line := []slog.Attr{slog.String("event_id", "evt_1")}
	line = emf.Set{Environment: "prod"}.Append(line, at, emf.Count(names.MetricAccepted, 1))
	fields := map[string]any{}
	for _, a := range line {
		fields[a.Key] = a.Value.Any()
	}
	_ = json.NewEncoder(os.Stdout).Encode(fields)
	// Output: {"_aws":{"Timestamp":1772627820000,"CloudWatchMetrics":[{"Namespace":"Surehook","Dimensions":[["environment"]],"Metrics":[{"Name":"accepted","Unit":"Count"}]}]},"accepted":1,"environment":"prod","event_id":"evt_1"}
}
