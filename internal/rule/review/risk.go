package review

import (
	"fmt"
	"strconv"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// Lead is how long before the first loss the owner of an endpoint with the max_age is warned: half of
// it, at most a day. After a recovery no delivery is that old for at least as long, so that a trouble
// has ended before the next one.
func Lead(maxAge time.Duration) time.Duration { return min(maxAge/2, day) }

// shortestRisk is the shortest trouble: several reviews.
const shortestRisk = 4 * Every

// judgeRisk begins a trouble when the first loss is near, and extends it as long as that is so.
func (j *judgement) judgeRisk() {
	lead := Lead(j.Endpoint.MaxAge)
	near := j.Backlog.AtRisk > 0 && j.Backlog.FirstLoss.Sub(j.now) <= lead
	lasts := max(lead, shortestRisk)
	if near && j.before.AtRiskUntil.Sub(j.now) < lasts/2 {
		j.after.AtRiskUntil = j.quarter().Add(lasts)
	}
}

// atRisk returns the notification of a new trouble, if there is one. Its key names the trouble before,
// which is stored until this one is.
func (j *judgement) atRisk() []hook.Notification {
	if j.after.AtRiskUntil.Equal(j.before.AtRiskUntil) || j.now.Before(j.before.AtRiskUntil) {
		return nil
	}
	before := j.before.AtRiskUntil
	if before.IsZero() {
		before = j.Endpoint.CreatedAt
	}
	n := j.notification(hook.NotificationAtRisk, strconv.FormatInt(before.UnixMilli(), 10), j.riskReason())
	n.Figures["at_risk"], n.FirstLoss = float64(j.Backlog.AtRisk), j.Backlog.FirstLoss
	return []hook.Notification{n}
}

func (j *judgement) riskReason() string {
	number, verb := "1 waiting delivery is", "on"
	if j.Backlog.AtRisk > 1 {
		number, verb = fmt.Sprintf("%d waiting deliveries are", j.Backlog.AtRisk), "the first on"
	}
	return fmt.Sprintf("At risk: %s lost if nothing changes, %s %s: %s.", number, verb,
		j.Backlog.FirstLoss.UTC().Format("2 January at 15:04 UTC"), j.held())
}

// held says why the deliveries do not leave in time.
func (j *judgement) held() string {
	switch {
	case j.Backlog.PerSecond > 0:
		return fmt.Sprintf("they leave at %s per second, and max_age is %s",
			strconv.FormatFloat(j.Backlog.PerSecond, 'g', 2, 64), hook.FormatDuration(j.Endpoint.MaxAge))
	case j.Endpoint.Status != hook.StatusActive:
		return "the endpoint is " + j.Endpoint.Status.String()
	case j.Circuit.State != circuit.Closed:
		return "the endpoint's circuit is open"
	}
	return "the endpoint asked to wait"
}
