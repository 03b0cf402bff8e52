package surehook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// board is the body of a dashboard.
type board struct {
	Widgets []struct {
		X          int `json:"x"`
		Y          int `json:"y"`
		Width      int `json:"width"`
		Properties struct {
			Title   string  `json:"title"`
			Alarms  []any   `json:"alarms"`
			Metrics [][]any `json:"metrics"`
		} `json:"properties"`
	} `json:"widgets"`
}

// boardOf reads the environment's dashboard, with tokens in show's form.
// Command picture needs a readable body.
func boardOf(t *testing.T, env string) board {
	t.Helper()

	r := templateOf(t, env).get(t, "AWS::CloudWatch::Dashboard", "Dashboard")
	var body board
	if err := json.Unmarshal([]byte(show(r.at("DashboardBody"))), &body); err != nil {
		t.Fatalf("DashboardBody is not JSON: %v", err)
	}
	return body
}

func TestDashboard_order(t *testing.T) {
	t.Parallel()

	want := []string{
		"", "Alarms",
		"Dead letters open", "Undeliverable", "Oldest live message, s", "Live queue", "Circuits open", "Success rate, last hour",
		"Queue depth", "Oldest message", "Messages put back after a failure", "Dead letters: by hour (left), open (right)",
		"Delivery latency, event to success", "Attempt duration", "Success rate of settled deliveries, by hour",
		"Attempts by outcome", "Throughput",
		"Circuits: open (left); opened, and endpoints at risk (right)", "Parked and retried",
		"Function errors", "Function throttles",
		"Function duration, p95", "Function concurrency",
		"API: answers", "API: latency", "Schedules: fired (left), failed (right)",
		"Table throttles", "Table capacity consumed in 5 minutes",
	}
	for _, env := range environments("arm64") {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			var got []string
			x, y := 0, 0
			for _, w := range boardOf(t, env.Name).Widgets {
				got = append(got, w.Properties.Title)
				if w.X != x || w.Y < y || w.X+w.Width > 24 {
					t.Errorf("%q is at %d,%d and %d wide; want it at column %d, within 24", w.Properties.Title, w.X, w.Y, w.Width, x)
				}
				x, y = (x+w.Width)%24, w.Y
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("widgets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDashboard_metrics checks the metrics behind the titles.
func TestDashboard_metrics(t *testing.T) {
	t.Parallel()

	tests := []struct {
		title string
		count int
		want  string // of a metric's JSON
	}{
		{title: "Queue depth", count: 9, want: `"QueueName","${ReplayJobs.QueueName}"`},
		{title: "Oldest live message, s", count: 1, want: `"ApproximateAgeOfOldestMessage","QueueName","${Live.QueueName}"`},
		{title: "Oldest message", count: 9, want: `"ApproximateAgeOfOldestMessage","QueueName","${Retry.QueueName}"`},
		{title: "Messages put back after a failure", count: 9, want: `"messages_put_back","environment","surehook-prod","queue","${ReplayJobs.QueueName}"`},
		{title: "Circuits open", count: 1, want: `"Surehook","circuits_open","environment","surehook-prod"`},
		{title: "Delivery latency, event to success", count: 3, want: `"Surehook","latency_ms","environment","surehook-prod",{"label":"p99","stat":"p99"}`},
		{title: "Attempt duration", count: 3, want: `"duration_ms"`},
		{title: "Attempts by outcome", count: 14, want: `"Surehook","attempts","environment","surehook-prod","outcome","timeout"`},
		{title: "Circuits: open (left); opened, and endpoints at risk (right)", count: 3, want: `"endpoints_at_risk"`},
		{title: "Function concurrency", count: 6, want: `"AWS/Lambda","ConcurrentExecutions"`},
		{title: "Table throttles", count: 6, want: `"WriteThrottleEvents","GlobalSecondaryIndexName","by_state"`},
		{title: "Schedules: fired (left), failed (right)", count: 4, want: `"AWS/Scheduler","InvocationDroppedCount"`},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()

			for _, w := range boardOf(t, "prod").Widgets {
				if w.Properties.Title != tt.title {
					continue
				}
				b, _ := json.Marshal(w.Properties.Metrics)
				if len(w.Properties.Metrics) != tt.count || !strings.Contains(string(b), tt.want) {
					t.Errorf("metrics = %s; want %d, %s among them", b, tt.count, tt.want)
				}
			}
		})
	}
}

// An environment with senders shows each of them in its region: calls, failures, and the
// attempts without an answer. Other environments have no such row.
func TestDashboard_senders(t *testing.T) {
	t.Parallel()

	got := map[string]string{}
	var order []string
	for _, w := range boardOf(t, "custom").Widgets {
		if strings.HasPrefix(w.Properties.Title, "Senders: ") {
			b, _ := json.Marshal(w.Properties.Metrics)
			got[w.Properties.Title] = string(b)
			order = append(order, w.Properties.Title)
		}
	}
	want := []string{"Senders: calls", "Senders: errors (left), throttles (right)", "Senders: fallbacks (left), answers lost (right)"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Fatalf("widgets (-want +got):\n%s", diff)
	}
	for title, metrics := range map[string][]string{
		want[0]: {
			`["AWS/Lambda","Invocations","FunctionName","surehook-custom-sender",{"label":"us-east-1","region":"us-east-1","stat":"Sum"}]`,
			`["AWS/Lambda","Invocations","FunctionName","surehook-custom-sender",{"label":"ap-southeast-2","region":"ap-southeast-2","stat":"Sum"}]`,
			`["AWS/Lambda","Invocations","FunctionName","${FixedSender}",{"label":"fixed addresses","stat":"Sum"}]`,
		},
		want[1]: {
			`["AWS/Lambda","Errors","FunctionName","surehook-custom-sender",{"label":"us-east-1","region":"us-east-1","stat":"Sum"}]`,
			`["AWS/Lambda","Throttles","FunctionName","surehook-custom-sender",{"label":"us-east-1","region":"us-east-1","stat":"Sum","yAxis":"right"}]`,
			`["AWS/Lambda","Throttles","FunctionName","${FixedSender}",{"label":"fixed addresses","stat":"Sum","yAxis":"right"}]`,
		},
		want[2]: {
			`["Surehook","sender_fallbacks","environment","surehook-custom","region","us-east-1",{"label":"us-east-1","stat":"Sum"}]`,
			`["Surehook","sender_answers_lost","environment","surehook-custom","region","ap-southeast-2",{"label":"ap-southeast-2","stat":"Sum","yAxis":"right"}]`,
			`["Surehook","sender_answers_lost","environment","surehook-custom",{"label":"all places","stat":"Sum","yAxis":"right"}]`,
		},
	} {
		for _, metric := range metrics {
			if !strings.Contains(got[title], metric) {
				t.Errorf("%q shows %s; want %s", title, got[title], metric)
			}
		}
	}
}

func TestDashboard_alarms(t *testing.T) {
	t.Parallel()

	for _, env := range environments("arm64") {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			want, got := len(alarmsOf(t, env.Name)), len(boardOf(t, env.Name).Widgets[1].Properties.Alarms)
			if got != want {
				t.Errorf("the dashboard shows %d alarms; want all %d", got, want)
			}
		})
	}
}
