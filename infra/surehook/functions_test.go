package surehook

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

func TestFunctions(t *testing.T) {
	t.Parallel()

	logDays := map[string]int{"dev": 7, "staging": 30, "prod": 90, "local": 1}
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			for id, want := range map[string]struct {
				name            string
				timeout, memory int
				recursion       string
			}{
				"Ingest":    {name: "ingest", timeout: 29, memory: 160, recursion: "Allow"},
				"Deliver":   {name: "deliver", timeout: 60, memory: 160, recursion: "Allow"},
				"Breaker":   {name: "breaker", timeout: 60, memory: 512, recursion: "Allow"},
				"Replayer":  {name: "replay", timeout: 60, memory: 512, recursion: "Allow"},
				"Manage":    {name: "manage", timeout: 29, memory: 512, recursion: "Terminate"},
				"Authorize": {name: "authorize", timeout: 5, memory: 256, recursion: "Terminate"},
			} {
				f := tpl.get(t, "AWS::Lambda::Function", id)
				f.check(t, "FunctionName", "surehook-"+env.Name+"-"+want.name)
				f.check(t, "Runtime", "provided.al2023")
				f.check(t, "Handler", "bootstrap")
				f.check(t, "Architectures", []any{"arm64"})
				f.check(t, "Timeout", want.timeout)
				f.check(t, "MemorySize", want.memory)
				f.check(t, "TracingConfig", nil)
				f.check(t, "RecursiveLoop", want.recursion)
				f.check(t, "LoggingConfig.LogFormat", "JSON")
				if got := show(f.at("LoggingConfig", "LogGroup")); got != "${"+id+"Logs}" {
					t.Errorf("%s logs to %s; want its own group", id, got)
				}
				logs := tpl.get(t, "AWS::Logs::LogGroup", id+"Logs")
				logs.check(t, "RetentionInDays", logDays[env.Name])
				if logs.DeletionPolicy != "Delete" {
					t.Errorf("log group of %s: %s; want it to go with the stack", id, logs.DeletionPolicy)
				}
			}
			if n := len(tpl.all("AWS::Lambda::Function")); n != 6 {
				t.Errorf("%d functions; want 6 and no helpers of CDK", n)
			}
		})
	}
}

// TestFunctions_reserved checks that only sender-fixed has a ceiling. A reservation in a new account
// fails the deployment.
func TestFunctions_reserved(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		for id, f := range tpl.all("AWS::Lambda::Function") {
			if got := f.at("ReservedConcurrentExecutions"); got != nil {
				t.Errorf("%s: %s reserves %v executions; want none", env.Name, id, got)
			}
		}
	}
	want := map[string]any{"FixedSender": 30.0}
	for id, f := range templateOf(t, "custom").all("AWS::Lambda::Function") {
		if got := f.at("ReservedConcurrentExecutions"); got != want[id] {
			t.Errorf("custom: %s reserves %v executions; want %v", id, got, want[id])
		}
	}
}

// TestFunctions_recursion checks that every function fed by a queue or a schedule
// allows recursion. Lambda would stop the chain of a delivery's attempts after about
// 16 rounds.
func TestFunctions_recursion(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			fed := map[string]bool{}
			for _, source := range tpl.all("AWS::Lambda::EventSourceMapping") {
				fed[show(source.at("FunctionName"))] = true
			}
			for _, schedule := range tpl.all("AWS::Scheduler::Schedule") {
				fed[strings.TrimSuffix(show(schedule.at("Target", "Arn")), ".Arn}")+"}"] = true
			}
			alarms := alarmsOf(t, env.Name)
			for id, f := range tpl.all("AWS::Lambda::Function") {
				name := strings.TrimPrefix(show(f.at("FunctionName")), "surehook-"+env.Name+"-")
				_, watched := alarms[name+"-recursion"]
				if allowed := f.at("RecursiveLoop") == "Allow"; allowed != fed["${"+id+"}"] || watched != allowed {
					t.Errorf("%s is fed: %t, allows recursion: %t, has an alarm: %t; want the same", id, fed["${"+id+"}"], allowed, watched)
				}
			}
		})
	}
}

// TestLogs checks that all logs expire. Prod keeps its logs for 90 days.
func TestLogs(t *testing.T) {
	t.Parallel()

	days := map[string]int{"dev": 7, "staging": 30, "prod": 90, "local": 1}
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			groups := tpl.all("AWS::Logs::LogGroup")
			for _, group := range groups {
				group.check(t, "RetentionInDays", days[env.Name])
			}
			if want := len(functionNames()) + 1; len(groups) != want {
				t.Errorf("%d log groups; want %d, of the functions and the API", len(groups), want)
			}
		})
	}
}

func TestFunctions_environment(t *testing.T) {
	t.Parallel()

	egress := map[string]string{"dev": "public", "staging": "public", "prod": "public", "local": "loopback"}
	shares := map[string]string{"dev": "1", "staging": "1", "prod": "5", "local": "1"}
	retention := map[string]string{"dev": "720h0m0s", "staging": "2160h0m0s", "prod": "2160h0m0s", "local": "720h0m0s"}
	const apiHost = "${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}"
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			want := map[string]map[string]string{
				"Ingest": {
					"SUREHOOK_TABLE": "${Table}", "SUREHOOK_LIVE_QUEUE_URL": "${Live}", "SUREHOOK_COALESCE_QUEUE_URL": "${Coalesce}", "SUREHOOK_RETENTION": retention[env.Name],
					"SUREHOOK_VALIDATION": names.ValidationOff, "SUREHOOK_EVENTS_QUEUE_URL": "${Events}", "SUREHOOK_REJECTS_QUEUE_URL": "${Rejects}", "SUREHOOK_TENANT_PATH": "detail.tenant",
				},
				"Deliver": {
					"SUREHOOK_TABLE": "${Table}", "SUREHOOK_KMS_KEY_ARN": "${Key.Arn}",
					"SUREHOOK_LIVE_QUEUE_URL": "${Live}", "SUREHOOK_RETRY_QUEUE_URL": "${Retry}", "SUREHOOK_RETRY_QUEUE_ARN": "${Retry.Arn}",
					"SUREHOOK_SLOT_QUEUE_URL": "${Slot}", "SUREHOOK_OVERFLOW_QUEUE_URL": "${Overflow}", "SUREHOOK_COALESCE_QUEUE_URL": "${Coalesce}", "SUREHOOK_TENANT_SHARES": shares[env.Name],
					"SUREHOOK_DEAD_LETTERS_URL": "${DeadLetters}", "SUREHOOK_UNDELIVERABLE_RETRY_ARN": "${UndeliverableRetry.Arn}",
					"SUREHOOK_CIRCUITS_QUEUE_URL": "${Circuits}",
					"SUREHOOK_SCHEDULE_GROUP":     "surehook-" + env.Name, "SUREHOOK_SCHEDULE_ROLE_ARN": "${ScheduleRole.Arn}",
					"SUREHOOK_EGRESS": egress[env.Name], "SUREHOOK_TOPIC_ARN": "${Topic}", "SUREHOOK_RETENTION": retention[env.Name],
					"SUREHOOK_API_HOSTS": apiHost,
				},
				"Breaker": {
					"SUREHOOK_TABLE": "${Table}", "SUREHOOK_LIVE_QUEUE_URL": "${Live}", "SUREHOOK_RETRY_QUEUE_URL": "${Retry}", "SUREHOOK_SLOT_QUEUE_URL": "${Slot}",
					"SUREHOOK_REPLAY_QUEUE_URL": "${Replay}", "SUREHOOK_OVERFLOW_QUEUE_URL": "${Overflow}", "SUREHOOK_COALESCE_QUEUE_URL": "${Coalesce}",
					"SUREHOOK_DEAD_LETTERS_URL": "${DeadLetters}", "SUREHOOK_CIRCUITS_QUEUE_URL": "${Circuits}",
					"SUREHOOK_TOPIC_ARN": "${Topic}", "SUREHOOK_RETENTION": retention[env.Name],
				},
				"Replayer": {
					"SUREHOOK_TABLE": "${Table}", "SUREHOOK_LIVE_QUEUE_URL": "${Live}", "SUREHOOK_REPLAY_QUEUE_URL": "${Replay}", "SUREHOOK_REPLAY_JOBS_URL": "${ReplayJobs}",
				},
				"Manage": {
					"SUREHOOK_TABLE": "${Table}", "SUREHOOK_KMS_KEY_ARN": "${Key.Arn}", "SUREHOOK_LIVE_QUEUE_URL": "${Live}", "SUREHOOK_EVENTS_QUEUE_URL": "${Events}", "SUREHOOK_REJECTS_QUEUE_URL": "${Rejects}",
					"SUREHOOK_CIRCUITS_QUEUE_URL": "${Circuits}", "SUREHOOK_RETENTION": retention[env.Name], "SUREHOOK_EGRESS": egress[env.Name], "SUREHOOK_API_HOSTS": apiHost,
					"SUREHOOK_RETRY_QUEUE_URL": "${Retry}", "SUREHOOK_REPLAY_QUEUE_URL": "${Replay}", "SUREHOOK_REPLAY_JOBS_URL": "${ReplayJobs}",
					"SUREHOOK_SLOT_QUEUE_URL": "${Slot}", "SUREHOOK_OVERFLOW_QUEUE_URL": "${Overflow}", "SUREHOOK_COALESCE_QUEUE_URL": "${Coalesce}",
					"SUREHOOK_DEAD_LETTERS_URL": "${DeadLetters}", "SUREHOOK_UNDELIVERABLE_URL": "${Undeliverable}", "SUREHOOK_UNDELIVERABLE_RETRY_URL": "${UndeliverableRetry}",
					"SUREHOOK_ENVELOPE": names.EnvelopeStandard,
				},
				"Authorize": {"SUREHOOK_TABLE": "${Table}", "SUREHOOK_ADMIN_KEY_SECRET_ARN": "${AdminKey}"},
			}
			for id, f := range tpl.all("AWS::Lambda::Function") {
				want[id]["SUREHOOK_ENVIRONMENT"] = "surehook-" + env.Name
				if diff := cmp.Diff(want[id], variables(f)); diff != "" {
					t.Errorf("environment of %s (-want +got):\n%s", id, diff)
				}
			}
		})
	}
}

// Only the local stack can name one more host for deliveries, and only on request:
// TestFunctions_environment shows the templates without the variable.
func TestFunctions_egressHost(t *testing.T) {
	t.Parallel()

	const host = "host.docker.internal"
	for _, env := range environments("arm64") {
		env.EgressHost = host
		if env.Name != "local" {
			if err := env.Validate(); err == nil || !strings.Contains(err.Error(), host) {
				t.Errorf("Validate() of %s with the egress host %s = %v; want an error that names the host", env.Name, host, err)
			}
			continue
		}
		if got := env.settings().Variables("deliver")["SUREHOOK_EGRESS_HOST"]; got != host {
			t.Errorf("%s of %s = %q; want %s", "SUREHOOK_EGRESS_HOST", env.Name, got, host)
		}
	}
}

// variables returns the function's variables that package config reads.
func variables(f resource) map[string]string {
	got := map[string]string{}
	set, _ := f.at("Environment", "Variables").(map[string]any)
	for name, value := range set {
		if name != names.EnvGarbage && name != names.EnvMemoryLimit {
			got[name] = show(value)
		}
	}
	return got
}

// TestFunctions_collector checks what the Go runtime reads: a limit below the memory of
// the function, and rare collections of garbage.
func TestFunctions_collector(t *testing.T) {
	t.Parallel()

	limits := map[int]string{160: "120MiB", 256: "192MiB", 512: "384MiB"}
	for _, env := range []string{"dev", "staging", "prod", "local", customised().Name} {
		for id, f := range templateOf(t, env).all("AWS::Lambda::Function") {
			memory, _ := f.at("MemorySize").(float64)
			limit, ok := limits[int(memory)]
			if !ok {
				t.Errorf("%s of %s has %v MB; want a size with a known limit", id, env, memory)
			}
			f.check(t, "Environment.Variables."+names.EnvMemoryLimit, limit)
			f.check(t, "Environment.Variables."+names.EnvGarbage, "400")
		}
	}
}

// TestFunctions_everyVariable checks that infra sets every variable of package
// config, except the variable of the local stack alone.
func TestFunctions_everyVariable(t *testing.T) {
	t.Parallel()

	var set []string
	for _, env := range []string{"prod", customised().Name, "allocated"} {
		for _, f := range templateOf(t, env).all("AWS::Lambda::Function") {
			for name := range variables(f) {
				set = append(set, name)
			}
		}
	}
	slices.Sort(set)
	set = slices.Compact(set)
	want := slices.DeleteFunc(surehookVariables(t), func(name string) bool { return name == "SUREHOOK_EGRESS_HOST" })
	if diff := cmp.Diff(want, set); diff != "" {
		t.Errorf("variables in config (-) and on the functions (+):\n%s", diff)
	}
}

// surehookVariables returns the environment variables in the table of package config, sorted.
func surehookVariables(t *testing.T) []string {
	t.Helper()

	file, err := parser.ParseFile(token.NewFileSet(), "../../internal/config/settings.go", nil, 0)
	if err != nil {
		t.Fatalf("parse the settings: %v", err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(s, "SUREHOOK_") {
				found = append(found, s)
			}
		}
		return true
	})
	slices.Sort(found)
	return found
}

// TestFunctions_leases checks that a lease outlives the invocation that took it, so that no second
// attempt begins beside the first.
func TestFunctions_leases(t *testing.T) {
	t.Parallel()

	for of, lease := range map[string]time.Duration{"probe": circuit.ProbeLease, "in-flight slot": admission.LeaseFor} {
		if lease <= deliverTimeout {
			t.Errorf("the lease of a %s lasts %s; want more than the %s of an invocation", of, lease, deliverTimeout)
		}
	}
	if least := hook.MaxTimeout + 20*time.Second; deliverTimeout < least {
		t.Errorf("an invocation has %s; want %s or more, for the longest attempt, loading and settling", deliverTimeout, least)
	}
}
