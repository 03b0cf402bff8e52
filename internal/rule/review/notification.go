package review

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"surehook/internal/hook"
)

// notifications returns what the owner is told: how the flags changed.
func (j *judgement) notifications() []hook.Notification {
	var notices []hook.Notification
	if j.after.Slow && !j.before.Slow {
		notices = append(notices, j.notification(hook.NotificationSlow, j.quarter(), j.whySlow()))
	}
	if j.disable {
		why := fmt.Sprintf("Disabled: %s, more than the %s at which an endpoint is disabled.", j.deaths(), percent(DisableOver))
		// Its version does not change until it is disabled, and does with that. That it is fast again is no news then.
		return append(notices, j.notification(hook.NotificationDisabled, strconv.FormatInt(j.endpoint.Version, 10), why))
	}
	if j.after.Warned > j.before.Warned {
		level := strconv.Itoa(j.after.Warned)
		why := fmt.Sprintf("Failing: %s, more than %s %%; it is disabled when they are more than %s.", j.deaths(), level, percent(DisableOver))
		notices = append(notices, j.notification(hook.NotificationFailing, level+"/"+j.quarter(), why))
	}
	if why := j.whyRecovered(); why != "" {
		notices = append(notices, j.notification(hook.NotificationRecovered, j.quarter(), why))
	}
	return notices
}

// notification returns a notice of the endpoint. Occurrence tells it from others of its type.
func (j *judgement) notification(kind, occurrence, why string) hook.Notification {
	return hook.Notification{
		Type:     kind,
		Tenant:   j.endpoint.Tenant,
		Endpoint: j.endpoint.ID,
		At:       j.now,
		Reason:   why,
		Figures:  j.figures(),
		Key:      kind + "/" + string(j.endpoint.ID) + "/" + occurrence,
	}
}

// figures are all that was decided by, and what was decided: a reader need not
// know which rule spoke. Timeout_ms is that of the next attempt.
func (j *judgement) figures() map[string]float64 {
	timeout := j.endpoint.Timeout
	if j.after.Timeout > 0 {
		timeout = j.after.Timeout
	}
	return map[string]float64{
		"p95_ms":     float64(j.recent.Latency.Percentile(95).Milliseconds()),
		"p99_ms":     float64(j.recent.Latency.Percentile(99).Milliseconds()),
		"samples":    float64(j.recent.Latency.Count()),
		"dead_rate":  j.day.DeadRate(),
		"dead":       float64(j.day.Dead),
		"settled":    float64(j.day.Settled()),
		"timeout_ms": float64(timeout.Milliseconds()),
		"warned":     float64(j.after.Warned),
	}
}

// quarter names the quarter of an hour in which no other review is.
func (j *judgement) quarter() string { return j.now.UTC().Truncate(Every).Format("2006-01-02T15:04Z") }

func (j *judgement) whySlow() string {
	var b strings.Builder
	if j.after.Fragile {
		fmt.Fprintf(&b, "Slow: %s, more than %s: fewer failures in a row open its circuit", j.speed(), hook.FormatDuration(FragileOver))
	} else {
		fmt.Fprintf(&b, "Slow: %s, more than %s", j.speed(), hook.FormatDuration(SlowOver))
	}
	if j.after.Timeout > 0 {
		fmt.Fprintf(&b, "; an attempt now ends after %s", rounded(j.after.Timeout))
	}
	return b.String() + "."
}

// whyRecovered says what is over, in one sentence; it is empty when nothing is. A
// warning that went because the endpoint is not active is not over, only moot.
func (j *judgement) whyRecovered() string {
	var over []string
	if j.before.Slow && !j.after.Slow {
		over = append(over, j.speed()+", not more than "+hook.FormatDuration(SlowOver))
	}
	if j.after.Warned < j.before.Warned && j.endpoint.Status == hook.StatusActive {
		over = append(over, j.deaths()+", less than "+percent(WarnOver))
	}
	if len(over) == 0 {
		return ""
	}
	return "Recovered: " + strings.Join(over, "; and ") + "."
}

func (j *judgement) speed() string {
	return fmt.Sprintf("95 %% of the last %d attempts took at most %s", j.recent.Latency.Count(), rounded(j.recent.Latency.Percentile(95)))
}

func (j *judgement) deaths() string {
	return fmt.Sprintf("%d of the last %d deliveries died, which is %s", j.day.Dead, j.day.Settled(), percent(j.day.DeadRate()))
}

func percent(share float64) string {
	return strconv.FormatFloat(float64(int(share*1000+0.5))/10, 'f', -1, 64) + " %"
}

// rounded tells a percentile without the digits that it does not have.
func rounded(d time.Duration) string {
	digit := time.Millisecond
	if d >= time.Second {
		digit = 10 * time.Millisecond
	}
	return hook.FormatDuration(d.Round(digit))
}
