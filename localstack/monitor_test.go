//go:build e2e

package localstack_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// cloudWatch begins the names of CloudWatch's actions.
const cloudWatch = "GraniteServiceVersion20100801."

// TestTheAlarmsAndTheDashboardAreDeployed compares CloudWatch's alarms and
// dashboard with the template. The tests of infra check the template.
func TestTheAlarmsAndTheDashboardAreDeployed(t *testing.T) {
	t.Parallel()

	b := setup(t)
	raw, err := os.ReadFile(filepath.Join(world.emulator.Dir, "cdk", "cdk.out", stack.Name+".template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string `json:"Type"`
			Properties struct {
				AlarmName any `json:"AlarmName"`
			} `json:"Properties"`
		} `json:"Resources"`
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, r := range template.Resources {
		if name, ok := r.Properties.AlarmName.(string); ok && r.Type == "AWS::CloudWatch::Alarm" {
			want[name] = true
		}
	}
	var alarms struct {
		MetricAlarms []struct{ AlarmName, AlarmDescription string }
	}
	if err := world.stack.Action(b.ctx, "monitoring", cloudWatch+"DescribeAlarms", map[string]any{"MaxRecords": 100}, &alarms); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, a := range alarms.MetricAlarms {
		got[a.AlarmName] = true
		if !strings.Contains(a.AlarmDescription, "docs/runbook.md#") {
			t.Errorf("description of %s = %q; want it to link the runbook", a.AlarmName, a.AlarmDescription)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 20 {
		t.Errorf("%d alarms are deployed (-want +got):\n%s", len(got), diff)
	}

	var dashboard struct{ DashboardBody string }
	if err := world.stack.Action(b.ctx, "monitoring", cloudWatch+"GetDashboard", map[string]any{"DashboardName": stack.Name}, &dashboard); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Widgets []struct {
			Type string `json:"type"`
		} `json:"widgets"`
	}
	if err := json.Unmarshal([]byte(dashboard.DashboardBody), &body); err != nil {
		t.Fatalf("read the dashboard %.200s: %v", dashboard.DashboardBody, err)
	}
	metrics := 0
	for _, w := range body.Widgets {
		if w.Type == "metric" {
			metrics++
		}
	}
	if metrics < 10 {
		t.Errorf("the dashboard has %d widgets with metrics; want more", metrics)
	}
	t.Logf("%d alarms; a dashboard of %d widgets, %d with metrics", len(got), len(body.Widgets), metrics)
}

// TestTheLogsAreMetrics validates every log line with metrics against the
// schema of the Embedded Metric Format.
func TestTheLogsAreMetrics(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil, receiver.Status(503), receiver.Status(200), receiver.Status(404))
	delivered := b.postOne()
	b.await(delivered, "delivered")
	dead := b.postOne()
	b.await(dead, "dead")

	schema := emfSchema(t)
	want := []string{
		"deliver " + names.MetricAttempts, "deliver " + names.MetricAttemptTime, "deliver " + names.MetricRetried,
		"deliver " + names.MetricDelivered, "deliver " + names.MetricLatency, "deliver " + names.MetricDead,
	}
	path, counts := filepath.Join(t.TempDir(), "functions.log"), map[string]int{}
	b.until("the logs mention both deliveries and have their metrics", func() bool {
		if err := world.stack.SaveFunctionLogs(b.ctx, path); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		clear(counts)
		for line := range strings.Lines(string(text)) {
			function, message, _ := strings.Cut(line, " ")
			for _, metric := range metricsOf(t, schema, message) {
				counts[function+" "+metric]++
			}
		}
		return bytes.Contains(text, []byte(delivered)) && bytes.Contains(text, []byte(dead)) &&
			!slices.ContainsFunc(want, func(metric string) bool { return counts[metric] == 0 })
	})
	t.Logf("lines by function and metric: %v", counts)
}

// metricsOf returns the names of a line's metrics. A line with metrics must be
// valid: the metrics are numbers and the dimensions are strings in the line.
func metricsOf(t *testing.T, schema *jsonschema.Schema, line string) []string {
	t.Helper()
	if !strings.Contains(line, `"_aws"`) {
		return nil
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		t.Fatalf("line %.200s: %v; want JSON", line, err)
	}
	if err := schema.Validate(document); err != nil {
		t.Fatalf("line %.200s is not in the Embedded Metric Format: %v", line, err)
	}
	var members map[string]any
	var meta struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Dimensions [][]string `json:"Dimensions"`
				Metrics    []struct {
					Name string `json:"Name"`
				} `json:"Metrics"`
			} `json:"CloudWatchMetrics"`
		} `json:"_aws"`
	}
	if err := json.Unmarshal([]byte(line), &members); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(line), &meta); err != nil {
		t.Fatal(err)
	}
	var metrics []string
	for _, directive := range meta.AWS.CloudWatchMetrics {
		for _, m := range directive.Metrics {
			if !measured(members[m.Name]) {
				t.Errorf("line %.200s has %v as %s; want a number, or up to 100", line, members[m.Name], m.Name)
			}
			metrics = append(metrics, m.Name)
		}
		for _, dimension := range slices.Concat(directive.Dimensions...) {
			if value, ok := members[dimension].(string); !ok || value == "" {
				t.Errorf("line %.200s has %v as %s; want a text", line, members[dimension], dimension)
			}
		}
	}
	return metrics
}

// measured reports whether the value is valid for a metric in the format.
func measured(value any) bool {
	many, ok := value.([]any)
	if !ok {
		many = []any{value}
	}
	return len(many) > 0 && len(many) <= 100 && !slices.ContainsFunc(many, func(one any) bool {
		_, ok := one.(float64)
		return !ok
	})
}

// emfSchema is the published schema.
func emfSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "internal", "emf", "testdata", "emf.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("emf.schema.json", resource); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("emf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
