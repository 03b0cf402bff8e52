package smoke

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"
)

// cloudLimit bounds each check of the cloud. The simulator answers some calls a
// second.
const cloudLimit = 2 * time.Minute

// cloud returns the checks that look at what AWS runs.
func (s *session) cloud() []Check {
	return []Check{
		{Name: "alarms", Limit: cloudLimit, Run: s.alarms},
		{Name: simulatorName, Limit: cloudLimit, Run: s.simulate},
		{Name: "quota: concurrency", Limit: cloudLimit, Run: s.concurrency},
		{Name: "quota: API throttle", Limit: cloudLimit, Run: s.throttles},
	}
}

// allowed returns the error of a call. A call that the caller may not make is no
// fault of the deployment: the check is skipped.
func allowed(doing string, err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation":
			return Skipped(fmt.Sprintf("%s: your credentials do not allow it (%s)", doing, api.ErrorCode()))
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// deployedSchedules are the schedules of the deployment's group.
type deployedSchedules struct {
	client *scheduler.Client
	group  string
}

// Schedules finds the event's schedules: their names begin with the event's id.
func (s deployedSchedules) Schedules(ctx context.Context, event string) (expressions []string, err error) {
	err = s.each(ctx, event, func(name string) error {
		got, err := s.client.GetSchedule(ctx, &scheduler.GetScheduleInput{GroupName: &s.group, Name: &name})
		if err != nil {
			return fmt.Errorf("read the schedule %s: %w", name, err)
		}
		expressions = append(expressions, aws.ToString(got.ScheduleExpression))
		return nil
	})
	return expressions, err
}

// Remove deletes the event's schedules.
func (s deployedSchedules) Remove(ctx context.Context, event string) error {
	return s.each(ctx, event, func(name string) error {
		_, err := s.client.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{GroupName: &s.group, Name: &name})
		if _, gone := errors.AsType[*types.ResourceNotFoundException](err); err != nil && !gone {
			return fmt.Errorf("remove the schedule %s: %w", name, err)
		}
		return nil
	})
}

// each calls do with the names of the event's schedules.
func (s deployedSchedules) each(ctx context.Context, event string, do func(name string) error) error {
	prefix := event + "_"
	got, err := s.client.ListSchedules(ctx, &scheduler.ListSchedulesInput{GroupName: &s.group, NamePrefix: &prefix})
	if err != nil {
		return fmt.Errorf("list the schedules: %w", err)
	}
	for _, one := range got.Schedules {
		if err := do(aws.ToString(one.Name)); err != nil {
			return err
		}
	}
	return nil
}
