package review

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
)

// notifications returns one notification for each decision that changed.
func (j *judgement) notifications() []hook.Notification {
	all := append(j.expiring(), j.atRisk()...)
	occurrence := j.quarter().Format("2006-01-02T15:04Z")
	if j.after.Slow && !j.before.Slow {
		all = append(all, j.notification(hook.NotificationSlow, occurrence, j.slowReason()))
	}
	if j.disable {
		reason := fmt.Sprintf("Disabled: %s, more than %s, and none has succeeded since %s.",
			j.deaths(), percent(DisableOver), RecentSince(j.now.UTC()).Format("15:04 UTC"))
		// The disabling changes the version. So a repeated review gives the same key, and a later
		// disabling another. A disabled endpoint is not reported as recovered.
		return append(all, j.notification(hook.NotificationDisabled, strconv.FormatInt(j.Endpoint.Version, 10), reason))
	}
	if j.after.Warned > j.before.Warned {
		level := strconv.Itoa(j.after.Warned)
		reason := fmt.Sprintf("Failing: %s, more than %s %%; %s.", j.deaths(), level, j.prospect())
		all = append(all, j.notification(hook.NotificationFailing, level+"/"+occurrence, reason))
	}
	if reason := j.recoveredReason(); reason != "" {
		all = append(all, j.notification(hook.NotificationRecovered, occurrence, reason))
	}
	return all
}

// notification returns a notification about the endpoint. occurrence tells notifications of the
// same type apart.
func (j *judgement) notification(kind, occurrence, reason string) hook.Notification {
	return hook.Notification{
		Type:     kind,
		Tenant:   j.Endpoint.Tenant,
		Endpoint: j.Endpoint.ID,
		At:       j.now,
		Reason:   reason,
		Figures:  j.figures(),
		Key:      kind + "/" + string(j.Endpoint.ID) + "/" + occurrence,
	}
}

// figures returns what the rules about speed and deaths knew and decided. All notifications of
// one review have the same figures. timeout_ms is the timeout of the next attempt.
func (j *judgement) figures() map[string]float64 {
	timeout := j.Endpoint.Timeout
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

// quarter returns the start of the current quarter of an hour, in UTC. Each quarter has one review.
func (j *judgement) quarter() time.Time { return j.now.UTC().Truncate(Every) }

// prospect says what happens if more deliveries die.
func (j *judgement) prospect() string {
	if !j.Endpoint.AutoDisable {
		return "auto_disable is off, so the endpoint stays active"
	}
	return fmt.Sprintf("a later review disables the endpoint above %s, if no delivery succeeds", percent(DisableOver))
}

func (j *judgement) slowReason() string {
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

// recoveredReason names the problems that are over, in one sentence; empty for none. A warning
// that ends because the endpoint is paused or disabled is not a recovery.
func (j *judgement) recoveredReason() string {
	var over []string
	if j.before.Slow && !j.after.Slow {
		over = append(over, j.speed()+", not more than "+hook.FormatDuration(SlowOver))
	}
	if j.after.Warned < j.before.Warned && j.Endpoint.Status == hook.StatusActive {
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
	return fmt.Sprintf("%d of the last %d deliveries died (%s)", j.day.Dead, j.day.Settled(), percent(j.day.DeadRate()))
}

func percent(share float64) string {
	return strconv.FormatFloat(float64(int(share*1000+0.5))/10, 'f', -1, 64) + " %"
}

// rounded returns a duration in whole milliseconds, or from one second on in hundredths of a
// second. More digits would say nothing, because percentiles have an error of up to 5 %.
func rounded(d time.Duration) string {
	digit := time.Millisecond
	if d >= time.Second {
		digit = 10 * time.Millisecond
	}
	return hook.FormatDuration(d.Round(digit))
}
