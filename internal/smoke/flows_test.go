package smoke_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/smoke"
	"surehook.example/surehook/localstack/dev"
	"surehook.example/surehook/verify"
)

// receiver is receiver.py in Go, with the secrets as it believes them.
type receiver struct {
	server  *httptest.Server
	believe func(secret string) string

	mu       sync.Mutex
	scripts  map[string]smoke.Script
	seen     map[string]int
	requests map[string][]smoke.Request
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{
		believe: func(secret string) string { return secret },
		scripts: map[string]smoke.Script{}, seen: map[string]int{}, requests: map[string][]smoke.Request{},
	}
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if answer := verify.Challenge(req.Header, body); answer != nil {
		_, _ = w.Write(answer)
		return
	}
	path := req.URL.Path
	script, ok := r.scripts[path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	r.seen[path]++
	status := script.Answers[min(r.seen[path], len(script.Answers))-1]
	hook, err := standardwebhooks.NewWebhook(r.believe(script.Secret))
	if err == nil {
		err = hook.Verify(body, req.Header)
	}
	if err != nil {
		status = http.StatusUnauthorized
	}
	r.requests[path] = append(r.requests[path], smoke.Request{At: time.Now(), ID: req.Header.Get("Webhook-Id"), Verified: err == nil, Answered: status, Body: string(body)})
	w.WriteHeader(status)
}

func (r *receiver) URL(path string) string { return r.server.URL + path }

func (r *receiver) Script(_ context.Context, path string, s smoke.Script) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts[path], r.seen[path] = s, 0
	return nil
}

func (r *receiver) Requests(_ context.Context, path string) ([]smoke.Request, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests[path]), nil
}

func (r *receiver) Clock(context.Context) (time.Time, error) { return time.Now(), nil }

// flows returns the flows against Surehook in this process.
func flows(t *testing.T, r smoke.Receiver, o dev.Options) *smoke.Flows {
	t.Helper()
	s, err := dev.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // deliveries to a broken receiver may be under way
		_ = s.Stop(ctx)
	})
	return &smoke.Flows{
		API: &smoke.API{URL: s.URL, Key: s.Key, HTTP: http.DefaultClient}, Tenant: "smoke-test", Receiver: r,
		Latency: smoke.LatencyLimits{P50: time.Minute, P99: time.Minute}, Now: time.Now,
	}
}

// results runs the flows of the names (none: all) and returns the results by name.
func results(t *testing.T, f *smoke.Flows, limit time.Duration, names ...string) map[string]smoke.Result {
	t.Helper()
	checks := slices.DeleteFunc(f.Checks(), func(c smoke.Check) bool { return len(names) > 0 && !slices.Contains(names, c.Name) })
	for i := range checks {
		checks[i].Limit = limit
	}
	by := map[string]smoke.Result{}
	for _, r := range smoke.RunChecks(t.Context(), checks, time.Now, func(smoke.Result) {}) {
		by[r.Name] = r
	}
	return by
}

// enough is the limit of checks that pass.
const enough = time.Minute

// vain is the limit of checks that wait in vain.
const vain = 2 * time.Second

// TestFlows_pass runs the flows of a healthy Surehook, whose endpoints need a proof.
func TestFlows_pass(t *testing.T) {
	t.Parallel()

	for name, r := range results(t, flows(t, newReceiver(t), dev.Options{Ownership: names.OwnershipChallenge}), enough) {
		want := smoke.Pass
		if name == "schedule beyond 15 minutes" {
			want = smoke.Skip // one process has no EventBridge Scheduler
		}
		if r.Verdict != want {
			t.Errorf("%s = %s: %s; want %s", name, r.Verdict, r.Note, want)
		}
	}
}

// TestFlows_fail breaks one thing each, and checks that the flows notice.
func TestFlows_fail(t *testing.T) {
	t.Parallel()

	sent := []string{"signed delivery", "retry after 503", "dead letter and replay", "circuit", "rate limit", "time from post to arrival"}
	tests := []struct {
		name   string
		broken func(*receiver, *smoke.Flows)
		fail   []string
		limit  time.Duration
		note   string // part of the first result's note
	}{
		{"the secret is another", func(r *receiver, _ *smoke.Flows) {
			r.believe = func(string) string { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }
		}, sent, vain, "401 Unauthorized"},
		{"the receiver is gone", func(r *receiver, _ *smoke.Flows) { r.server.Close() }, sent, vain, "0 of 1 requests arrived"},
		{"the key is refused", func(_ *receiver, f *smoke.Flows) { f.API.Key = "shk_" + f.API.Key }, sent, vain, "status 401 instead of 201"},
		{"requests take too long", func(_ *receiver, f *smoke.Flows) { f.Latency = smoke.LatencyLimits{} }, sent[5:], enough, "the limits are 0 ms"},
		{"schedules are not made", func(_ *receiver, f *smoke.Flows) { f.Schedules = noSchedules{} }, []string{"schedule beyond 15 minutes"}, vain, "no schedule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := newReceiver(t)
			f := flows(t, r, dev.Options{})
			tt.broken(r, f)
			got := results(t, f, tt.limit, tt.fail...)
			if note := got[tt.fail[0]].Note; !strings.Contains(note, tt.note) {
				t.Errorf("%s: %s; want %q", tt.fail[0], note, tt.note)
			}
			for _, name := range tt.fail {
				if got[name].Verdict != smoke.Fail {
					t.Errorf("%s = %s: %s; want FAIL", name, got[name].Verdict, got[name].Note)
				}
			}
		})
	}
}

// noSchedules is a Scheduler without schedules.
type noSchedules struct{}

func (noSchedules) Schedules(context.Context, string) ([]string, error) { return nil, nil }
func (noSchedules) Remove(context.Context, string) error                { return nil }

// TestFlows_offset checks that the receiver's clock counts, and not ours.
func TestFlows_offset(t *testing.T) {
	t.Parallel()

	f := &smoke.Flows{Receiver: ahead{}, Now: time.Now}
	by, within, err := f.Offset(t.Context())
	if err != nil || (by-time.Hour).Abs() > within {
		t.Errorf("Offset of a clock an hour ahead = %v +- %v, %v; want 1h", by, within, err)
	}
	f.Receiver = mute{}
	if _, _, err := f.Offset(t.Context()); err == nil {
		t.Error("Offset of a mute receiver = nil; want an error")
	}
}

// ahead is a receiver whose clock is an hour ahead.
type ahead struct{ smoke.Receiver }

func (ahead) Clock(context.Context) (time.Time, error) { return time.Now().Add(time.Hour), nil }

// mute is a receiver that does not answer.
type mute struct{ smoke.Receiver }

func (mute) Clock(context.Context) (time.Time, error) { return time.Time{}, errors.New("no answer") }

// TestFlows_interrupted checks that an endpoint is known to the API after Ctrl-C
// during its creation, so that the removal finds the endpoint.
func TestFlows_interrupted(t *testing.T) {
	t.Parallel()

	f := flows(t, newReceiver(t), dev.Options{})
	ctx, interrupt := context.WithCancel(t.Context())
	f.API.HTTP = &http.Client{Transport: before{interrupt}}
	checks := slices.DeleteFunc(f.Checks(), func(c smoke.Check) bool { return c.Name != "signed delivery" })
	got := smoke.RunChecks(ctx, checks, time.Now, func(smoke.Result) {})
	if got[0].Verdict != smoke.Fail || ctx.Err() == nil {
		t.Errorf("the interrupted check = %s %s; want FAIL", got[0].Verdict, got[0].Note)
	}
	if n := f.Endpoints(t); n != 1 {
		t.Errorf("%d endpoints; want the one of the interrupted check", n)
	}
}

// before calls interrupt before each request.
type before struct{ interrupt func() }

func (b before) RoundTrip(r *http.Request) (*http.Response, error) {
	b.interrupt()
	return http.DefaultTransport.RoundTrip(r)
}
