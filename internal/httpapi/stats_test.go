package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

func TestStats(t *testing.T) {
	t.Parallel()

	b := setup(t)
	id := idOf(t, b.create(t, `{"url":"https://example.com/","uid":"crm"}`))
	b.count(t, id, b.now.Add(-time.Hour),
		stats.Attempt{Type: "order.paid", Class: hook.ClassUnavailable, Number: 1, Duration: time.Second, State: hook.StateRetrying},
		stats.Attempt{Type: "order.paid", Class: hook.ClassDelivered, Number: 2, Duration: time.Second, State: hook.StateDelivered, Age: 31 * time.Second},
		stats.Attempt{Type: "user.made", Class: hook.ClassRefused, Number: 1, Duration: time.Second, State: hook.StateDead},
		stats.Attempt{Class: hook.ClassDNS, Number: 1, State: hook.StateRetrying},
	)
	const fine, coarse = `{"samples":%d,"p50":"1.043229s","p95":"1.043229s","p99":"1.043229s"}`, `{"samples":%d,"p50":"829.105ms","p95":"829.105ms","p99":"829.105ms"}`
	const span = `{"since":"2026-11-20T09:00:00.000Z","until":"2026-11-21T09:30:00.000Z","endpoints":1,"data":[%s]}`
	all := `"attempts":4,"success_rate":0.25,"first_attempt_success_rate":0,"dead_rate":0.5,"delivered":1,"dead":1,"latency":` + fmt.Sprintf(fine, 3) +
		`,"mean_delivery_time":"31s","attempts_by_number":[3,1],"attempts_by_outcome":{"delivered":1,"dns":1,"refused":1,"unavailable":1},"delivered_by_attempt":[0,1]}`
	paid := `"event_type":"order.paid","attempts":2,"success_rate":0.5,"first_attempt_success_rate":0,"dead_rate":0,"delivered":1,"dead":0,"latency":` +
		fmt.Sprintf(coarse, 2) + `,"attempts_by_number":[1,1],"delivered_by_attempt":[0,1]}`
	made := `"event_type":"user.made","attempts":1,"success_rate":0,"first_attempt_success_rate":0,"dead_rate":1,"delivered":0,"dead":1,"latency":` +
		fmt.Sprintf(coarse, 1) + `,"attempts_by_number":[1],"delivered_by_attempt":[]}`
	const other = `"other":true,"attempts":1,"success_rate":0,"first_attempt_success_rate":0,"delivered":0,"dead":0,"attempts_by_number":[1],"delivered_by_attempt":[]}`
	const hour = `{"hour":"2026-11-21T08:00:00.000Z",`

	for target, want := range map[string]string{
		"/stats":                                       "{" + all,
		"/stats?by=total":                              "{" + all,
		"/stats?group=endpoint":                        `{"endpoint_id":"` + id + `",` + all,
		"/stats?group=type":                            "{" + paid + ",{" + made + ",{" + other,
		"/stats?by=hour&group=type":                    hour + paid + "," + hour + made + "," + hour + other,
		"/endpoints/crm/stats":                         "{" + all,
		"/endpoints/crm/stats?by=hour":                 hour + all,
		"/endpoints/" + id + "/stats?group=type":       "{" + paid + ",{" + made + ",{" + other,
		"/endpoints/crm/stats?since=2026-11-20T09:59Z": "",
	} {
		w := b.do(t, reader, http.MethodGet, "/v1/tenants/acme"+target, "")
		if want == "" {
			if w.Code != 400 {
				t.Errorf("GET %s = %d %s; want 400", target, w.Code, w.Body)
			}
			continue
		}
		if body := fmt.Sprintf(span, want); w.Code != 200 || w.Body.String() != body {
			t.Errorf("GET %s = %d\n%s; want 200\n%s", target, w.Code, w.Body, body)
		}
	}
	for target, wrong := range map[string][2]string{
		"/stats?by=day":                        {"by", "must be hour or total"},
		"/stats?group=status":                  {"group", "must be endpoint or type"},
		"/endpoints/crm/stats?group=endpoint":  {"group", "must be type"},
		"/stats?since=2026-11-14T08:59:59Z":    {"since", "must be at most 7 days ago"},
		"/stats?since=2026-11-21T10:00:00Z":    {"since", "must be before until and now"},
		"/stats?limit=1":                       {"limit", "is not a known parameter"},
		"/endpoints/crm/stats?since=yesterday": {"since", "must be a time such as 2026-11-21T09:30:00Z"},
	} {
		if w := b.do(t, reader, http.MethodGet, "/v1/tenants/acme"+target, ""); w.Code != 400 || w.Body.String() != invalid(wrong[0], wrong[1]) {
			t.Errorf("GET %s = %d %s; want 400: %s %s", target, w.Code, w.Body, wrong[0], wrong[1])
		}
	}
	if w := b.do(t, reader, http.MethodGet, "/v1/tenants/acme/endpoints/none/stats", ""); w.Code != 404 {
		t.Errorf("GET of no endpoint = %d; want 404", w.Code)
	}
}

func TestPipelineStats(t *testing.T) {
	t.Parallel()

	b := setup(t)
	id := idOf(t, b.create(t, `{"url":"https://example.com/"}`))
	b.count(t, id, b.now.Add(-time.Hour), stats.Attempt{Type: "order.paid", Class: hook.ClassDNS, Number: 1, State: hook.StateDead})
	const span = `{"complete":true,"since":"2026-11-20T09:00:00.000Z","until":"2026-11-21T09:30:00.000Z","endpoints":1,"data":[{%s}]}`
	const row = `"attempts":1,"success_rate":0,"first_attempt_success_rate":0,"dead_rate":1,"delivered":0,"dead":1,"attempts_by_number":[1],"attempts_by_outcome":{"dns":1},"delivered_by_attempt":[]`
	for query, want := range map[string]string{
		"":              row,
		"?by=hour":      `"hour":"2026-11-21T08:00:00.000Z",` + row,
		"?group=tenant": `"tenant":"acme",` + row,
	} {
		if w := b.do(t, admin, http.MethodGet, "/v1/stats"+query, ""); w.Code != 200 || w.Body.String() != fmt.Sprintf(span, want) {
			t.Errorf("GET /v1/stats%s = %d\n%s; want 200\n%s", query, w.Code, w.Body, fmt.Sprintf(span, want))
		}
	}
	for query, want := range map[string]string{"?group=endpoint": "must be tenant", "?group=": "must be tenant", "?by=day": "must be hour or total", "?since=2026-11-20T09:00:00Z": "since"} {
		if w := b.do(t, admin, http.MethodGet, "/v1/stats"+query, ""); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("GET /v1/stats%s = %d %s; want 400 with %q", query, w.Code, w.Body, want)
		}
	}
}
