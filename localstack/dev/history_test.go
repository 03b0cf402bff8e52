package dev_test

import (
	"net/http"
	"testing"
	"time"

	"surehook.example/surehook/localstack/dev"
)

// TestStart_history begins with a past: its hours are in the statistics, what fails at its end still
// fails, changes have their authors, and the clock is real again.
func TestStart_history(t *testing.T) {
	t.Parallel()

	began := time.Now()
	w := newWorldWith(t, dev.Options{History: 12 * time.Hour})
	var health struct {
		Endpoints int `json:"endpoints"`
		Data      []struct {
			UID       string `json:"uid"`
			Waiting   int    `json:"waiting"`
			Dead      int    `json:"dead"`
			Delivered int    `json:"delivered"`
			Condition struct {
				State string    `json:"state"`
				Since time.Time `json:"since"`
			} `json:"condition"`
		} `json:"data"`
	}
	w.call(http.MethodGet, "/v1/tenants/acme/health", "", http.StatusOK, &health)
	if health.Endpoints != 4 {
		t.Fatalf("acme has %d endpoints; want 4", health.Endpoints)
	}
	for _, e := range health.Data {
		switch e.UID {
		case "crm":
			if lasts := began.Sub(e.Condition.Since); e.Condition.State != "failing" || e.Waiting < 50 || lasts < 8*time.Hour || lasts > 9*time.Hour {
				t.Errorf("crm is %+v; want failing for nearly 9 hours, with what waits", e)
			}
		case "billing":
			if e.Condition.State != "failing" || e.Dead == 0 || e.Delivered == 0 {
				t.Errorf("billing is %+v; want failing with dead letters after a good time", e)
			}
		default:
			if e.Condition.State != "healthy" || e.Delivered == 0 {
				t.Errorf("%s is %+v; want healthy", e.UID, e)
			}
		}
	}
	var stats struct {
		Data []struct{ Hour time.Time }
	}
	w.call(http.MethodGet, "/v1/tenants/globex/stats?by=hour", "", http.StatusOK, &stats)
	if len(stats.Data) < 12 {
		t.Errorf("globex has %d hours with attempts; want 12 or 13", len(stats.Data))
	}
	var changes struct {
		Data []struct {
			Action string `json:"action"`
			By     string `json:"key_name"`
		} `json:"data"`
	}
	w.call(http.MethodGet, "/v1/tenants/initech/audit", "", http.StatusOK, &changes)
	if len(changes.Data) != 5 || changes.Data[0].Action != "endpoint.resume" || changes.Data[0].By != "support desk" || changes.Data[2].Action != "endpoint.disable" {
		t.Errorf("the changes of initech are %+v; want an endpoint disabled, and a pause and its end by the support desk", changes.Data)
	}
	var posted struct {
		ID string `json:"id"`
	}
	w.call(http.MethodPost, "/v1/tenants/initech/events", `{"event_type":"report.ready","payload":{}}`, http.StatusAccepted, &posted)
	var event struct {
		At time.Time `json:"accepted_at"`
	}
	w.call(http.MethodGet, "/v1/tenants/initech/events/"+posted.ID, "", http.StatusOK, &event)
	if event.At.Before(began.Truncate(time.Millisecond)) {
		t.Errorf("an event posted now was accepted at %s, before %s", event.At, began)
	}
}
