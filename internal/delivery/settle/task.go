package settle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/settlement"
)

// Send puts the task on its queue at its time, and counts a task that circles. A time beyond
// the longest delay of a queue takes a schedule, which puts the task on the retry queue.
func (s *Settler) Send(ctx context.Context, send settlement.Sending) error {
	task, at := send.Task, send.At
	if task.Hops >= hook.MaxHops {
		LogCircling(ctx, s.Log, s.Metrics, s.Now(), "task.circling", task.Hops,
			slog.String(names.LogTenant, string(task.Tenant)),
			slog.String(names.LogEndpoint, string(task.Delivery.Endpoint)),
			slog.String(names.LogDelivery, task.Delivery.String()),
			slog.Int(names.LogAttempt, task.Attempt))
	}
	delay := max(0, at.Sub(s.Now()))
	if delay > hook.MaxQueueDelay {
		if err := s.Schedules.At(ctx, task, at); err != nil {
			return fmt.Errorf("schedule attempt %d of %s: %w", task.Attempt, task.Delivery, err)
		}
		return nil
	}
	if errs := s.Queue.Send(ctx, send.Queue, []hook.Task{task}, delay); errs != nil {
		return fmt.Errorf("send task of attempt %d of %s: %w", task.Attempt, task.Delivery, errs[0])
	}
	return nil
}

// scheduleHash is the number of bytes of the hash in the name of a schedule.
const scheduleHash = 16

// ScheduleName returns the name of the task's schedule: the event id, "_", and a hash of
// delivery, attempt, nonce and time in whole seconds. The adapters of Schedules use the name,
// so that a repeated call of At finds the schedule of the first call, and no other one.
//
// A fired schedule still exists for some minutes. Without the time in its name, a task that
// the gate delays again would collide with it. Without the nonce, another task of the attempt
// would. A call for the same second cannot find a fired schedule, because At is called more
// than 15 minutes before that second.
//
// The name has at most 63 of the service's 64 characters: 30 + 1 + 32. Only names of
// one event can collide: n names collide with a probability of n²/2^129. A million
// names give 10^12 / 6.8×10^38 = 1.5×10^-27.
func ScheduleName(task hook.Task, at time.Time) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %d", task.Delivery, task.Attempt, task.Nonce, at.Unix()))
	return string(task.Delivery.Event) + "_" + hex.EncodeToString(sum[:scheduleHash])
}
