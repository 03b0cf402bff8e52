package smoke

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// alarmPage is CloudWatch's maximum of names per call.
const alarmPage = 100

// alarms compares CloudWatch's alarms with the stack's.
func (s *session) alarms(ctx context.Context) (string, error) {
	want := s.deployment.physical("AWS::CloudWatch::Alarm")
	client := cloudwatch.NewFromConfig(s.AWS)
	var found []types.MetricAlarm
	for names := range slices.Chunk(want, alarmPage) {
		got, err := client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: names, MaxRecords: aws.Int32(alarmPage)})
		if err != nil {
			return "", fmt.Errorf("read the alarms: %w", err)
		}
		found = append(found, got.MetricAlarms...)
	}
	note, silent := fmt.Sprintf("%d alarms", len(found)), s.deployment.silent()
	if silent {
		note += ", without messages in this environment"
	}
	for _, a := range found {
		if a.StateValue == types.StateValueAlarm {
			note += "; in ALARM: " + aws.ToString(a.AlarmName)
		}
	}
	return note, judgeAlarms(want, found, silent)
}

// judgeAlarms checks that every alarm of the stack exists and, unless the
// environment is silent, tells somebody.
func judgeAlarms(want []string, found []types.MetricAlarm, silent bool) error {
	if len(want) == 0 {
		return errors.New("the stack has no alarms")
	}
	by := map[string]types.MetricAlarm{}
	for _, a := range found {
		by[aws.ToString(a.AlarmName)] = a
	}
	var faults []string
	for _, name := range slices.Sorted(slices.Values(want)) {
		switch a, ok := by[name]; {
		case !ok:
			faults = append(faults, name+" is missing")
		case !aws.ToBool(a.ActionsEnabled):
			faults = append(faults, name+" has its actions switched off")
		case len(a.AlarmActions) == 0 && !silent:
			faults = append(faults, name+" has no action")
		}
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}
