package hostile_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/proof/world"
)

const (
	canary   = "canary7f3a91d2"
	timeout  = 3 * time.Second        // of an attempt that may end by it; all others must end without
	bound    = 100 * time.Millisecond // an attempt ends within timeout + bound; the test prints the measured figure
	slack    = 10 * time.Second       // for which a silent receiver stays longer
	pause    = 15 * time.Millisecond  // between the parts of a trickle
	watchdog = time.Minute            // for an attempt without an end
	maxText  = 200                    // bytes of an outcome's error
)

// attack is a hostile receiver.
type attack struct {
	name    string
	script  func(*peer)
	tls     *tls.Config // of the receiver; nil for plain TCP
	https   bool        // the URL is https, even without tls
	large   bool        // the request does not fit into the buffers of the connection
	classes []hook.Class
	status  int
	cut     bool // the timeout cuts off the answer, but does not decide; on a busy machine it may come before the answer
}

func (a attack) scheme() string {
	if a.https || a.tls != nil {
		return "https://"
	}
	return "http://"
}

func one(c hook.Class) []hook.Class { return []hook.Class{c} }

// timeout returns the timeout of the attempt. One that ends otherwise has longer than any machine
// needs.
func (a attack) timeout() time.Duration {
	if a.cut || slices.Contains(a.classes, hook.ClassTimeout) {
		return timeout
	}
	return 2 * watchdog
}

// The functions discard the output of the standard logger.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// result is the result of an attack.
type result struct {
	outcome  hook.Outcome
	took     time.Duration
	requests int64
}

// TestHostileReceivers makes one attempt per attack, all at the same time, and then
// checks each result and its way through function deliver.
func TestHostileReceivers(t *testing.T) {
	t.Parallel()

	certified := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(certified.Close)
	attacks := slices.Concat(stalls(), trickles(), floods(), framing(), endings(), secured(t, certified.TLS.Certificates))
	results := attempt(t, certified.Certificate(), attacks)

	var longest time.Duration
	for i, a := range attacks {
		if a.timeout() == timeout {
			longest = max(longest, results[i].took)
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()

			check(t, a, results[i])
			checkLog(t, results[i].outcome)
		})
	}
	t.Logf("%d attacks; the longest attempt took %s: the timeout and %s (bound %s)", len(attacks), longest, longest-timeout, bound)
}

// attempt makes the attempts.
func attempt(t *testing.T, trusted *x509.Certificate, attacks []attack) []result {
	t.Helper()

	roots := x509.NewCertPool()
	roots.AddCert(trusted)
	policy := egress.Policy{Loopback: true}
	client := egress.NewClientWith(policy, egress.Options{RootCAs: roots})
	t.Cleanup(client.CloseIdleConnections)
	s := &send.Sender{Client: client, Policy: policy, UserAgent: "Surehook/test", Now: time.Now}

	var running sync.WaitGroup
	large := bytes.Repeat([]byte("a"), 16<<20)
	results, requests, done := make([]result, len(attacks)), make([]atomic.Int64, len(attacks)), make([]atomic.Bool, len(attacks))
	for i, a := range attacks {
		r := send.Request{
			Endpoint: &hook.Endpoint{URL: a.scheme() + listen(t, a.tls, &requests[i], a.script), Timeout: a.timeout(), Profiles: hook.ProfilesNamed(hook.ProfileClassic)},
			Event:    &hook.Event{ID: "evt_01h455vb4pex5vsknk084sn02q", Type: "order.paid", Payload: []byte(`{"n": 1}`)},
			Content:  shape.Content{Body: []byte(`{"n": 1}`), ContentType: shape.JSON},
			Attempt:  1,
		}
		if a.large {
			r.Content.Body = large
		}
		running.Go(func() {
			began := time.Now()
			results[i].outcome = s.Send(t.Context(), r)
			results[i].took = time.Since(began)
			results[i].requests = requests[i].Load()
			done[i].Store(true)
		})
	}
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(watchdog):
		for i, a := range attacks {
			if !done[i].Load() {
				t.Errorf("%s: the attempt has no end", a.name)
			}
		}
		t.FailNow()
	}
	return results
}

func check(t *testing.T, a attack, r result) {
	t.Helper()

	if a.cut && r.outcome.Class == hook.ClassTimeout && r.outcome.Status == 0 {
		t.Logf("the timeout came before the answer")
	} else if !slices.Contains(a.classes, r.outcome.Class) || r.outcome.Status != a.status && len(a.classes) == 1 {
		t.Errorf("outcome = %s, status %d, %q; want %v, status %d", r.outcome.Class, r.outcome.Status, r.outcome.Error, a.classes, a.status)
	}
	if r.requests > 1 {
		t.Errorf("the receiver got %d requests; want 1", r.requests)
	}
	if len(r.outcome.Body) > hook.MaxResponseBody {
		t.Errorf("the outcome keeps %d bytes of the answer; want at most %d", len(r.outcome.Body), hook.MaxResponseBody)
	}
	text := r.outcome.Error
	if strings.Contains(text, canary) || len(text) > maxText || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
		t.Errorf("the text of the outcome is %q; want a text of Surehook's own", text)
	}
}

// checkLog settles the outcome in function deliver, and reads the log.
func checkLog(t *testing.T, o hook.Outcome) {
	t.Helper()

	w := world.New(t, world.Options{Function: world.Deliver})
	w.Answer = func(send.Request) hook.Outcome { return o }
	w.Post(w.Endpoint(nil))
	w.Run()
	lines := w.Log.String()
	if !strings.Contains(lines, `"delivery.attempted"`) {
		t.Errorf("the log has no line of the attempt: %s", lines)
	}
	if strings.Contains(lines, canary) {
		t.Errorf("the log holds bytes of the receiver: %s", lines)
	}
}
