package smoke_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/client/openapi"
	"surehook.example/surehook/internal/smoke"
)

// start is the time of the first request.
var start = time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)

// request returns a genuine request of event evt_1 with the posted body, some
// time after start.
func request(after time.Duration, answered int) smoke.Request {
	return smoke.Request{At: start.Add(after), ID: "evt_1", Verified: true, Answered: answered, Body: `{"n":0}`}
}

// changed returns the request with a change.
func changed(r smoke.Request, change func(*smoke.Request)) smoke.Request {
	change(&r)
	return r
}

// judged checks an error against the expected part of its text; "" is PASS.
func judged(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("judged %v; want PASS", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("judged %v; want FAIL with %q", err, want)
	}
}

func TestJudgeAttempts(t *testing.T) {
	t.Parallel()

	good := request(0, http.StatusOK)
	tests := []struct {
		name     string
		attempts int
		got      []smoke.Request
		want     string
	}{
		{"one genuine request", 1, []smoke.Request{good}, ""},
		{"a signature of another secret", 1, []smoke.Request{changed(good, func(r *smoke.Request) { r.Verified = false })}, "no valid signature"},
		{"another event", 1, []smoke.Request{changed(good, func(r *smoke.Request) { r.ID = "evt_2" })}, "of event evt_2"},
		{"other bytes", 1, []smoke.Request{changed(good, func(r *smoke.Request) { r.Body = `{"n": 0}` })}, "and not the posted"},
		{"two requests of one attempt", 1, []smoke.Request{good, good}, "2 requests arrived"},
		{"two attempts of one request", 2, []smoke.Request{good}, "2 attempts are recorded"},
		{"no request", 1, nil, "0 requests arrived"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judged(t, smoke.JudgeAttempts("evt_1", &smoke.Delivery{Attempts: tt.attempts}, tt.got, 1), tt.want)
		})
	}
}

func TestJudgeRetry(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		got  []smoke.Request
		want string
	}{
		{"after a second", []smoke.Request{request(0, 503), request(time.Second, 200)}, ""},
		{"within the error of the clocks", []smoke.Request{request(0, 503), request(800*time.Millisecond, 200)}, ""},
		{"at once", []smoke.Request{request(0, 503), request(799*time.Millisecond, 200)}, "came 799ms after"},
		{"without a failure", []smoke.Request{request(0, 200), request(time.Second, 200)}, "answered 200 and 200"},
		{"without a success", []smoke.Request{request(0, 503), request(time.Second, 503)}, "answered 503 and 503"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judged(t, smoke.JudgeRetry("evt_1", &smoke.Delivery{Attempts: 2}, tt.got, time.Second), tt.want)
		})
	}
}

func TestJudgeDeadLetter(t *testing.T) {
	t.Parallel()

	dead := &smoke.Delivery{Id: "dlv_1", Attempts: 2, Reason: new(openapi.DeliveryDetailReasonExhausted)}
	replayed := &smoke.Delivery{Id: "dlv_2", EventId: "evt_1", Generation: 2}
	all := []smoke.Request{request(0, 503), request(time.Second, 503), request(2*time.Second, 200)}
	tests := []struct {
		name           string
		dead, replayed *smoke.Delivery
		letters        []string
		got            []smoke.Request
		want           string
	}{
		{"dead, listed, replayed", dead, replayed, []string{"dlv_1"}, all, ""},
		{"dead at once", &smoke.Delivery{Id: "dlv_1", Attempts: 1, Reason: new(openapi.DeliveryDetailReasonRejected)}, replayed, []string{"dlv_1"}, all, "died after 1 attempts, and not after 2, reason exhausted: no attempt was recorded, reason rejected"},
		{"not listed", dead, replayed, nil, all, "list of dead deliveries has 0 entries"},
		{"another is listed", dead, replayed, []string{"dlv_2"}, all, "and not the one delivery"},
		{"the first generation again", dead, &smoke.Delivery{EventId: "evt_1", Generation: 1}, []string{"dlv_1"}, all, "generation 1"},
		{"another event", dead, &smoke.Delivery{EventId: "evt_2", Generation: 2}, []string{"dlv_1"}, all, "of event evt_2"},
		{"a request more", dead, replayed, []string{"dlv_1"}, append(all[:3:3], all[2]), "4 requests arrived"},
		{"other bytes in the replay", dead, replayed, []string{"dlv_1"}, []smoke.Request{all[0], all[1], changed(all[2], func(r *smoke.Request) { r.Body = "" })}, "request 3 has the body"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judged(t, smoke.JudgeDeadLetter("evt_1", tt.dead, tt.letters, tt.replayed, tt.got), tt.want)
		})
	}
}

func TestJudgeOutage(t *testing.T) {
	t.Parallel()

	all := []smoke.Request{request(0, 503), request(time.Second, 200)}
	unsigned := append(all[:1:1], changed(all[1], func(r *smoke.Request) { r.Verified = false }))
	tests := []struct {
		name   string
		probes int
		got    []smoke.Request
		want   string
	}{
		{"probed", 2, all, ""},
		{"a probe per second and two", 5, all, ""},
		{"no circuit: every delivery is tried", 6, all, "more than 5 probes"},
		{"a wrong signature", 2, unsigned, "request 2 has no valid signature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judged(t, smoke.JudgeOutage(tt.probes, 3*time.Second, tt.got), tt.want)
		})
	}
}

func TestJudgeRate(t *testing.T) {
	t.Parallel()

	events := []string{"a", "b", "c", "d", "e", "f"}
	every := func(gap time.Duration) (all []smoke.Request) {
		for i, id := range events {
			all = append(all, smoke.Request{At: start.Add(time.Duration(i) * gap), ID: id, Verified: true})
		}
		return all
	}
	unsigned := every(time.Second)
	unsigned[3].Verified = false
	tests := []struct {
		name string
		got  []smoke.Request
		want string
	}{
		{"one per second", every(time.Second), ""},
		{"one per second after a cold start", every(600 * time.Millisecond), ""},
		{"all at once", every(0), "within 0s"},
		{"faster than the limit", every(599 * time.Millisecond), "at a limit of one per second"},
		{"one is missing", every(time.Second)[:5], "event f arrived 0 times"},
		{"one is doubled", append(every(time.Second), every(time.Second)[2]), "event c arrived 2 times"},
		{"one is not signed", unsigned, "no valid signature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judged(t, smoke.JudgeRate(events, tt.got), tt.want)
		})
	}
}

func TestJudgeSchedule(t *testing.T) {
	t.Parallel()

	planned := &smoke.Delivery{NextAttemptAt: new(start.Add(300 * time.Millisecond))}
	tests := []struct {
		name  string
		found []string
		want  string
	}{
		{"the planned time, rounded up", []string{"at(2026-11-22T09:30:01)"}, ""},
		{"early", []string{"at(2026-11-22T09:30:00)"}, "is planned for"},
		{"late", []string{"at(2026-11-22T09:30:02)"}, "is planned for"},
		{"repeated", []string{"rate(1 minutes)"}, "not of the form"},
		{"none", nil, "0 schedules"},
		{"two", []string{"at(2026-11-22T09:30:01)", "at(2026-11-22T09:30:01)"}, "2 schedules"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judged(t, smoke.JudgeSchedule(planned, tt.found), tt.want)
		})
	}
	twice := &smoke.Delivery{Attempts: 2}
	judged(t, smoke.JudgeRetry("evt_1", twice, []smoke.Request{request(0, 503), request(16*time.Minute, 200)}, 16*time.Minute), "")
	judged(t, smoke.JudgeRetry("evt_1", twice, []smoke.Request{request(0, 503), request(15*time.Minute, 200)}, 16*time.Minute), "came 15m0s after")
}

func TestLatencies(t *testing.T) {
	t.Parallel()

	posted := map[string]time.Time{"a": start, "b": start.Add(time.Second)}
	a, b := smoke.Request{ID: "a", At: start.Add(30 * time.Millisecond), Verified: true}, smoke.Request{ID: "b", At: start.Add(1010 * time.Millisecond), Verified: true}
	again := smoke.Request{ID: "a", At: start.Add(time.Minute), Verified: true}
	got, err := smoke.Latencies(posted, []smoke.Request{again, a, b, {ID: "other", At: start, Verified: true}})
	if err != nil || len(got) != 2 || got[0] != 10*time.Millisecond || got[1] != 30*time.Millisecond {
		t.Errorf("Latencies = %v, %v; want the first arrivals, 10ms and 30ms", got, err)
	}
	_, err = smoke.Latencies(posted, []smoke.Request{a})
	judged(t, err, "event b did not arrive")
	b.Verified = false
	_, err = smoke.Latencies(posted, []smoke.Request{a, b})
	judged(t, err, "event b did not arrive")
}

func TestPercentile(t *testing.T) {
	t.Parallel()

	sorted := make([]time.Duration, 20)
	for i := range sorted {
		sorted[i] = time.Duration(i + 1)
	}
	for p, want := range map[int]time.Duration{1: 1, 50: 10, 51: 11, 95: 19, 99: 20, 100: 20} {
		if got := smoke.Percentile(sorted, p); got != want {
			t.Errorf("Percentile(1 to 20, %d) = %d; want %d", p, got, want)
		}
	}
	limits := smoke.LatencyLimits{P50: 2, P99: 10}
	judged(t, smoke.JudgeLatency(2, 10, limits), "")
	judged(t, smoke.JudgeLatency(3*time.Millisecond, 3*time.Millisecond, limits), "p50 3 ms")
	judged(t, smoke.JudgeLatency(2, 11*time.Millisecond, limits), "p99 11 ms")
}
