package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// jobBody is a request for a replay job. The filter is required, even if it is empty, so that
// forgetting it does not replay everything.
type jobBody struct {
	Filter   *filterBody `json:"filter"`
	Rate     *float64    `json:"rate_per_second"`
	DryRun   bool        `json:"dry_run"`
	AddTo    *string     `json:"add_to"`
	Action   *string     `json:"action"`
	Limit    *int        `json:"limit"`
	Expected int         `json:"expected"`
}

type filterBody struct {
	Endpoint *string   `json:"endpoint"`
	State    *string   `json:"state"`
	Types    []string  `json:"event_types"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Class    *string   `json:"class"`
	Status   *int      `json:"status"`
	Died     time.Time `json:"died_since"`
}

// The actions of a job.
const (
	actionReplay  = "replay"
	actionDiscard = "discard"
)

// noAttempt is the class of deliveries without an attempt in a filter.
const noAttempt = "none"

// request translates the body and refuses empty values in the filter, because they would select
// everything. Package replay checks the rest.
func (b jobBody) request(by hook.KeyID, wrong hook.Fields) replay.JobRequest {
	if b.Filter == nil {
		wrong = hook.AlsoWrong(wrong, hook.Fields{{Field: "filter", Message: "is missing"}})
		b.Filter = new(filterBody)
	}
	wrong.Refuse(b.Filter.Types != nil && len(b.Filter.Types) == 0, "filter.event_types", "must not be empty")
	r := replay.JobRequest{
		Endpoint: optionalText(&wrong, "filter.endpoint", b.Filter.Endpoint),
		State:    hook.StateDead,
		Types:    b.Filter.Types,
		From:     b.Filter.Since,
		To:       b.Filter.Until,
		Rate:     replay.DefaultRate,
		By:       by,
		Limit:    limitOf(b.Limit),

		DiedSince: b.Filter.Died,
		Expected:  b.Expected,
		Discard:   b.Action != nil && *b.Action == actionDiscard,
	}
	if b.Filter.State != nil {
		var err error
		if r.State, err = hook.ParseState(*b.Filter.State); err != nil {
			wrong.Add("filter.state", "must be one of dead, parked, delivered, discarded")
		}
	}
	r.Cause = b.Filter.cause(&wrong)
	set(&r.Rate, b.Rate)
	wrong.Refuse(b.Action != nil && *b.Action != actionReplay && *b.Action != actionDiscard, "action", "must be replay or discard")
	r.AddTo = optionalText(&wrong, "add_to", b.AddTo)
	wrong.Refuse(r.AddTo != "" && b.Filter.State != nil, "filter.state", "does not apply with add_to, which takes the events of all states")
	wrong.Refuse(r.AddTo != "" && r.Cause != (replay.Cause{}), "filter.class", "does not apply with add_to, which takes the events of all outcomes")
	wrong.Refuse(r.AddTo != "" && !r.DiedSince.IsZero(), "filter.died_since", "does not apply with add_to, which takes the events of all states")
	wrong.Refuse(r.AddTo != "" && b.DryRun, "dry_run", "is not possible with add_to")
	r.Wrong = wrong
	return r
}

// cause returns what the filter says about the last attempt. Package replay checks the status.
func (b filterBody) cause(wrong *hook.Fields) replay.Cause {
	c := replay.Cause{Status: limitOf(b.Status)} // 0 would select every status
	switch {
	case b.Class == nil:
	case *b.Class == noAttempt:
		c.None = true
	default:
		var err error
		if c.Class, err = hook.ParseClass(*b.Class); err != nil {
			wrong.Add("filter.class", "must be none or a class of an outcome, such as timeout")
		}
	}
	return c
}

// startJob starts a replay job, or, with dry_run, returns a preview.
func (h *replays) startJob(ctx context.Context, c *call, body jobBody, wrong hook.Fields) (reply, error) {
	r := body.request(c.principal.Key, wrong)
	if err := c.mayAddTo(r.AddTo); err != nil {
		return reply{}, err
	}
	if body.DryRun {
		return shown(c.viewPreview)(h.Replayer.DryRun(ctx, c.tenant, r))
	}
	if err := c.begin(ctx, "", body); err != nil {
		return reply{}, err
	}
	j, err := h.Replayer.Start(ctx, c.tenant, r)
	if err != nil {
		return reply{}, fmt.Errorf("start replay: %w", err)
	}
	c.target(string(j.ID))
	c.changed(nil, facts{"state": j.State.String()})
	return reply{status: http.StatusAccepted, body: viewJob(j)}.with("Location", c.locate("replays", string(j.ID))), nil
}

func (h *replays) listJobs(ctx context.Context, c *call) (reply, error) {
	list := page.Scope("replays", string(c.tenant))
	return viewList(listQuery(c), func(req page.Request) (page.List[replay.Job], error) {
		before, err := page.OpenCursor(list, req.Cursor)
		if err != nil {
			return page.List[replay.Job]{}, fmt.Errorf("list replays: %w", err)
		}
		jobs, err := h.Replayer.Jobs.Jobs(ctx, c.tenant, hook.JobID(before), req.Limit+1)
		if err != nil {
			return page.List[replay.Job]{}, fmt.Errorf("list replays: %w", err)
		}
		return page.First(jobs, list, req.Limit, func(j replay.Job) string { return string(j.ID) }), nil
	}, viewJob)
}

func (h *replays) getJob(ctx context.Context, c *call, id hook.JobID) (reply, error) {
	return shown(viewProgress)(h.Replayer.Job(ctx, c.tenant, id))
}

// cancelJob cancels a job. Cancelling it again changes nothing; a finished job is a conflict.
func (h *replays) cancelJob(ctx context.Context, c *call, id hook.JobID) (reply, error) {
	before, err := h.Replayer.Job(ctx, c.tenant, id)
	if err != nil {
		return reply{}, fmt.Errorf("read replay: %w", err)
	}
	p, err := h.Replayer.CancelJob(ctx, c.tenant, id)
	if err != nil {
		return reply{}, fmt.Errorf("cancel replay: %w", err)
	}
	c.changed(facts{"state": before.State.String()}, facts{"state": p.State.String()})
	return ok(viewProgress(p)), nil
}
