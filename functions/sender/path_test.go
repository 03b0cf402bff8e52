package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	awslambda "surehook.example/surehook/internal/aws/lambda"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/private"
	"surehook.example/surehook/proof/world"
)

const (
	stackName = "surehook-test"
	region    = "us-east-1"
	own       = "eu-central-1"
)

// service is Lambda as a client sees it, with the functions of two regions behind one address.
// The signature of the call names the region.
type service struct {
	function lambda.Handler
	private  lambda.Handler
	calls    atomic.Int64
	mu       sync.Mutex
	fault    http.HandlerFunc // in place of the run; nil: none
	loss     http.HandlerFunc // in place of the answer, after the run; nil: none
	places   []string         // region and function of the calls
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	scope := strings.Split(r.Header.Get("Authorization"), "/")
	s.mu.Lock()
	fault, loss := s.fault, s.loss
	s.places = append(s.places, scope[2]+strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions"))
	s.mu.Unlock()
	message, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if fault != nil {
		fault(w, r)
		return
	}
	function := s.function
	if strings.Contains(r.URL.Path, names.PrivateSender(stackName)) {
		function = s.private
	}
	answer, err := function.Invoke(r.Context(), message)
	switch {
	case loss != nil:
		loss(w, r)
	case err != nil:
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		_, _ = io.WriteString(w, `{"errorMessage":"failed"}`)
	default:
		_, _ = w.Write(answer)
	}
}

// heal ends the fault and the loss.
func (s *service) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.loss = nil, nil
}

func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"Message": "no"}`)
	}
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// timedOut is the answer of Lambda when the function reaches its timeout.
func timedOut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Amz-Function-Error", "Unhandled")
	_, _ = io.WriteString(w, `{"errorMessage":"Task timed out after 35.00 seconds"}`)
}

// bundle is function deliver, Lambda with function sender behind the client of the SDK, and an
// endpoint. The requests from the deployment's own region are in Posts of the world, and those of
// the sender arrive at the endpoint.
type bundle struct {
	*world.World
	service  *service
	endpoint string
	mu       sync.Mutex
	ids      []string // webhook-id of the requests at the endpoint
}

func setup(t *testing.T) *bundle {
	t.Helper()

	b := &bundle{World: world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{10 * time.Second}})}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ids = append(b.ids, r.Header.Get("Webhook-Id"))
	}))
	t.Cleanup(receiver.Close)
	b.endpoint = receiver.URL
	sender := func(agent string) *send.Sender {
		policy := egress.Policy{Loopback: true}
		return send.New(egress.NewClient(policy), policy, agent, b.Clock.Now)
	}
	function := remote.Handler{Sender: sender("")}
	// Loopback stands for the private network.
	inside := remote.NewPrivate(private.List{}, egress.Policy{}, func(egress.Policy) *send.Sender { return sender("") })
	b.service = &service{function: lambda.NewHandler(function.Handle), private: lambda.NewHandler(inside.Handle)}
	server := httptest.NewServer(b.service)
	t.Cleanup(server.Close)
	config := aws.Config{ // with the retries of the SDK, as in a function
		Region: own, BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 3,
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}
	invoker := awslambda.New(config, awslambda.Config{Regional: names.Sender(stackName), Regions: []string{region}, Fixed: names.FixedSender(stackName), Private: names.PrivateSender(stackName)})
	b.Remote = &remote.Sender{Signer: sender(names.UserAgent()), Invoker: invoker, Now: b.Clock.Now}
	return b
}

// post posts one event for a new endpoint with the origin that edit sets.
func (b *bundle) post(edit func(*hook.Endpoint)) hook.DeliveryRef {
	return b.Post(b.Endpoint(func(e *hook.Endpoint) {
		e.URL = b.endpoint
		edit(e)
	}))[0]
}

func (b *bundle) received() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.ids)
}

func elsewhere(e *hook.Endpoint) { e.Region = region }
func fixed(e *hook.Endpoint)     { e.Fixed = true }
func inside(e *hook.Endpoint)    { e.SetOrigin("", hook.EgressPrivate) }

var places = map[string]struct {
	edit func(*hook.Endpoint)
	call string // as Lambda sees it
}{
	"another region":  {elsewhere, region + "/" + names.Sender(stackName) + "/invocations"},
	"fixed addresses": {fixed, own + "/" + names.FixedSender(stackName) + "/invocations"},
	"private network": {inside, own + "/" + names.PrivateSender(stackName) + "/invocations"},
}

// An attempt goes from deliver to the function at the origin, and its answer goes back.
func TestPath_delivers(t *testing.T) {
	t.Parallel()

	for name, tt := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			id := b.post(tt.edit)
			b.Run()
			d := b.Delivery(id)
			if d.State != hook.StateDelivered || d.Attempts != 1 || len(b.Posts) != 0 || len(b.received()) != 1 || !slices.Equal(b.service.places, []string{tt.call}) {
				t.Errorf("%s after %d attempts, %d posts from here, %d from there, calls %v; want delivered by one post of %s",
					d.State, d.Attempts, len(b.Posts), len(b.received()), b.service.places, tt.call)
			}
		})
	}
}

// Lambda refuses the call before the function runs: the deployment's own region makes the attempt
// at once. For fixed addresses and the private network nothing is sent, and the message comes again
// until the function runs.
func TestPath_refused(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]http.HandlerFunc{
		"throttled": refuse(http.StatusTooManyRequests, "TooManyRequestsException"),
		"not found": refuse(http.StatusNotFound, "ResourceNotFoundException"),
		"forbidden": refuse(http.StatusForbidden, "AccessDeniedException"),
	} {
		t.Run(name+" in another region", func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.service.fault = fault
			id := b.post(elsewhere)
			b.Run()
			d := b.Delivery(id)
			if d.State != hook.StateDelivered || d.Attempts != 1 || len(b.Posts) != 1 || len(b.received()) != 0 || b.service.calls.Load() != 1 {
				t.Errorf("%s after %d attempts, %d posts from here, %d from there, %d calls; want delivered by one post from here after one call",
					d.State, d.Attempts, len(b.Posts), len(b.received()), b.service.calls.Load())
			}
			if log := b.Log.String(); !strings.Contains(log, `"sender_fallbacks":1`) {
				t.Errorf("the fallback is not counted:\n%s", log)
			}
		})
		for origin, edit := range map[string]func(*hook.Endpoint){"with fixed addresses": fixed, "in the private network": inside} {
			t.Run(name+" "+origin, func(t *testing.T) {
				t.Parallel()

				b := setup(t)
				b.service.fault = fault
				id := b.post(edit)
				if received, failed := b.Invoke(hook.QueueLive); received != 1 || failed != 1 || len(b.Posts) != 0 || len(b.received()) != 0 || b.service.calls.Load() != 1 {
					t.Fatalf("received %d, failed %d, %d posts from here, %d from there, %d calls; want the message back without a post after one call",
						received, failed, len(b.Posts), len(b.received()), b.service.calls.Load())
				}
				b.service.heal()
				b.Run()
				if d := b.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 1 || len(b.Posts) != 0 || len(b.received()) != 1 {
					t.Errorf("%s after %d attempts, %d posts from here, %d from there; want delivered by the first attempt from there",
						d.State, d.Attempts, len(b.Posts), len(b.received()))
				}
			})
		}
	}
}

// The function runs, but its answer is lost: there is one call, one post, and a failed attempt.
// The retry is a duplicate with the same webhook-id.
func TestPath_lostAnswer(t *testing.T) {
	t.Parallel()

	for place, tt := range places {
		for name, loss := range map[string]http.HandlerFunc{
			"the connection breaks":      hangUp,
			"the function times out":     timedOut,
			"a fault of Lambda":          refuse(http.StatusInternalServerError, "ServiceException"),
			"an unavailable service":     refuse(http.StatusServiceUnavailable, "ServiceUnavailable"),
			"an answer that is not JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		} {
			t.Run(place+": "+name, func(t *testing.T) {
				t.Parallel()

				b := setup(t)
				b.service.loss = loss
				id := b.post(tt.edit)
				b.Invoke(hook.QueueLive)
				d := b.Delivery(id)
				if d.State != hook.StateRetrying || d.Last.Class != hook.ClassReset || len(b.Posts) != 0 || len(b.received()) != 1 || b.service.calls.Load() != 1 {
					t.Fatalf("%s, %s after %d posts from here, %d from there, %d calls; want retrying, reset after one post from there by one call",
						d.State, d.Last.Class, len(b.Posts), len(b.received()), b.service.calls.Load())
				}
				b.service.heal()
				b.Run()
				got := b.received()
				if d := b.Delivery(id); d.State != hook.StateDelivered || len(b.Posts) != 0 || len(got) != 2 || got[0] != got[1] || got[0] == "" {
					t.Errorf("%s after %d posts from here and the webhook-ids %v; want delivered by a duplicate from there", d.State, len(b.Posts), got)
				}
			})
		}
	}
}

// Without a connection to Lambda nothing was sent: the own region makes the attempt in place of
// another region, and for fixed addresses the message comes again.
func TestPath_noConnection(t *testing.T) {
	t.Parallel()

	b := setup(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close() // nobody listens
	config := aws.Config{Region: own, BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	sender, ok := b.Remote.(*remote.Sender)
	if !ok {
		t.Fatalf("Remote is a %T; want a *remote.Sender", b.Remote)
	}
	sender.Invoker = awslambda.New(config, awslambda.Config{Regional: names.Sender(stackName), Regions: []string{region}, Fixed: names.FixedSender(stackName), Private: names.PrivateSender(stackName)})
	near, far, within := b.post(elsewhere), b.post(fixed), b.post(inside)
	b.Invoke(hook.QueueLive)
	if states := b.States([]hook.DeliveryRef{near, far, within}); states != "1 delivered, 2 none" || len(b.Posts) != 1 || len(b.received()) != 0 {
		t.Errorf("%s after %d posts from here; want the endpoint of another region delivered from here, the fixed one waiting", states, len(b.Posts))
	}
}
