package surehook

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// alarmsOf returns the environment's alarms by name, without the prefix.
func alarmsOf(t *testing.T, env string) map[string]resource {
	t.Helper()

	named := map[string]resource{}
	for id, r := range templateOf(t, env).all("AWS::CloudWatch::Alarm") {
		name, ok := strings.CutPrefix(show(r.at("AlarmName")), "surehook-"+env+"-")
		if !ok {
			t.Errorf("alarm %s is named %s; want it to begin with the prefix", id, name)
		}
		named[name] = r
	}
	return named
}

func TestAlarms_thresholds(t *testing.T) {
	t.Parallel()

	for _, env := range environments("arm64") {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			limits := env.Thresholds
			want := map[string]float64{
				"dead-letters":         float64(limits.DeadLettersPerHour),
				"at-risk":              float64(limits.AtRiskPerHour),
				"undeliverable":        0,
				"undeliverable-retry":  0,
				"breaker-silent":       1,
				"success-rate":         limits.SuccessRate,
				"api-errors":           float64(limits.IngestErrors),
				"archive-failed":       0,
				"messages-circling":    0,
				"notifications-failed": 0,
				"deliveries-swept":     0,
				"settings-ignored":     0,
				"rejects":              0,
				"events-waiting":       float64((24 * time.Hour).Milliseconds()),
				"stream-late":          float64(time.Hour.Milliseconds()),
				"stream-stopped":       0,
			}
			for _, f := range []string{"ingest", "deliver", "breaker", "replay"} {
				want[f+"-recursion"] = 0
			}
			for _, queue := range []string{"live", "retry", "replay", "slot", "overflow", "coalesce", "events", "circuits", "replay-jobs"} {
				want["put-back-"+queue] = 9
			}
			for queue, age := range map[string]time.Duration{"circuits": 45 * time.Minute, "replay-jobs": 45 * time.Minute, "live": 30 * time.Minute, "retry": 45 * time.Minute, "replay": 30 * time.Minute, "slot": 30 * time.Minute, "overflow": 30 * time.Minute, "coalesce": 45 * time.Minute, "events": 45 * time.Minute} {
				want["oldest-pending-"+queue] = age.Seconds()
			}
			for _, f := range []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize"} {
				want[f+"-errors"], want[f+"-throttles"] = float64(limits.FunctionErrors), float64(limits.FunctionErrors)
			}
			for _, of := range []string{"table", "by_endpoint", "by_state"} {
				want[of+"-read-throttles"], want[of+"-write-throttles"] = float64(limits.TableThrottles), float64(limits.TableThrottles)
			}
			for _, kind := range []string{"queue", "table", "key"} {
				want[kind+"-refused"] = 0
			}
			for _, what := range []string{"errors", "dropped", "lost"} {
				want["schedule-"+what] = float64(limits.ScheduleFailures)
			}
			if env.Name == "local" {
				delete(want, "success-rate") // no emulator calculates expressions
				delete(want, "stream-stopped")
			}
			if !env.Archive {
				delete(want, "archive-failed")
			}

			got := map[string]float64{}
			for name, r := range alarmsOf(t, env.Name) {
				got[name], _ = r.at("Threshold").(float64)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("thresholds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAlarms_what checks metric properties not visible in the alarm's name.
func TestAlarms_what(t *testing.T) {
	t.Parallel()

	const rate = "IF(SUM([delivered, dead]) \\u003e= 20, 100 - 100 * FILL(dead, 0) / SUM([delivered, dead]), 100)"
	tests := []struct {
		name, path string
		want       any
	}{
		{name: "dead-letters", path: "MetricName", want: "dead"},
		{name: "dead-letters", path: "Namespace", want: "Surehook"},
		{name: "dead-letters", path: "Period", want: 3600},
		{name: "dead-letters", path: "Statistic", want: "Sum"},
		{name: "dead-letters", path: "TreatMissingData", want: "notBreaching"},
		{name: "dead-letters", path: "ComparisonOperator", want: "GreaterThanThreshold"},
		{name: "undeliverable", path: "MetricName", want: "ApproximateNumberOfMessagesVisible"},
		{name: "undeliverable", path: "Statistic", want: "Maximum"},
		{name: "oldest-pending-live", path: "MetricName", want: "ApproximateAgeOfOldestMessage"},
		{name: "oldest-pending-live", path: "Statistic", want: "Maximum"},
		{name: "oldest-pending-live", path: "TreatMissingData", want: "notBreaching"},
		{name: "breaker-silent", path: "MetricName", want: "circuits_open"},
		{name: "breaker-silent", path: "Statistic", want: "SampleCount"},
		{name: "breaker-silent", path: "ComparisonOperator", want: "LessThanThreshold"},
		{name: "breaker-silent", path: "TreatMissingData", want: "breaching"},
		{name: "breaker-silent", path: "DatapointsToAlarm", want: 3},
		{name: "breaker-silent", path: "Period", want: 300},
		{name: "breaker-silent", path: "EvaluationPeriods", want: 3},
		{name: "success-rate", path: "ComparisonOperator", want: "LessThanThreshold"},
		{name: "success-rate", path: "TreatMissingData", want: "notBreaching"},
		{name: "api-errors", path: "MetricName", want: "5xx"},
		{name: "deliver-errors", path: "MetricName", want: "Errors"},
		{name: "deliver-throttles", path: "MetricName", want: "Throttles"},
		{name: "stream-stopped", path: "EvaluationPeriods", want: 2},
		{name: "deliver-recursion", path: "MetricName", want: "RecursiveInvocationsDropped"},
		{name: "deliver-recursion", path: "Namespace", want: "AWS/Lambda"},
		{name: "put-back-retry", path: "MetricName", want: "put_back_receives"},
		{name: "put-back-retry", path: "Statistic", want: "Maximum"},
		{name: "messages-circling", path: "MetricName", want: "messages_circling"},
		{name: "notifications-failed", path: "MetricName", want: "notifications_failed"},
		{name: "deliveries-swept", path: "MetricName", want: "deliveries_swept"},
		{name: "key-refused", path: "MetricName", want: "requests_refused"},
		{name: "key-refused", path: "Dimensions", want: []any{map[string]any{"Name": "environment", "Value": "surehook-prod"}, map[string]any{"Name": "resource", "Value": "key"}}},
		{name: "deliveries-swept", path: "EvaluationPeriods", want: 1},
		{name: "stream-late", path: "MetricName", want: "IteratorAge"},
		{name: "stream-late", path: "Namespace", want: "AWS/Lambda"},
		{name: "stream-late", path: "Statistic", want: "Maximum"},
		{name: "undeliverable", path: "EvaluationPeriods", want: 1},
		{name: "schedule-lost", path: "EvaluationPeriods", want: 1},
		{name: "schedule-errors", path: "MetricName", want: "TargetErrorCount"},
		{name: "schedule-dropped", path: "MetricName", want: "InvocationDroppedCount"},
		{name: "schedule-lost", path: "MetricName", want: "InvocationsFailedToBeSentToDeadLetterCount"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" has its "+tt.path, func(t *testing.T) {
			t.Parallel()

			alarmsOf(t, "prod")[tt.name].check(t, tt.path, tt.want)
		})
	}
	for queue, want := range map[string]string{"live": "Live", "retry": "Retry", "replay": "Replay", "slot": "Slot", "overflow": "Overflow", "coalesce": "Coalesce"} {
		t.Run("oldest-pending-"+queue+" is of its queue", func(t *testing.T) {
			t.Parallel()

			dimensions, _ := alarmsOf(t, "prod")["oldest-pending-"+queue].at("Dimensions").([]any)
			if len(dimensions) != 1 {
				t.Fatalf("Dimensions = %v; want one", dimensions)
			}
			dimension, _ := dimensions[0].(map[string]any)
			if got := show(dimension["Value"]); got != want+".QueueName" && got != "${"+want+".QueueName}" {
				t.Errorf("the queue is %s; want %s", got, want)
			}
		})
	}
	t.Run("a single bad period pages nobody", func(t *testing.T) {
		t.Parallel()

		for name, r := range alarmsOf(t, "prod") {
			noisy := strings.HasSuffix(name, "-throttles") || strings.HasSuffix(name, "-errors") || slices.Contains([]string{"schedule-dropped", "notifications-failed"}, name)
			if !noisy {
				continue
			}
			r.check(t, "EvaluationPeriods", 3)
			r.check(t, "DatapointsToAlarm", 2)
		}
	})
	t.Run("put-back names the queue", func(t *testing.T) {
		t.Parallel()

		const want = `[{"Name":"environment","Value":"surehook-prod"},{"Name":"queue","Value":"${ReplayJobs.QueueName}"}]`
		dimensions, _ := alarmsOf(t, "prod")["put-back-replay-jobs"].at("Dimensions").([]any)
		for _, d := range dimensions {
			dimension, _ := d.(map[string]any)
			dimension["Value"] = show(dimension["Value"])
		}
		if got := show(dimensions); got != want {
			t.Errorf("dimensions = %s; want %s", got, want)
		}
	})
	t.Run("the success rate is of settled deliveries, and of enough of them", func(t *testing.T) {
		t.Parallel()

		metrics, _ := alarmsOf(t, "prod")["success-rate"].at("Metrics").([]any)
		if len(metrics) != 3 || !strings.Contains(show(metrics[0]), rate) {
			t.Errorf("Metrics = %v; want %s of two metrics", metrics, rate)
		}
	})
	t.Run("metrics of ours have the environment's name", func(t *testing.T) {
		t.Parallel()

		want := []any{map[string]any{"Name": "environment", "Value": "surehook-prod"}}
		alarmsOf(t, "prod")["dead-letters"].check(t, "Dimensions", want)
	})
}

// TestAlarms_descriptions checks that every alarm names a first action.
func TestAlarms_descriptions(t *testing.T) {
	t.Parallel()

	for name, r := range everyAlarm(t) {
		text, _, _ := strings.Cut(show(r.at("AlarmDescription")), " Runbook: ")
		if !strings.Contains(text, "First ") || len(text) > 900 {
			t.Errorf("%s says %q; want a first action, within the 1,024 characters of CloudWatch", name, text)
		}
	}
}

// everyAlarm returns the alarms of prod, and those of an environment with senders.
func everyAlarm(t *testing.T) map[string]resource {
	t.Helper()

	all := maps.Clone(alarmsOf(t, "prod"))
	maps.Copy(all, alarmsOf(t, "custom"))
	return all
}

// TestAlarms_walk breaks what each alarm watches, mends it, and says which state the alarm then
// has and who is told. It ends when nothing more is written, as after an outage, and at the first
// data of a source that writes in every healthy period.
func TestAlarms_walk(t *testing.T) {
	t.Parallel()

	const never, quiet = "its metric is missing when all is well, and it must be OK", "its metric is missing when it fails, and it must be in alarm"
	for _, env := range []string{"dev", "staging", "prod", "custom", "released prod"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()

			for id, r := range templateOf(t, env).all("AWS::CloudWatch::Alarm") {
				missing, why := "OK", never
				if id == "AlarmBreakerSilent" {
					missing, why = "ALARM", quiet
				}
				if got := withoutData(r); got != missing {
					t.Errorf("%s is in the state %s without data; want %s: %s", id, got, missing, why)
				}
				if r.at("MetricName") == nil && r.at("Metrics") == nil {
					t.Errorf("%s watches nothing", id)
				}
				for when, want := range map[string]string{"AlarmActions": "${Topic}", "OKActions": "${Topic}", "InsufficientDataActions": ""} {
					got := ""
					for _, action := range list(r.at(when)) {
						got += show(action)
					}
					if got != want {
						t.Errorf("%s of %s go to %q; want %q", when, id, got, want)
					}
				}
			}
		})
	}
}

// withoutData returns the state of the alarm after its metrics had data and have no more.
func withoutData(r resource) string {
	of := []any{map[string]any{"MetricStat": map[string]any{"Metric": map[string]any{"Namespace": r.at("Namespace"), "MetricName": r.at("MetricName")}}}}
	if metrics := list(r.at("Metrics")); len(metrics) > 0 {
		of = metrics
	}
	text := show(of)
	if strings.Contains(text, `"AWS/DynamoDB"`) {
		if !strings.Contains(text, `"FILL(throttled, 0)"`) {
			return "the last one" // whatever TreatMissingData says
		}
		return "OK" // a zero is below each threshold
	}
	switch r.at("TreatMissingData") {
	case "notBreaching":
		return "OK"
	case "breaching":
		return "ALARM"
	}
	return "INSUFFICIENT_DATA"
}

// TestAlarms_silentLocal checks that alarms of the local stack have no actions: failures are
// normal there.
func TestAlarms_silentLocal(t *testing.T) {
	t.Parallel()

	for name, r := range alarmsOf(t, "local") {
		if r.at("AlarmActions") != nil || r.at("OKActions") != nil {
			t.Errorf("%s of local sends messages", name)
		}
	}
}

// TestAlarms_local checks that emulators can deploy the local stack's alarms.
func TestAlarms_local(t *testing.T) {
	t.Parallel()

	for name, r := range alarmsOf(t, "local") {
		if r.at("Metrics") != nil || r.at("MetricName") == nil {
			t.Errorf("the alarm %s is calculated from several metrics", name)
		}
	}
}
