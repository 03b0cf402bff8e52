package main

import "testing"

func TestTick(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			tick := tpl.get(t, "AWS::Scheduler::Schedule", "Tick")
			tick.check(t, "ScheduleExpression", "rate(1 minute)")
			tick.check(t, "FlexibleTimeWindow.Mode", "OFF")
			tick.check(t, "GroupName", "surehook-"+env.Name)
			tick.check(t, "State", nil) // enabled
			tick.check(t, "Target.Input", `{"tick":true}`)
			tick.check(t, "Target.RetryPolicy", map[string]any{"MaximumRetryAttempts": 0.0})
			tick.check(t, "Target.DeadLetterConfig", nil)
			if got := show(tick.at("Target", "Arn")); got != "${Breaker.Arn}" {
				t.Errorf("the tick calls %s; want the breaker", got)
			}
			if got := show(tick.at("Target", "RoleArn")); got != "${TickRole.Arn}" {
				t.Errorf("the tick runs as %s; want its own role", got)
			}
		})
	}
}

// TestTick_lost checks that Lambda drops a tick it cannot run: it would keep it
// for six hours and run what fails three times.
func TestTick_lost(t *testing.T) {
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
