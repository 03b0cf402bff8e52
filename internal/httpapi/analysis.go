package httpapi

import (
	"context"
	"time"
)

// defaultPeriod is the default length of the analyzed period.
const defaultPeriod = 24 * time.Hour

func (h *replays) analyse(ctx context.Context, c *call) (reply, error) {
	q, period := query(c, "period"), defaultPeriod
	if q.Has("period") {
		var ok bool
		if period, ok = parseDuration(q.Get("period")); !ok {
			q.wrong.Add("period", durationForm)
		}
	}
	return q.answer(func() (any, error) { return h.Replayer.Analyse(ctx, c.tenant, period) })
}
