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

// alarm is an alarm in CloudWatch.
type alarm struct {
	Name    string
	Enabled bool // the alarm calls its actions
	Actions int
	Ringing bool
}

// alarmPage is CloudWatch's maximum of names per call.
const alarmPage = 100

// alarms compares CloudWatch's alarms with the stack's.
func (s *session) alarms(ctx context.Context) (string, error) {
	want := s.deployment.physical("AWS::CloudWatch::Alarm")
	client := cloudwatch.NewFromConfig(s.AWS)
	var found []alarm
	for names := range slices.Chunk(want, alarmPage) {
		got, err := client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: names, MaxRecords: aws.Int32(alarmPage)})
		if err != nil {
			return "", fmt.Errorf("read the alarms: %w", err)
		}
		for _, a := range got.MetricAlarms {
			found = append(found, alarm{
				Name: aws.ToString(a.AlarmName), Enabled: aws.ToBool(a.ActionsEnabled), Actions: len(a.AlarmActions),
				Ringing: a.StateValue == types.StateValueAlarm,
			})
		}
	}
	note, silent := fmt.Sprintf("%d alarms", len(found)), s.deployment.silent()
	if silent {
		note += ", without messages in this environment"
	}
	for _, a := range found {
		if a.Ringing {
			note += "; in ALARM: " + a.Name
		}
	}
	return note, judgeAlarms(want, found, silent)
}

// judgeAlarms checks that every alarm of the stack exists and, unless the
// environment is silent, tells somebody.
func judgeAlarms(want []string, found []alarm, silent bool) error {
	if len(want) == 0 {
		return errors.New("the stack has no alarms")
	}
	by := map[string]alarm{}
	for _, a := range found {
		by[a.Name] = a
	}
	var faults []string
	for _, name := range slices.Sorted(slices.Values(want)) {
		switch a, ok := by[name]; {
		case !ok:
			faults = append(faults, name+" is missing")
		case !a.Enabled:
			faults = append(faults, name+" has its actions switched off")
		case a.Actions == 0 && !silent:
			faults = append(faults, name+" has no action")
		}
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}
