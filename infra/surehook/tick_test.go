package surehook

import (
	"slices"
	"testing"
)

func TestTicks(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			for id, want := range map[string]struct{ input, every string }{
				"Tick":      {input: `{"tick":true}`, every: "rate(1 minute)"},
				"Review":    {input: `{"review":true}`, every: "rate(15 minutes)"},
				"Reconcile": {input: `{"reconcile":true}`, every: "rate(15 minutes)"},
				"Sweep":     {input: `{"sweep":true}`, every: "rate(5 minutes)"},
			} {
				tick := tpl.get(t, "AWS::Scheduler::Schedule", id)
				tick.check(t, "ScheduleExpression", want.every)
				tick.check(t, "FlexibleTimeWindow.Mode", "OFF")
				tick.check(t, "GroupName", "surehook-"+env.Name)
				tick.check(t, "State", nil) // enabled
				tick.check(t, "Target.Input", want.input)
				tick.check(t, "Target.RetryPolicy", map[string]any{"MaximumRetryAttempts": 0.0})
				tick.check(t, "Target.DeadLetterConfig", nil)
				if !slices.ContainsFunc(tick.DependsOn, func(id string) bool { return short(id) == "TickRoleDefaultPolicy" }) {
					t.Errorf("%s depends on %v; want the permission first", id, tick.DependsOn)
				}
				if got := show(tick.at("Target", "Arn")); got != "${Breaker.Arn}" {
					t.Errorf("%s calls %s; want the breaker", id, got)
				}
			}
		})
	}
}

// TestTicks_lost checks that Lambda drops a delayed or failed tick. By default,
// Lambda keeps a call for six hours and runs a failed call three times.
func TestTicks_lost(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			configs := tpl.all("AWS::Lambda::EventInvokeConfig")
			if len(configs) != 1 {
				t.Errorf("%d functions are called asynchronously; want the breaker alone", len(configs))
			}
			for _, config := range configs {
				if got := show(config.at("FunctionName")); got != "${Breaker}" {
					t.Errorf("the configuration is of %s; want the breaker", got)
				}
				config.check(t, "Qualifier", "$LATEST")
				config.check(t, "MaximumRetryAttempts", 0)
				config.check(t, "MaximumEventAgeInSeconds", 60)
				config.check(t, "DestinationConfig", nil)
			}
		})
	}
}
