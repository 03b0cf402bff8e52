package surehook

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExport_isOffByDefault(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		if env.Traces != "" || len(tpl.all("AWS::Logs::SubscriptionFilter")) != 0 || tpl.all("AWS::Lambda::Function")["Export"].Type != "" {
			t.Errorf("%s exports spans to %q; want no function and no subscription", env.Name, env.Traces)
		}
	}
}

// TestExport_subscriptions checks that the function gets the lines with spans only, and
// that only these two logs may call the function.
func TestExport_subscriptions(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "custom")
	want := map[string]string{
		"${IngestLogs}":  `{ $.message = "event.ingested" }`,
		"${DeliverLogs}": `{ $.message = "delivery.attempted" }`,
	}
	got := map[string]string{}
	for _, filter := range tpl.all("AWS::Logs::SubscriptionFilter") {
		got[show(filter.at("LogGroupName"))] = show(filter.at("FilterPattern"))
		filter.check(t, "RoleArn", nil)
		if to := show(filter.at("DestinationArn")); to != "${Export.Arn}" {
			t.Errorf("the destination is %s; want the function", to)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	var callers []string
	for _, permission := range tpl.all("AWS::Lambda::Permission") {
		if show(permission.at("FunctionName")) == "${Export.Arn}" {
			callers = append(callers, show(permission.at("Principal"))+" "+show(permission.at("SourceArn")))
		}
	}
	slices.Sort(callers)
	if diff := cmp.Diff([]string{"logs.amazonaws.com ${DeliverLogs.Arn}", "logs.amazonaws.com ${IngestLogs.Arn}"}, callers); diff != "" {
		t.Errorf("callers (-want +got):\n%s", diff)
	}
}

// TestExport_function checks the settings, and that the function may write its own log
// and spans, and nothing else.
func TestExport_function(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "custom")
	export := tpl.get(t, "AWS::Lambda::Function", "Export")
	export.check(t, "Environment.Variables."+"SUREHOOK_TRACES", "xray")
	export.check(t, "RecursiveLoop", "Terminate")
	var allowed []string
	for id, policy := range tpl.all("AWS::IAM::Policy") {
		if !strings.HasPrefix(id, "ExportRole") {
			continue
		}
		statements, _ := policy.at("PolicyDocument", "Statement").([]any)
		for _, s := range statements {
			s, _ := s.(map[string]any)
			allowed = append(allowed, show(s["Action"])+" on "+show(s["Resource"]))
		}
	}
	want := []string{`["logs:CreateLogStream","logs:PutLogEvents"] on ${ExportLogs.Arn}`, `["xray:PutSpans","xray:PutSpansForIndexing","xray:PutTraceSegments"] on *`}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(allowed))); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	alarms := map[string]bool{}
	for _, a := range tpl.all("AWS::CloudWatch::Alarm") {
		alarms[show(a.at("AlarmName"))] = true
	}
	for _, name := range []string{"surehook-custom-export-errors", "surehook-custom-export-throttles"} {
		if !alarms[name] {
			t.Errorf("the alarms are %v; want %s", slices.Sorted(maps.Keys(alarms)), name)
		}
	}
}
