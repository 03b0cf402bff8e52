package httpapi

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/deadletter"
)

// defaultPeriod is the default length of the analyzed period.
const defaultPeriod = 24 * time.Hour

type analysisView struct {
	Period   time.Duration `json:"period"`
	Total    int           `json:"total"`
	Complete bool          `json:"complete"`
	Groups   []groupView   `json:"groups"`
}

type groupView struct {
	Endpoint     hook.EndpointID    `json:"endpoint_id"`
	Class        hook.Class         `json:"class,omitzero"`
	Status       int                `json:"status,omitzero"`
	Reason       hook.Reason        `json:"reason"`
	Count        int                `json:"count"`
	FirstAt      time.Time          `json:"first_at"`
	LastAt       time.Time          `json:"last_at"`
	MeanAttempts float64            `json:"mean_attempts"`
	Error        string             `json:"error,omitzero"`
	Pattern      deadletter.Pattern `json:"pattern"`
	Suggestion   string             `json:"suggestion"`
}

func (h *replays) analyse(ctx context.Context, c *call) (reply, error) {
	q, period := query(c, "period"), defaultPeriod
	if q.Has("period") {
		var ok bool
		if period, ok = parseDuration(q.Get("period")); !ok {
			q.wrong.add("period", durationForm)
		}
	}
	if err := q.wrong.err(); err != nil {
		return reply{}, err
	}
	return shown(viewAnalysis)(h.replayer.Analyse(ctx, c.tenant, period))
}

func viewAnalysis(a replay.Analysis) analysisView {
	v := viewOf[analysisView](a)
	v.Groups = viewsOf[groupView](a.Groups)
	return v
}
