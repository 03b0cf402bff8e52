package smoke_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/smoke"
	"surehook.example/surehook/localstack/dev"
	"surehook.example/surehook/localstack/webhook"
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
	if answer := webhook.Challenge(req.Header, body); answer != nil {
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

// process is Surehook in this process, with its flows.
type process struct {
	*smoke.Flows

	t        *testing.T
	url, key string
	called   string // the key of the calls
}

// call makes the flows call the API with the key, over the transport.
func (p *process) call(key string, over http.RoundTripper) {
	p.t.Helper()
	p.called = key
	var err error
	if p.API, err = smoke.NewClient(p.url, key, &http.Client{Transport: over}); err != nil {
		p.t.Fatal(err)
	}
}

// flows returns the flows against Surehook in this process.
func flows(t *testing.T, r smoke.Receiver, o dev.Options) *process {
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
	p := &process{t: t, url: s.URL, key: s.Key, Flows: &smoke.Flows{
		Tenant: "smoke-test", Receiver: r, Latency: smoke.LatencyLimits{P50: time.Minute, P99: time.Minute}, Now: time.Now,
	}}
	p.call(s.Key, http.DefaultTransport)
	return p
}

// results runs the flows of the names (none: all) until ctx ends, and returns the results by name.
func results(ctx context.Context, f *process, names ...string) map[string]smoke.Result {
	checks := slices.DeleteFunc(f.Checks(), func(c smoke.Check) bool { return len(names) > 0 && !slices.Contains(names, c.Name) })
	for i := range checks {
		checks[i].Limit = time.Hour // a busy machine may take long
	}
	by := map[string]smoke.Result{}
	for _, r := range smoke.RunChecks(ctx, checks, time.Now, func(smoke.Result) {}) {
		by[r.Name] = r
	}
	return by
}

// vain ends the wait of flows after a number of questions, because their answers do not change.
type vain struct {
	smoke.Receiver

	left atomic.Int64
	end  func()
}

func (v *vain) ask() {
	if v.left.Add(-1) < 0 {
		v.end()
	}
}

// noArrivals ends the wait for requests that arrive elsewhere.
type noArrivals struct{ *vain }

func (n noArrivals) Requests(context.Context, string) ([]smoke.Request, error) {
	n.ask()
	return nil, nil
}

// noSchedules is a Scheduler without schedules.
type noSchedules struct{ *vain }

func (n noSchedules) Schedules(context.Context, string) ([]string, error) {
	n.ask()
	return nil, nil
}
func (noSchedules) Remove(context.Context, string) error { return nil }

// refusals ends the wait for a delivery when the API has told that its attempt was answered 401.
type refusals struct{ *vain }

func (r refusals) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.left.Load() == 0 {
		r.end()
	}
	response, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || !strings.Contains(req.URL.Path, "/deliveries/") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	if bytes.Contains(body, []byte(`"status":401`)) {
		r.left.Store(0)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// questions ends the wait of the flows after a number of requests to the API.
type questions struct{ *vain }

func (q questions) RoundTrip(req *http.Request) (*http.Response, error) {
	q.ask()
	return http.DefaultTransport.RoundTrip(req)
}

// TestFlows_pass runs the flows of a healthy Surehook, whose endpoints need a proof.
func TestFlows_pass(t *testing.T) {
	t.Parallel()

	for name, r := range results(t.Context(), flows(t, newReceiver(t), dev.Options{Ownership: names.OwnershipChallenge})) {
		want := smoke.Pass
		if name == "schedule beyond 15 minutes" {
			want = smoke.Skip // one process has no EventBridge Scheduler
		}
		if r.Verdict != want {
			t.Errorf("%s = %s: %s; want %s", name, r.Verdict, r.Note, want)
		}
	}
}

// TestFlows_fail breaks one thing each, and checks that the flows notice: the first one says what, and
// the others fail, too.
func TestFlows_fail(t *testing.T) {
	t.Parallel()

	sent := []string{"signed delivery", "retry after 503", "dead letter and replay", "circuit", "rate limit", "time from post to arrival"}
	tests := []struct {
		name   string
		broken func(*receiver, *process, *vain)
		fail   []string
		note   string // part of the first result's note
	}{
		{"the secret is another", func(r *receiver, f *process, v *vain) {
			r.believe = func(string) string { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }
			f.call(f.key, refusals{v})
		}, sent, "401 Unauthorized"},
		{"the receiver is gone", func(r *receiver, f *process, v *vain) {
			r.server.Close()
			v.left.Store(8)
			f.call(f.key, questions{v})
		}, sent, "and not delivered"},
		{"requests arrive elsewhere", func(_ *receiver, f *process, v *vain) { f.Receiver = noArrivals{v} }, sent[:1], "0 of 1 requests arrived"},
		{"the key is refused", func(_ *receiver, f *process, _ *vain) { f.call("shk_"+f.key, http.DefaultTransport) }, sent, "the API answered 401"},
		{"requests take too long", func(_ *receiver, f *process, _ *vain) { f.Latency = smoke.LatencyLimits{} }, sent[5:], "the limits are 0 ms"},
		{"schedules are not made", func(_ *receiver, f *process, v *vain) { f.Schedules = noSchedules{v} }, []string{"schedule beyond 15 minutes"}, "no schedule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := newReceiver(t)
			f := flows(t, r, dev.Options{})
			ctx, end := context.WithCancel(t.Context())
			defer end()
			first := &vain{Receiver: r, end: end}
			first.left.Store(2)
			tt.broken(r, f, first)
			got := results(ctx, f, tt.fail[0])
			if r := got[tt.fail[0]]; r.Verdict != smoke.Fail || !strings.Contains(r.Note, tt.note) {
				t.Errorf("%s = %s: %s; want FAIL: %q", tt.fail[0], r.Verdict, r.Note, tt.note)
			}
			if len(tt.fail) == 1 {
				return
			}
			ctx, end = context.WithCancel(t.Context())
			defer end()
			rest := &vain{Receiver: r, end: end}
			rest.left.Store(40)
			f.call(f.called, questions{rest})
			f.Receiver = r
			maps.Copy(got, results(ctx, f, tt.fail[1:]...))
			for _, name := range tt.fail {
				if got[name].Verdict != smoke.Fail {
					t.Errorf("%s = %s: %s; want FAIL", name, got[name].Verdict, got[name].Note)
				}
			}
		})
	}
}

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
	f.call(f.key, before{interrupt})
	checks := slices.DeleteFunc(f.Checks(), func(c smoke.Check) bool { return c.Name != "signed delivery" })
	got := smoke.RunChecks(ctx, checks, time.Now, func(smoke.Result) {})
	if got[0].Verdict != smoke.Fail || ctx.Err() == nil {
		t.Errorf("the interrupted check = %s %s; want FAIL", got[0].Verdict, got[0].Note)
	}
	if n := f.Count(t); n != 1 {
		t.Errorf("%d endpoints; want the one of the interrupted check", n)
	}
}

// before calls interrupt before each request.
type before struct{ interrupt func() }

func (b before) RoundTrip(r *http.Request) (*http.Response, error) {
	b.interrupt()
	return http.DefaultTransport.RoundTrip(r)
}
