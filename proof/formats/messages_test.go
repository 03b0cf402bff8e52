package formats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// messages returns the bodies of all messages between functions, by a name that begins with
// the kind.
func messages(t *testing.T) map[string]string {
	t.Helper()

	all := make(map[string]string)
	add := func(name string) func(body string, err error) {
		return func(body string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("encode %s: %v", name, err)
			}
			all[name] = body
		}
	}
	for name, task := range tasks() {
		add("task " + name)(task.Encode())
	}
	all["name of a schedule"] = settle.ScheduleName(tasks()["retry"], at(101))
	d, _ := recorded(0, hook.StateDead, hook.ClassUnavailable)
	add("letter")(hook.DeadLetterOf(d).Encode())
	check := hook.CircuitCheck{Tenant: tenant, Endpoint: first, Wave: 3, Hops: 2}
	add("circuit check")(hook.CircuitMessage{CircuitCheck: check}.Encode())
	add("circuit page of a review")(hook.CircuitMessage{Review: &hook.ReviewPage{At: at(102), Endpoints: []hook.CircuitCheck{check, {Tenant: "globex", Endpoint: second}}}}.Encode())
	add("job replay")(replay.Message{Tenant: tenant, Job: job, Nonce: "next", Until: at(103), Hops: 4}.Encode())
	add("job erasure")(replay.Message{Tenant: tenant, Erasure: "era_0000000000000001", Nonce: "next"}.Encode())
	principal, err := json.Marshal(apigateway.Authorizer(hook.Principal{
		Key: caller, Name: "console", Tenant: tenant, Scopes: []hook.Scope{hook.ScopeRead, hook.ScopeReplay}, Restriction: apiKey(0).Restriction,
	}))
	add("principal")(string(principal), err)
	var published topic
	notifier := notify.Notifier{History: memory.NewStore(), Poster: nobody{}, Topic: &published, Log: slog.New(slog.DiscardHandler)}
	add("notification")("", notifier.Notify(t.Context(), notification(0)))
	all["notification"] = string(published)
	sent(t, all)
	return all
}

// tasks returns a task as of each queue, by the name of the queue, and the task of a probe.
func tasks() map[string]hook.Task {
	ref := hook.QueuedDelivery(event(0, target()), target()).Ref()
	task := func(change func(*hook.Task)) hook.Task {
		t := hook.Task{Delivery: ref, Tenant: tenant, Attempt: 1, Nonce: "task"}
		change(&t)
		return t
	}
	return map[string]hook.Task{
		"live":  task(func(*hook.Task) {}),
		"retry": task(func(t *hook.Task) { t.Attempt, t.Parks = 2, 3 }),
		"replay": task(func(t *hook.Task) {
			t.Delivery, t.ReplayRequest = ref.Successor(), hook.ReplayRequest{By: caller, Job: job, JobIndex: 7, Force: true, Redrive: true}
		}),
		"slot":     task(func(t *hook.Task) { t.Slot = true }),
		"overflow": task(func(t *hook.Task) { t.Slot, t.Hops = true, 5 }),
		"coalesce": task(func(t *hook.Task) { t.Reserved = true }),
		"probe":    task(func(t *hook.Task) { t.Attempt, t.Probe = 2, true }),
	}
}

// sent adds the messages to a sender in another region, and its answer.
func sent(t *testing.T, all map[string]string) {
	t.Helper()

	key, err := sign.Parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	e, of := endpoints(nil)[0], event(0, target())
	plain := send.Request{
		Endpoint: &e, Own: map[string]string{"X-Env": "test"}, Keys: []sign.Key{key}, Event: &of, Content: shape.Content{Body: of.Payload, ContentType: shape.JSON}, Delivery: hook.QueuedDelivery(of, target()).ID, Attempt: 2,
	}
	granted, secured, private, inside := plain, plain, plain, e
	inside.SetOrigin("", hook.EgressPrivate)
	private.Endpoint = &inside
	granted.Grant = &send.Grant{For: first, Secret: "client secret", OAuth: e.Auth.OAuth}
	secured.TLS = send.TLS{CA: "ca", Certificate: "certificate", Key: "key"}
	var last post
	signer := &send.Sender{Policy: egress.Policy{Own: []string{"api.example.com"}}, UserAgent: "Surehook/1", Now: now}
	for name, r := range map[string]send.Request{"sender message": plain, "sender message with a grant": granted, "sender message with TLS": secured, "sender message to the private network": private} {
		s := remote.Sender{Signer: signer, Invoker: &last, Now: now}
		_, _ = s.Send(t.Context(), r)
		all[name] = last.message
	}
	answer := func(name, message string) {
		h := remote.Handler{Sender: sender(&bytes.Buffer{})}
		text, err := h.Handle(t.Context(), []byte(message))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	answer("answer of a sender", all["sender message"])
	answer("answer of a sender, refused", `{"version":99}`)
}

// sender returns a sender whose requests are written down, and answered 503 or with an
// access token.
func sender(written *bytes.Buffer) *send.Sender {
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(written, "%s %s\n", r.Method, r.URL)
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			fmt.Fprintf(written, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
		}
		fmt.Fprintf(written, "%s\n", body)
		answer := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"40"}}, Body: io.NopCloser(strings.NewReader("try later")), Request: r}
		if r.URL.Host == "id.example.com" {
			answer.StatusCode, answer.Body = http.StatusOK, io.NopCloser(strings.NewReader(`{"access_token":"t","token_type":"Bearer","expires_in":300}`))
			answer.Header = http.Header{"Content-Type": {"application/json"}}
		}
		return answer, nil
	})}
	return send.New(client, egress.Policy{}, "", now)
}

// messages reads the bodies as the functions do.
func (r *reader) messages(all map[string]string) map[string]any {
	shown := make(map[string]any)
	for name, body := range all {
		kind, _, _ := strings.Cut(name, " ")
		switch kind {
		case "task":
			task, err := hook.DecodeTask(body)
			shown[name] = r.show(task, err)
		case "letter":
			letter, err := hook.DecodeDeadLetter(body)
			shown[name] = r.show(letter, err)
			task, err := hook.DecodeTask(body)
			shown[name+" redriven"] = r.show(task, err)
		case "circuit":
			task, err := hook.DecodeCircuitMessage(body)
			shown[name] = r.show(task, err)
		case "job":
			message, err := replay.DecodeMessage(body)
			shown[name] = r.show(message, err)
		case "principal":
			shown[name] = r.show(r.principal(body), nil)
		case "sender":
			var written bytes.Buffer
			answer, err := remote.Handler{Sender: sender(&written)}.Handle(r.ctx, []byte(body))
			shown[name] = r.show(strings.Split(written.String()+string(answer), "\n"), err)
		case "answer":
			s := remote.Sender{Signer: sender(&bytes.Buffer{}), Invoker: &post{answer: body}, Now: now}
			e, of := endpoints(nil)[0], event(0, target())
			outcome, err := s.Send(r.ctx, send.Request{Endpoint: &e, Event: &of})
			shown[name] = r.show(outcome, err)
		default: // nobody of ours reads the message: its text is a contract
			shown[name] = body
		}
	}
	return shown
}

// principal reads the caller of a request as a function behind the API does.
func (r *reader) principal(body string) (p hook.Principal) {
	var e events.APIGatewayV2HTTPRequest
	e.RequestContext.HTTP.Method, e.RawPath = http.MethodGet, "/"
	e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{}
	if err := json.Unmarshal([]byte(body), &e.RequestContext.Authorizer.Lambda); err != nil {
		r.t.Fatal(err)
	}
	_, err := apigateway.Handle(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { p, _ = httpapi.PrincipalFrom(r.Context()) }))(r.ctx, e)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// post is a region that keeps the message.
type post struct{ message, answer string }

func (p *post) Invoke(_ context.Context, _ string, message []byte) ([]byte, error) {
	p.message = string(message)
	return []byte(p.answer), nil
}

// topic keeps the last message.
type topic string

func (p *topic) Publish(_ context.Context, _ string, message []byte) error {
	*p = topic(message)
	return nil
}

// nobody subscribes to system events.
type nobody struct{}

func (nobody) AcceptOurs(context.Context, hook.TenantID, string, []byte, string) (ingest.Result, error) {
	return ingest.Result{}, nil
}
