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
	Filter   *filterBody    `json:"filter"`
	Rate     *float64       `json:"rate_per_second"`
	DryRun   bool           `json:"dry_run"`
	AddTo    *string        `json:"add_to"`
	Action   *replay.Action `json:"action"`
	Limit    *int           `json:"limit"`
	Expected int            `json:"expected"`
}

type filterBody struct {
	Endpoint *string       `json:"endpoint"`
	State    *string       `json:"state"`
	Types    []string      `json:"event_types"`
	Since    time.Time     `json:"since"`
	Until    time.Time     `json:"until"`
	Class    *replay.Cause `json:"class"`
	Status   *int          `json:"status"`
	Died     time.Time     `json:"died_since"`
}

// request translates the body and refuses empty values in the filter, because they would select
// everything. Package replay checks the rest.
func (b jobBody) request(by hook.KeyID, wrong hook.Fields) replay.JobRequest {
	if b.Filter == nil {
		wrong = hook.AlsoWrong(wrong, hook.Fields{{Field: "filter", Message: "is missing"}})
		b.Filter = new(filterBody)
	}
	wrong.Refuse(b.Filter.Types != nil && len(b.Filter.Types) == 0, "filter.event_types", "must not be empty")
	r := replay.JobRequest{
		// limitOf: a status of 0 would select every status, and a limit of 0 be none.
		Filter:   replay.Filter{Types: b.Filter.Types, From: b.Filter.Since, To: b.Filter.Until, Status: limitOf(b.Filter.Status), DiedSince: b.Filter.Died},
		Terms:    replay.Terms{Rate: replay.DefaultRate, Limit: limitOf(b.Limit), Expected: b.Expected, By: by},
		Endpoint: optionalText(&wrong, "filter.endpoint", b.Filter.Endpoint),
		AddTo:    optionalText(&wrong, "add_to", b.AddTo),
	}
	set(&r.Class, b.Filter.Class)
	set(&r.Action, b.Action)
	set(&r.Rate, b.Rate)
	if b.Filter.State != nil {
		var err error
		if r.State, err = hook.ParseState(*b.Filter.State); err != nil {
			wrong.Add("filter.state", "must be one of dead, parked, delivered, discarded")
		}
	}
	wrong.Refuse(r.AddTo != "" && b.Filter.State != nil, "filter.state", "does not apply with add_to, which takes the events of all states")
	wrong.Refuse(r.AddTo != "" && (r.Class != 0 || r.Status != 0), "filter.class", "does not apply with add_to, which takes the events of all outcomes")
	wrong.Refuse(r.AddTo != "" && !r.DiedSince.IsZero(), "filter.died_since", "does not apply with add_to, which takes the events of all states")
	wrong.Refuse(r.AddTo != "" && b.DryRun, "dry_run", "is not possible with add_to")
	r.Wrong = wrong
	return r
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
	return viewList(listQuery(c), func(req page.Request) (page.List[replay.Job], error) {
		return page.After(page.Scope("replays", string(c.tenant)), req, func(before string) ([]replay.Job, string, error) {
			jobs, err := h.Replayer.Store.Jobs(ctx, c.tenant, hook.JobID(before), req.Limit+1)
			first, next := page.First(jobs, req.Limit, func(j replay.Job) string { return string(j.ID) })
			return first, next, err
		})
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

type jobView struct {
	ID        hook.JobID          `json:"id"`
	State     replay.JobState     `json:"state"`
	Filter    filterView          `json:"filter"`
	AddTo     hook.EndpointID     `json:"add_to,omitzero"`
	Action    replay.Action       `json:"action"`
	Rate      float64             `json:"rate_per_second"`
	Limit     int                 `json:"limit,omitzero"`
	Expected  int                 `json:"expected,omitzero"`
	Selected  int                 `json:"selected"`
	Enqueued  int                 `json:"enqueued"`
	Skipped   int                 `json:"skipped"`
	SkippedBy map[replay.Skip]int `json:"skipped_by_reason,omitempty"`
	By        hook.KeyID          `json:"by"`
	CreatedAt time.Time           `json:"created_at"`
	UpdatedAt time.Time           `json:"updated_at"`
	EndedAt   time.Time           `json:"ended_at,omitzero"`
	ExpiresAt time.Time           `json:"expires_at,omitzero"` // of an ended job
}

type filterView struct {
	Endpoint  hook.EndpointID `json:"endpoint,omitzero"`
	State     hook.State      `json:"state,omitzero"`
	Types     []string        `json:"event_types,omitempty"`
	From      time.Time       `json:"since,omitzero"`
	To        time.Time       `json:"until,omitzero"`
	Class     replay.Cause    `json:"class,omitzero"`
	Status    int             `json:"status,omitzero"`
	DiedSince time.Time       `json:"died_since,omitzero"`
}

// progressView is a job with the states of the enqueued deliveries.
type progressView struct {
	jobView
	replay.Outcomes

	InProgress int `json:"in_progress"`
}

type previewView struct {
	replay.Preview

	Sample []deliveryView `json:"sample"`
}

func viewJob(j replay.Job) jobView {
	v := viewOf[jobView](j)
	if j.EndedAt.IsZero() {
		v.ExpiresAt = time.Time{}
	}
	if v.AddTo = j.Filter.AddTo; v.AddTo != "" {
		v.Filter.State = 0 // the events of all states
	}
	return v
}

func viewProgress(p replay.Progress) progressView {
	v := progressView{jobView: viewJob(p.Job), Outcomes: p.Outcomes}
	if p.Action == replay.ActionReplay { // a discarded delivery is settled
		// A delivery may settle before its page is counted as enqueued.
		v.InProgress = max(0, p.Enqueued-p.Delivered-p.Dead-p.Cancelled)
	}
	return v
}

func (c *call) viewPreview(p replay.Preview) previewView {
	return previewView{Preview: p, Sample: each(p.Sample, c.viewDelivery)}
}
