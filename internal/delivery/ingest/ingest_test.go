package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

var start = world.Start()

// bundle is the world of function ingest. The acceptor is one process, with a warm
// directory; tests replace its ports.
type bundle struct {
	*world.World

	acceptor *ingest.Acceptor
}

func setup(t *testing.T) *bundle {
	t.Helper()

	w := world.New(t, world.Options{Function: world.Ingest})
	return &bundle{w, w.Acceptor()}
}

func (w *bundle) endpoint(tenant hook.TenantID, types ...string) hook.Endpoint {
	w.T.Helper()

	id := hook.NewEndpointID()
	e := hook.Endpoint{ID: id, Tenant: tenant, URL: "https://example.com/" + string(id), EventTypes: types, Status: hook.StatusActive}
	if err := w.Store.CreateEndpoint(w.T.Context(), e); err != nil {
		w.T.Fatal(err)
	}
	e.Version = 1
	return e
}

// tasks receives and deletes all visible tasks of the live queue.
func (w *bundle) tasks() []hook.Task {
	w.T.Helper()

	var tasks []hook.Task
	for _, m := range w.Queue.Receive(hook.QueueLive, 10000) {
		w.Queue.Delete(m.ID)
		tasks = append(tasks, m.Task)
	}
	return tasks
}

func paid(key string) ingest.Request {
	return ingest.Request{Type: "order.paid", Payload: []byte(`{"order": 1}`), IdempotencyKey: key}
}

func TestAccept_FansOutToSubscribers(t *testing.T) {
	t.Parallel()

	w := setup(t)
	exact, prefix, all := w.endpoint("acme", "order.paid"), w.endpoint("acme", "order.*"), w.endpoint("acme", "*")
	w.endpoint("acme", "user.*")
	w.endpoint("other", "*")

	result, err := w.acceptor.Accept(t.Context(), "acme", paid(""))
	if err != nil || result.Deliveries != 3 || result.Duplicate {
		t.Fatalf("Accept() = %+v, %v; want 3 deliveries", result, err)
	}
	got := map[hook.EndpointID]int{}
	for _, task := range w.tasks() {
		if task.Attempt != 1 || task.Delivery.Generation != 1 || task.Tenant != "acme" || task.Delivery.Event != result.ID {
			t.Errorf("task = %+v", task)
		}
		got[task.Delivery.Endpoint]++
	}
	if diff := cmp.Diff(map[hook.EndpointID]int{exact.ID: 1, prefix.ID: 1, all.ID: 1}, got); diff != "" {
		t.Errorf("tasks differ (-want +got):\n%s", diff)
	}
	stored, err := w.Store.Event(t.Context(), result.ID)
	if err != nil || string(stored.Payload) != `{"order": 1}` || len(stored.Targets) != 3 || !stored.ExpiresAt.Equal(start.Add(90*24*time.Hour)) {
		t.Errorf("stored event = %+v, %v", stored, err)
	}
}

func TestAccept_WithoutSubscribersIsAccepted(t *testing.T) {
	t.Parallel()

	w := setup(t)
	result, err := w.acceptor.Accept(t.Context(), "acme", paid(""))
	if err != nil || result.Deliveries != 0 || len(w.tasks()) != 0 {
		t.Errorf("Accept() = %+v, %v; want 0 deliveries", result, err)
	}
	if _, err := w.Store.Event(t.Context(), result.ID); err != nil {
		t.Errorf("read stored event: %v", err)
	}
}

func TestAccept_ReachesEveryExistingEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first := w.endpoint("acme", "*")
	for i, change := range []func(){
		func() {},
		func() { w.endpoint("acme", "*") }, // the cached list is out of date
		func() {
			first.EventTypes = []string{"user.*"}
			if err := w.Store.UpdateEndpoint(t.Context(), first); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		want := []int{1, 2, 1}[i]
		if result, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil || result.Deliveries != want {
			t.Errorf("Accept() %d = %+v, %v; want %d deliveries", i, result, err, want)
		}
	}
}

// countingStore counts reads of the endpoints.
type countingStore struct {
	ingest.Store
	reads int
}

func (s *countingStore) Listing(ctx context.Context, tenant hook.TenantID) (ingest.Listing, error) {
	s.reads++
	return s.Store.Listing(ctx, tenant)
}

func TestAccept_CachesUnchangedEndpoints(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	counting := &countingStore{Store: w.Store}
	directory := ingest.NewDirectory(counting)
	w.acceptor.Directory = directory
	for range 3 {
		if _, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil {
			t.Fatal(err)
		}
	}
	if counting.reads != 1 {
		t.Errorf("endpoints were read %d times; want once", counting.reads)
	}
}

func TestAccept_IdempotencyKey(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name      string
		tenant    hook.TenantID
		second    ingest.Request
		duplicate bool
		code      hook.Code
	}{
		{name: "the same content is a duplicate", tenant: "acme", second: paid("k"), duplicate: true, code: 0},
		{name: "another payload is a conflict", tenant: "acme", second: ingest.Request{Type: "order.paid", Payload: []byte(`{"order":1}`), IdempotencyKey: "k"}, duplicate: false, code: hook.CodeConflict},
		{name: "another type is a conflict", tenant: "acme", second: ingest.Request{Type: "order.sent", Payload: []byte(`{"order": 1}`), IdempotencyKey: "k"}, duplicate: false, code: hook.CodeConflict},
		{name: "another key is another event", tenant: "acme", second: paid("k2"), duplicate: false, code: 0},
		{name: "no key is another event", tenant: "acme", second: paid(""), duplicate: false, code: 0},
		{name: "another tenant's key is another event", tenant: "other", second: paid("k"), duplicate: false, code: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.endpoint("acme", "*")
			first, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
			if err != nil {
				t.Fatal(err)
			}
			second, err := w.acceptor.Accept(t.Context(), tt.tenant, tt.second)
			if tt.code != 0 {
				if hook.CodeOf(err) != tt.code || err == nil {
					t.Errorf("Accept() = %v; want %s", err, tt.code)
				}
				return
			}
			if err != nil || second.Duplicate != tt.duplicate || (second.ID == first.ID) != tt.duplicate {
				t.Errorf("Accept() = %+v, %v after %s; want duplicate: %t", second, err, first.ID, tt.duplicate)
			}
		})
	}
}

// TestAccept_RepeatedPostSendsMissingTasks checks that a repeated post sends tasks a minute
// later, and only for endpoints without a delivery record.
func TestAccept_RepeatedPostSendsMissingTasks(t *testing.T) {
	t.Parallel()

	w := setup(t)
	done, lost := w.endpoint("acme", "*"), w.endpoint("acme", "*")
	first, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
	if err != nil {
		t.Fatal(err)
	}
	w.tasks() // a crash loses both tasks; one delivery is decided
	event, err := w.Store.Event(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	recorded := hook.QueuedDelivery(event, done.Target())
	recorded.State = hook.StateDelivered
	if err := w.Store.SaveDelivery(t.Context(), recorded, nil); err != nil {
		t.Fatal(err)
	}
	queued := hook.QueuedDelivery(event, lost.Target()) // the breaker found no record meanwhile
	if err := w.Store.SaveDelivery(t.Context(), queued, nil); err != nil {
		t.Fatal(err)
	}
	w.endpoint("acme", "*") // created after the post: not a target of the event

	second, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
	if err != nil || !second.Duplicate || second.Deliveries != 2 {
		t.Fatalf("Accept() = %+v, %v; want a duplicate with 2 deliveries", second, err)
	}
	w.Clock.Until(start.Add(time.Minute - time.Millisecond))
	if early := w.tasks(); len(early) != 0 {
		t.Errorf("%d tasks within the minute; want none", len(early))
	}
	w.Clock.Until(start.Add(time.Minute))
	tasks := w.tasks()
	if len(tasks) != 1 || tasks[0].Delivery.Endpoint != lost.ID {
		t.Errorf("tasks = %+v; want one for %s", tasks, lost.ID)
	}
}

func TestAccept_RacingPostsMakeOneEvent(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	const racers = 50
	results := make([]ingest.Result, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { results[i], _ = w.acceptor.Accept(t.Context(), "acme", paid("k")) })
	}
	wg.Wait()
	fresh := 0
	for _, r := range results {
		if r.Err != nil || r.ID != results[0].ID {
			t.Fatalf("result = %+v; want id %s", r, results[0].ID)
		}
		if !r.Duplicate {
			fresh++
		}
	}
	if fresh != 1 || len(w.tasks()) != 1 {
		t.Errorf("%d new events; want 1 with one immediate task", fresh)
	}
}

// forgetfulStore loses the response of every write, and the SDK writes again.
type forgetfulStore struct{ ingest.Store }

func (s forgetfulStore) PutEvent(ctx context.Context, e hook.Event) error {
	if err := s.Store.PutEvent(ctx, e); err != nil {
		return err
	}
	return s.Store.PutEvent(ctx, e)
}

func TestAccept_RecognisesItsOwnWrite(t *testing.T) {
	t.Parallel()

	for _, key := range []string{"", "k"} {
		t.Run("key "+key, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.endpoint("acme", "*")
			w.acceptor.Store = forgetfulStore{w.Store}
			result, err := w.acceptor.Accept(t.Context(), "acme", paid(key))
			if err != nil || result.Duplicate || len(w.tasks()) != 1 {
				t.Errorf("Accept() = %+v, %v; want a new event and one immediate task", result, err)
			}
		})
	}
}

// refusingQueue refuses the tasks of some endpoints.
type refusingQueue struct {
	settle.TaskQueue
	refuse hook.EndpointID
}

func (q refusingQueue) Send(ctx context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error {
	errs := make([]error, len(tasks))
	for i, task := range tasks {
		if task.Delivery.Endpoint == q.refuse {
			errs[i] = &hook.Error{Code: hook.CodeUnavailable, Message: "the queue is busy"}
			continue
		}
		errs[i] = errors.Join(q.TaskQueue.Send(ctx, queue, []hook.Task{task}, delay)...)
	}
	return errs
}

func TestAccept_IsNotAcceptedBeforeEveryTaskIsSent(t *testing.T) {
	t.Parallel()

	w := setup(t)
	good := w.endpoint("acme", "order.*")
	bad := w.endpoint("acme", "order.paid")
	w.acceptor.Queue = refusingQueue{w.Queue, bad.ID}

	results := w.acceptor.AcceptBatch(t.Context(), "acme", []ingest.Request{
		paid("a"), {Type: "order.sent", Payload: []byte("1"), IdempotencyKey: "b"},
	})
	if hook.CodeOf(results[0].Err) != hook.CodeUnavailable || results[0].Err == nil {
		t.Errorf("result 0 = %+v; want unavailable", results[0])
	}
	if results[1].Err != nil || results[1].Deliveries != 1 {
		t.Errorf("result 1 = %+v; want an event accepted for %s", results[1], good.ID)
	}

	w.acceptor.Queue = w.Queue // the client repeats the post
	w.tasks()
	result, err := w.acceptor.Accept(t.Context(), "acme", paid("a"))
	w.Clock.Until(start.Add(time.Minute))
	if err != nil || !result.Duplicate || len(w.tasks()) != 2 {
		t.Errorf("Accept() again = %+v, %v; want a duplicate and the tasks of both endpoints", result, err)
	}
}

func TestAcceptBatch_AnInvalidRequestDoesNotAffectTheOthers(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	results := w.acceptor.AcceptBatch(t.Context(), "acme", []ingest.Request{
		paid(""),
		{Type: "no spaces please", Payload: []byte("1")},
		paid("k"),
		{Type: "order.paid", Payload: []byte("2"), IdempotencyKey: "k"}, // races with the previous request
		{Type: "order.paid", IdempotencyKey: strings.Repeat("x", 256)},
	})
	if results[0].Err != nil {
		t.Errorf("result 0 = %+v; want an accepted event", results[0])
	}
	for i, fields := range map[int][]string{1: {"event_type"}, 4: {"payload", "idempotency_key"}} {
		failure, ok := errors.AsType[*hook.Error](results[i].Err)
		if !ok || failure.Code != hook.CodeInvalid || len(failure.Fields) != len(fields) {
			t.Errorf("result %d = %v; want fields %v", i, results[i].Err, fields)
			continue
		}
		for j, field := range fields {
			if failure.Fields[j].Field != field {
				t.Errorf("result %d names %s; want %s", i, failure.Fields[j].Field, field)
			}
		}
	}
	if (results[2].Err == nil) == (results[3].Err == nil) {
		t.Errorf("results 2 and 3 = %v, %v; want one conflict", results[2].Err, results[3].Err)
	}
	if got := len(w.tasks()); got != 2 {
		t.Errorf("%d tasks; want 2", got)
	}
}

func TestAcceptFor_IgnoresSubscriptions(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.endpoint("acme", "user.*")
	w.endpoint("acme", "*")
	result, err := w.acceptor.AcceptFor(t.Context(), e, "webhook.test", []byte(`{}`), false)
	if err != nil || result.Deliveries != 1 {
		t.Fatalf("AcceptFor() = %+v, %v", result, err)
	}
	if tasks := w.tasks(); len(tasks) != 1 || tasks[0].Delivery.Endpoint != e.ID {
		t.Errorf("tasks = %+v; want one for %s", tasks, e.ID)
	}
}

func TestAccept_500Endpoints(t *testing.T) {
	t.Parallel()

	w := setup(t)
	for range hook.DefaultEndpoints {
		w.endpoint("acme", "*")
	}
	result, err := w.acceptor.Accept(t.Context(), "acme", paid(""))
	if err != nil || result.Deliveries != 500 || len(w.tasks()) != 500 {
		t.Errorf("Accept() = %+v, %v; want 500 deliveries", result, err)
	}
}

func ExampleAcceptor_Accept() {
	store := memory.NewStore()
	directory := ingest.NewDirectory(store)
	acceptor := &ingest.Acceptor{
		Store: store, Queue: memory.NewTaskQueues(time.Now), Directory: directory,
		Retention: 90 * 24 * time.Hour, Now: time.Now, NewID: hook.NewEventID,
	}
	result, err := acceptor.Accept(context.Background(), "acme", ingest.Request{Type: "order.paid", Payload: []byte(`{"order": 4711}`)})
	fmt.Println(result.Deliveries, result.Duplicate, err)
	// Output: 0 false <nil>
}
