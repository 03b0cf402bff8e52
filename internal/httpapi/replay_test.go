package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

const (
	deliveriesURL = "/v1/tenants/acme/deliveries/"
	replaysURL    = "/v1/tenants/acme/replays"
	analysisURL   = "/v1/tenants/acme/dead-letters/analysis"
)

// replayer has no scope but that for replays.
var replayer = hook.Principal{Key: "key_replayer", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeReplay}}

// dead makes the retrying delivery of the story a dead one.
func (p *past) die(t *testing.T) {
	t.Helper()

	p.retrying.State, p.retrying.Reason, p.retrying.NextAttemptAt = hook.StateDead, hook.ReasonExhausted, time.Time{}
	if err := p.store.SaveDelivery(t.Context(), p.retrying, nil); err != nil {
		t.Fatalf("SaveDelivery = %v", err)
	}
}

// head is the JSON of a delivery up to the state.
func head(id hook.DeliveryID, state string) string {
	return fmt.Sprintf(`{"id":%q,"event_id":%q,"endpoint_id":%q,"event_type":"order.paid","generation":%d,"state":%q`,
		id, id.Event, id.Endpoint, id.Generation, state)
}

func TestReplay_delivery(t *testing.T) {
	t.Parallel()

	p := story(t)
	p.die(t)
	p.now = p.now.Add(time.Hour)
	const later = `"2026-11-21T10:30:00.000Z"`
	id, next := p.retrying.ID, p.retrying.Successor()
	queued := head(next.DeliveryID, "queued") + `,"attempts":0,"created_at":` + later + `,"updated_at":` + later + `,"by":"key_replayer"}`

	w := p.do(t, replayer, "POST", deliveriesURL+id.String()+"/replay", "")
	if w.Code != 202 || w.Body.String() != queued {
		t.Fatalf("POST = %d %s; want 202 %s", w.Code, w.Body, queued)
	}
	tasks := p.queue.Receive(hook.QueueReplay, 10)
	if len(tasks) != 1 || tasks[0].Task.Delivery != next || tasks[0].Task.ReplayRequest.By != "key_replayer" {
		t.Errorf("the replay queue has %v; want a task of %s", tasks, next)
	}
	w = p.do(t, reader, "GET", deliveriesURL+id.String(), "")
	marked := fmt.Sprintf(`,"replayed_as":%q,"replayed_at":%s,"history":`, next, later)
	if w.Code != 200 || !strings.HasPrefix(w.Body.String(), head(id, "dead")) || !strings.Contains(w.Body.String(), marked) {
		t.Errorf("GET of the old one = %d %s; want it dead, with %s", w.Code, w.Body, marked)
	}
	queued = strings.Replace(queued, `,"by"`, `,"gives_up_at":"2026-11-24T10:30:00.000Z","by"`, 1) // the answer to the replay has none
	w = p.do(t, reader, "GET", deliveriesURL+next.String(), "")
	if want := strings.TrimSuffix(queued, "}") + `,"history":[],"planned_at":[]}`; w.Body.String() != want {
		t.Errorf("GET of the new one = %d %s; want %s", w.Code, w.Body, want)
	}
	w = p.do(t, reader, "GET", eventsURL+"/"+string(p.event.ID)+"/deliveries", "")
	if !strings.Contains(w.Body.String(), queued) {
		t.Errorf("GET of the event's deliveries = %s; want %s in it", w.Body, queued)
	}
	want := plain(409, "already_replayed", "the delivery was already replayed as "+next.String())
	for _, body := range []string{"", `{}`, `{"force":true}`} {
		if w := p.do(t, replayer, "POST", deliveriesURL+id.String()+"/replay", body); w.Code != 409 || w.Body.String() != want {
			t.Errorf("POST %q again = %d %s; want 409 %s", body, w.Code, w.Body, want)
		}
	}
}

func TestReplay_inProgress(t *testing.T) {
	t.Parallel()

	p := story(t)
	target := deliveriesURL + p.retrying.ID.String() + "/replay"
	w := p.do(t, replayer, "POST", target, `{"force":false}`)
	if want := plain(409, "in_progress", "the delivery is still in progress: retrying"); w.Code != 409 || w.Body.String() != want {
		t.Errorf("POST = %d %s; want 409 %s", w.Code, w.Body, want)
	}
	if w = p.do(t, replayer, "POST", target, `{"force":true}`); w.Code != 202 || !strings.HasPrefix(w.Body.String(), head(p.retrying.Successor().DeliveryID, "queued")) {
		t.Errorf("POST with force = %d %s; want 202 and the new generation", w.Code, w.Body)
	}
	w = p.do(t, reader, "GET", deliveriesURL+p.retrying.ID.String(), "")
	if !strings.HasPrefix(w.Body.String(), head(p.retrying.ID, "cancelled")+`,"reason":"replayed"`) {
		t.Errorf("GET of the old one = %d %s; want it cancelled as replayed", w.Code, w.Body)
	}
}

// TestReplay_event checks that each delivery of an event has its own result.
func TestReplay_event(t *testing.T) {
	t.Parallel()

	p := story(t)
	p.die(t)
	target := eventsURL + "/" + string(p.event.ID) + "/replay"
	type results struct {
		Data []struct {
			ID       string `json:"id"`
			State    string `json:"state"`
			Delivery string `json:"delivery_id"`
			Endpoint string `json:"endpoint_id"`
			Error    struct {
				Status int    `json:"status"`
				Code   string `json:"code"`
			} `json:"error"`
		} `json:"data"`
	}
	got := get[results](t, p.bundle, replayer, 207, "POST", target, "")
	if len(got.Data) != 2 {
		t.Fatalf("POST = %+v; want two results", got)
	}
	for _, r := range got.Data {
		switch hook.EndpointID(r.Endpoint) {
		case p.queued.ID.Endpoint:
			if r.Error.Code != "in_progress" || r.Error.Status != 409 || r.Delivery != p.queued.ID.String() || r.ID != "" {
				t.Errorf("the result of the queued delivery is %+v; want in_progress", r)
			}
		case p.retrying.ID.Endpoint:
			if r.ID != p.retrying.Successor().String() || r.State != "queued" || r.Error.Code != "" {
				t.Errorf("the result of the dead delivery is %+v; want its successor", r)
			}
		}
	}
	p = story(t)
	p.die(t)
	target = eventsURL + "/" + string(p.event.ID) + "/replay"
	if got := get[results](t, p.bundle, replayer, 202, "POST", target, `{"force":true}`); len(got.Data) != 2 {
		t.Errorf("POST with force = %+v; want two results", got)
	}
}

func TestReplay_end(t *testing.T) {
	t.Parallel()

	const note = `,"by":"key_replayer","note":"they left"`
	tests := []struct {
		name   string
		dead   bool
		queued bool // the other delivery
		verb   string
		body   string
		status int
		want   string // in the answer
	}{
		{name: "a dead one is discarded", dead: true, queued: false, verb: "discard", body: `{"note":"they left"}`, status: 200, want: note},
		{name: "one in progress cannot be discarded", dead: false, queued: false, verb: "discard", body: `{"note":"they left"}`, status: 409, want: `"code":"conflict"`},
		{name: "a note is needed", dead: true, queued: false, verb: "discard", body: `{}`, status: 400, want: `{"field":"note","message":"is missing"}`},
		{name: "a body is needed", dead: true, queued: false, verb: "discard", body: ``, status: 400, want: `{"field":"body","message":"is missing"}`},
		{name: "a note is one line", dead: true, queued: false, verb: "discard", body: `{"note":"a\nb"}`, status: 400, want: `"field":"note"`},
		{name: "a retrying one is cancelled", dead: false, queued: false, verb: "cancel", body: `{"note":"they left"}`, status: 200, want: note},
		{name: "a queued one is cancelled", dead: false, queued: true, verb: "cancel", body: `{"note":"they left"}`, status: 200, want: note},
		{name: "no reason is needed", dead: false, queued: false, verb: "cancel", body: ``, status: 200, want: `,"by":"key_replayer"}`},
		{name: "a dead one cannot be cancelled", dead: true, queued: false, verb: "cancel", body: ``, status: 409, want: `"code":"conflict"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			p := story(t)
			if tt.dead {
				p.die(t)
			}
			id := p.retrying.ID
			if tt.queued {
				id = p.queued.ID
			}
			w := p.do(t, replayer, "POST", deliveriesURL+id.String()+"/"+tt.verb, tt.body)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("POST %s = %d %s; want %d with %s", tt.verb, w.Code, w.Body, tt.status, tt.want)
			}
			state := map[string]string{"discard": "discarded", "cancel": "cancelled"}[tt.verb]
			if ended := head(id, state) + `,"reason":"manual"`; tt.status == 200 && !strings.HasPrefix(w.Body.String(), ended) {
				t.Errorf("POST %s = %s; want %s", tt.verb, w.Body, ended)
			}
		})
	}
}

func TestReplay_job(t *testing.T) {
	t.Parallel()

	p := story(t)
	p.die(t)
	p.now = p.now.Add(time.Hour)
	filter := fmt.Sprintf(`"filter":{"endpoint":%q,"event_types":["order.*"],"since":"2026-11-21T10:30:00+01:00"}`, p.retrying.ID.Endpoint)

	w := p.do(t, replayer, "POST", replaysURL, `{`+filter+`,"dry_run":true}`)
	preview := fmt.Sprintf(`{"total":1,"complete":true,"by_endpoint":[{"endpoint_id":%q,"count":1}],"sample":[`, p.retrying.ID.Endpoint)
	if w.Code != 200 || !strings.HasPrefix(w.Body.String(), preview+head(p.retrying.ID, "dead")) {
		t.Errorf("dry run = %d %s; want 200 %s", w.Code, w.Body, preview)
	}
	if list := p.do(t, replayer, "GET", replaysURL, ""); list.Body.String() != `{"data":[],"next_cursor":null}` {
		t.Errorf("GET after the dry run = %s; want no job", list.Body)
	}

	started := p.do(t, replayer, "POST", replaysURL, `{`+filter+`,"rate_per_second":0.5}`)
	const now = `"2026-11-21T10:30:00.000Z"`
	var job object
	if err := json.Unmarshal(started.Body.Bytes(), &job); err != nil || started.Code != 202 {
		t.Fatalf("POST = %d %s, %v; want 202", started.Code, started.Body, err)
	}
	want := fmt.Sprintf(`{"id":%q,"state":"running","filter":{"endpoint":%q,"state":"dead","event_types":["order.*"],"since":%s,"until":%s},`+
		`"action":"replay","rate_per_second":0.5,"selected":0,"enqueued":0,"skipped":0,"by":"key_replayer","created_at":%s,"updated_at":%s}`,
		job["id"], p.retrying.ID.Endpoint, at, now, now, now)
	if started.Body.String() != want {
		t.Errorf("POST = %s; want %s", started.Body, want)
	}
	path := started.Header().Get("Location")
	if path != replaysURL+"/"+idOf(t, job) {
		t.Errorf("Location = %q; want the job's", path)
	}
	if list := p.do(t, replayer, "GET", replaysURL, ""); list.Body.String() != `{"data":[`+want+`],"next_cursor":null}` {
		t.Errorf("GET = %s; want %s", list.Body, want)
	}
	read := strings.TrimSuffix(want, "}") + `,"delivered":0,"dead":0,"cancelled":0,"in_progress":0}`
	if w := p.do(t, replayer, "GET", path, ""); w.Code != 200 || w.Body.String() != read {
		t.Errorf("GET %s = %d %s; want 200 %s", path, w.Code, w.Body, read)
	}
	ended := fmt.Sprintf(`"updated_at":%s,"ended_at":%s,"expires_at":"2026-12-21T10:30:00.000Z"`, now, now)
	for range 2 {
		w := p.do(t, replayer, "POST", path+"/cancel", "")
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"state":"cancelled"`) || !strings.Contains(w.Body.String(), ended) {
			t.Errorf("POST cancel = %d %s; want 200, cancelled, %s", w.Code, w.Body, ended)
		}
	}
}

// TestReplay_cause selects deliveries by their last attempt.
func TestReplay_cause(t *testing.T) {
	t.Parallel()

	p := story(t)
	p.die(t)
	p.now = p.now.Add(time.Hour)
	type preview struct{ Total int }
	total := func(filter string) int {
		t.Helper()
		return get[preview](t, p.bundle, replayer, 200, "POST", replaysURL, `{"filter":`+filter+`,"dry_run":true}`).Total
	}
	all, timeouts, refused := total(`{}`), total(`{"class":"unavailable"}`), total(`{"class":"unavailable","status":500}`)
	if all == 0 || timeouts != all || refused == timeouts {
		t.Errorf("dry runs select %d dead, %d unavailable, %d of them with 500; want all of them, and fewer with 500", all, timeouts, refused)
	}
	if n := total(`{"class":"none"}`); n != 0 {
		t.Errorf("a dry run without an attempt selects %v; want none", n)
	}
	type job struct {
		Filter struct {
			Class  string
			Status int
		}
	}
	if j := get[job](t, p.bundle, replayer, 202, "POST", replaysURL, `{"filter":{"class":"unavailable","status":503}}`); j.Filter.Class != "unavailable" || j.Filter.Status != 503 {
		t.Errorf("filter of the job = %+v; want the class and the status", j.Filter)
	}
	for body, field := range map[string]string{
		`{"filter":{"class":"lost"}}`:              "filter.class",
		`{"filter":{"class":""}}`:                  "filter.class",
		`{"filter":{"status":0}}`:                  "filter.status",
		`{"filter":{"status":600}}`:                "filter.status",
		`{"filter":{"class":"none","status":500}}`: "filter.status",
		`{"filter":{"status":500},"add_to":"` + string(p.retrying.ID.Endpoint) + `"}`: "filter.class",
	} {
		w := p.do(t, owner, "POST", replaysURL, body)
		if w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"`+field+`"`) {
			t.Errorf("POST %s = %d %s; want 400 at %s", body, w.Code, w.Body, field)
		}
	}
}

// TestReplay_action checks the fields of a job that say what it does, and to how many deliveries.
func TestReplay_action(t *testing.T) {
	t.Parallel()

	p := story(t)
	p.die(t)
	p.now = p.now.Add(time.Hour)
	for body, want := range map[string]string{
		`{"filter":{}}`: `"action":"replay","rate_per_second":50,"selected":0`,
		`{"filter":{"died_since":"2026-11-21T09:00:00Z"},"action":"replay","limit":10}`: `"died_since":"2026-11-21T09:00:00.000Z"},"action":"replay","rate_per_second":50,"limit":10,`,
		`{"filter":{},"action":"discard","rate_per_second":500}`:                        `"action":"discard","rate_per_second":500,"selected":0`,
	} {
		w := p.do(t, replayer, "POST", replaysURL, body)
		if w.Code != 202 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("POST %s = %d %s; want 202 with %s", body, w.Code, w.Body, want)
		}
	}
	type preview struct{ Total int }
	for since, want := range map[string]int{"2026-11-21T09:30:00Z": 1, "2026-11-21T09:30:01Z": 0} {
		if n := get[preview](t, p.bundle, replayer, 200, "POST", replaysURL, `{"filter":{"died_since":"`+since+`"},"dry_run":true}`).Total; n != want {
			t.Errorf("a dry run of the dead since %s selects %d; want %d", since, n, want)
		}
	}
	for body, field := range map[string]string{
		`{"filter":{},"limit":0}`:                                                            "limit",
		`{"filter":{},"limit":1000001}`:                                                      "limit",
		`{"filter":{},"action":"erase"}`:                                                     "action",
		`{"filter":{},"action":""}`:                                                          "action",
		`{"filter":{"state":"parked"},"action":"discard"}`:                                   "action",
		`{"filter":{"state":"parked","died_since":"2026-11-21T09:00:00Z"}}`:                  "filter.died_since",
		`{"filter":{"died_since":"2026-11-22T09:00:00Z"}}`:                                   "filter.died_since",
		`{"filter":{"died_since":"2026-11-21T09:00:00Z"},"add_to":"some"}`:                   "filter.died_since",
		`{"filter":{},"action":"discard","add_to":"` + string(p.retrying.ID.Endpoint) + `"}`: "action",
	} {
		w := p.do(t, owner, "POST", replaysURL, body)
		if w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"`+field+`"`) {
			t.Errorf("POST %s = %d %s; want 400 at %s", body, w.Code, w.Body, field)
		}
	}
}

// TestReplay_progressOfDiscards checks that discarded deliveries count as settled, and that
// skipped ones have reasons.
func TestReplay_progressOfDiscards(t *testing.T) {
	t.Parallel()

	b := setup(t)
	j := b.job(t, "acme")
	j.Version, j.Selected, j.Enqueued, j.Skipped, j.Action = 1, 4, 1, 3, replay.ActionDiscard
	j.SkippedBy = map[replay.Skip]int{replay.SkipReplayed: 2, replay.SkipChanged: 1}
	if err := b.store.SaveJob(t.Context(), j); err != nil {
		t.Fatalf("SaveJob = %v", err)
	}
	w := b.do(t, replayer, "GET", replaysURL+"/"+string(j.ID), "")
	for _, want := range []string{`"action":"discard"`, `"skipped":3,"skipped_by_reason":{"already_replayed":2,"changed":1}`, `"in_progress":0}`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("GET = %d %s; want %s", w.Code, w.Body, want)
		}
	}
}

// TestReplay_progress checks the JSON of a job's counts.
func TestReplay_progress(t *testing.T) {
	t.Parallel()

	b := setup(t)
	j := b.job(t, "acme")
	j.Version, j.Selected, j.Enqueued, j.Skipped = 1, 4, 3, 1
	if err := b.store.SaveJob(t.Context(), j); err != nil {
		t.Fatalf("SaveJob = %v", err)
	}
	steps := []struct {
		state hook.State
		want  string
	}{
		{state: hook.StateDelivered, want: `"delivered":1,"dead":0,"cancelled":0,"in_progress":2}`},
		{state: hook.StateDead, want: `"delivered":1,"dead":1,"cancelled":0,"in_progress":1}`},
		{state: hook.StateCancelled, want: `"delivered":1,"dead":1,"cancelled":1,"in_progress":0}`},
		{state: hook.StateDead, want: `"delivered":1,"dead":2,"cancelled":1,"in_progress":0}`}, // before the count of the page
	}
	for i, step := range steps {
		if err := b.store.RecordOutcome(t.Context(), hook.Delivery{State: step.state, Job: j.ID, JobIndex: i}); err != nil {
			t.Fatalf("Tally = %v", err)
		}
		w := b.do(t, replayer, "GET", replaysURL+"/"+string(j.ID), "")
		if !strings.Contains(w.Body.String(), `"selected":4,"enqueued":3,"skipped":1,`) || !strings.HasSuffix(w.Body.String(), step.want) {
			t.Errorf("GET after %s = %d %s; want %s", step.state, w.Code, w.Body, step.want)
		}
	}
}

func TestReplay_analysis(t *testing.T) {
	t.Parallel()

	p := story(t)
	p.die(t)
	w := p.do(t, reader, "GET", analysisURL, "")
	want := fmt.Sprintf(`{"period":"24h","total":1,"complete":true,"groups":[{"endpoint_id":%q,"class":"unavailable","status":503,"reason":"exhausted",`+
		`"count":1,"first_at":%s,"last_at":%s,"mean_attempts":1,"error":"the endpoint answered 503","pattern":"outage","suggestion":"`, p.retrying.ID.Endpoint, at, at)
	if w.Code != 200 || !strings.HasPrefix(w.Body.String(), want) {
		t.Errorf("GET = %d %s; want 200 %s", w.Code, w.Body, want)
	}
	p.now = p.now.Add(3 * time.Hour)
	if w := p.do(t, reader, "GET", analysisURL+"?period=2h", ""); w.Body.String() != `{"period":"2h","total":0,"complete":true,"groups":[]}` {
		t.Errorf("GET of the last 2 hours = %d %s; want no group", w.Code, w.Body)
	}
	if w := p.do(t, reader, "GET", analysisURL+"?period=4h", ""); !strings.HasPrefix(w.Body.String(), `{"period":"4h","total":1,`) {
		t.Errorf("GET of the last 4 hours = %d %s; want one", w.Code, w.Body)
	}
}
