package httpapi

import (
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

type notReplayedView struct {
	Delivery hook.DeliveryID `json:"delivery_id"`
	Endpoint hook.EndpointID `json:"endpoint_id"`
	Error    problem         `json:"error"`
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
