package smoke_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"surehook.example/surehook/internal/smoke"
)

func TestJudgeAlarms(t *testing.T) {
	t.Parallel()

	want := []string{"dead", "late"}
	actions := []string{"arn:aws:sns:eu-west-1:111122223333:alerts"}
	dead := types.MetricAlarm{AlarmName: aws.String("dead"), ActionsEnabled: aws.Bool(true), AlarmActions: actions}
	late := types.MetricAlarm{AlarmName: aws.String("late"), ActionsEnabled: aws.Bool(true), AlarmActions: actions, StateValue: types.StateValueAlarm}
	mute := types.MetricAlarm{AlarmName: aws.String("late"), ActionsEnabled: aws.Bool(true)}
	tests := []struct {
		name   string
		want   []string
		found  []types.MetricAlarm
		silent bool
		text   string
	}{
		{"all are there", want, []types.MetricAlarm{dead, late}, false, ""},
		{"one was deleted", want, []types.MetricAlarm{dead}, false, "late is missing"},
		{"one is switched off", want, []types.MetricAlarm{dead, {AlarmName: aws.String("late"), AlarmActions: actions}}, true, "switched off"},
		{"one tells nobody", want, []types.MetricAlarm{dead, mute}, false, "late has no action"},
		{"one tells nobody, as all in this environment", want, []types.MetricAlarm{dead, mute}, true, ""},
		{"the stack has none", nil, nil, false, "no alarms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judged(t, smoke.JudgeAlarms(tt.want, tt.found, tt.silent), tt.text)
		})
	}
}

func TestJudgeConcurrency(t *testing.T) {
	t.Parallel()

	queues := func(n int) smoke.Takes { return smoke.NewTakes(n, 10*n, 0, false) }
	judged(t, smoke.JudgeConcurrency(1000, queues(380)), "")
	judged(t, smoke.JudgeConcurrency(20, queues(16)), "")
	judged(t, smoke.JudgeConcurrency(19, queues(16)), "19 unreserved concurrent executions")
	judged(t, smoke.JudgeConcurrency(10, queues(16)), "raise the quota") // a new account, and dev
	judged(t, smoke.JudgeConcurrency(1000, queues(0)), "no function has a queue")
	judged(t, smoke.JudgeConcurrency(18, smoke.NewTakes(16, 160, 2, false)), "") // ingest and authorize have executions of their own
	judged(t, smoke.JudgeConcurrency(17, smoke.NewTakes(16, 160, 2, false)), "the API needs 2")
	judged(t, smoke.JudgeConcurrency(180, smoke.NewTakes(16, 160, 0, true)), "")
	judged(t, smoke.JudgeConcurrency(179, smoke.NewTakes(16, 160, 0, true)), "no ceiling and may take 160")
}

func TestJudgeThrottles(t *testing.T) {
	t.Parallel()

	account := smoke.Throttle{Rate: 10_000, Burst: 5_000}
	within := map[string]smoke.Throttle{"default": {Rate: 1000, Burst: 2000}, "POST /v1/events": {Rate: 10_000, Burst: 5_000}}
	judged(t, smoke.JudgeThrottles(account, within), "")
	judged(t, smoke.JudgeThrottles(smoke.Throttle{Rate: 2500, Burst: 1250}, map[string]smoke.Throttle{"default": {Rate: 1000, Burst: 2000}}), "burst 2000")
	judged(t, smoke.JudgeThrottles(smoke.Throttle{Rate: 500, Burst: 5000}, map[string]smoke.Throttle{"default": {Rate: 1000, Burst: 2000}}), "admits 1000 requests/s")
	judged(t, smoke.JudgeThrottles(account, map[string]smoke.Throttle{"POST /v1/events": {Rate: 1, Burst: 1}}), "no throttle")
}

// TestAllowed checks that a call without permission skips the check, and that any
// other failure fails the check.
func TestAllowed(t *testing.T) {
	t.Parallel()

	skipped := smoke.AllowedError("read", &smithy.GenericAPIError{Code: "AccessDenied"})
	failed := smoke.AllowedError("read", &smithy.GenericAPIError{Code: "Throttling"})
	results := runOne(t, skipped, failed, smoke.AllowedError("read", errors.New("no answer")))
	for i, want := range []smoke.Verdict{smoke.Skip, smoke.Fail, smoke.Fail} {
		if results[i].Verdict != want {
			t.Errorf("result %d = %s %s; want %s", i, results[i].Verdict, results[i].Note, want)
		}
	}
}
