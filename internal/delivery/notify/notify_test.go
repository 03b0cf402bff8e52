package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 891e6, time.UTC)

var errNo = errors.New("no")

// recipients keep the notifications they received, in order. One recipient may fail.
type recipients struct {
	fails    error  // returned by the recipient named by which
	which    string // "history", "tenant" or "topic"
	received []string
	texts    []string // the documents
}

func (l *recipients) receive(who, what string) error {
	l.received = append(l.received, who+" "+what)
	if who == l.which {
		return l.fails
	}
	return nil
}

func (l *recipients) PutNotification(_ context.Context, n hook.Notification) error {
	return l.receive("history", n.Key)
}

func (l *recipients) AcceptOurs(_ context.Context, tenant hook.TenantID, eventType string, payload []byte, key string) (ingest.Result, error) {
	l.texts = append(l.texts, string(payload))
	return ingest.Result{}, l.receive("tenant", fmt.Sprintf("%s %s %s", tenant, eventType, key))
}

func (l *recipients) Publish(_ context.Context, eventType string, message []byte) error {
	l.texts = append(l.texts, string(message))
	return l.receive("topic", eventType)
}

// newNotifier returns a notifier to the recipients, and its log.
func newNotifier(l *recipients) (notify.Notifier, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return notify.Notifier{
		History: l, Poster: l, Topic: l,
		Metrics: emf.Set{Environment: "test"}, Log: slog.New(slog.NewJSONHandler(log, nil)),
	}, log
}

func opened() hook.Notification {
	return hook.Notification{
		Type: hook.NotificationOpened, Tenant: "acme", Endpoint: "ep_0123456789abcdef", At: start.In(time.FixedZone("", 3600)),
		Reason: "It keeps failing.", Figures: map[string]float64{"failures": 5}, Key: "k",
	}
}

func dead(t *testing.T) hook.Notification {
	t.Helper()

	id := hook.NewEventID()
	n := opened()
	n.Type, n.Delivery = hook.NotificationDead, hook.DeliveryID{Event: id, Endpoint: n.Endpoint, Generation: 1}
	return n
}

func TestNotify_NotifiesAllInOrder(t *testing.T) {
	t.Parallel()

	const posted = "tenant acme webhook.circuit.opened k"
	conflict := hook.Conflict("another body")
	tests := []struct {
		name         string
		notification hook.Notification
		which        string
		fails        error
		want         []string
		ok           bool
	}{
		{name: "all recipients", notification: opened(), which: "", fails: nil, want: []string{"history k", posted, "topic webhook.circuit.opened"}, ok: true},
		{name: "a dead delivery is not in the history of the endpoint", notification: dead(t), which: "", fails: nil, want: []string{"tenant acme webhook.delivery.dead k", "topic webhook.delivery.dead"}, ok: true},
		{name: "the notification was posted before, and erased", notification: opened(), which: "tenant", fails: conflict, want: []string{"history k", posted, "topic webhook.circuit.opened"}, ok: true},
		{name: "the history fails", notification: opened(), which: "history", fails: errNo, want: []string{"history k"}, ok: false},
		{name: "the history conflicts", notification: opened(), which: "history", fails: conflict, want: []string{"history k"}, ok: false},
		{name: "the post fails", notification: opened(), which: "tenant", fails: errNo, want: []string{"history k", posted}, ok: false},
		{name: "the topic fails", notification: opened(), which: "topic", fails: errNo, want: []string{"history k", posted, "topic webhook.circuit.opened"}, ok: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			l := &recipients{which: tt.which, fails: tt.fails}
			notifier, log := newNotifier(l)
			err := notifier.Notify(t.Context(), tt.notification)
			if (err == nil) != tt.ok || !tt.ok && (!errors.Is(err, tt.fails) || !strings.Contains(err.Error(), "ep_0123456789abcdef")) {
				t.Errorf("Notify() = %v; want ok: %t, or the error with the endpoint", err, tt.ok)
			}
			if diff := cmp.Diff(tt.want, l.received); diff != "" {
				t.Errorf("received (-want +got):\n%s", diff)
			}
			if sent := strings.Contains(log.String(), "notification.sent"); sent != tt.ok {
				t.Errorf("log = %s; want a line of the sent notification: %t", log, tt.ok)
			}
			if failed := strings.Contains(log.String(), `"notifications_failed":1`); failed == tt.ok {
				t.Errorf("log = %s; want the metric of a failed notification: %t", log, !tt.ok)
			}
		})
	}
}

func TestNotify_SendsSameDocumentToTenantAndOperators(t *testing.T) {
	t.Parallel()

	about, atRisk := dead(t), opened()
	atRisk.Type, atRisk.Figures, atRisk.FirstLoss = hook.NotificationAtRisk, map[string]float64{"at_risk": 218}, start.Add(time.Hour)
	const head = `{"event_type":%q,"at":"2026-03-04T05:06:07.891Z","tenant":"acme","endpoint_id":"ep_0123456789abcdef",`
	tests := []struct {
		notification hook.Notification
		want         string
	}{
		{notification: opened(), want: fmt.Sprintf(head, "webhook.circuit.opened") + `"reason":"It keeps failing.","figures":{"failures":5}}`},
		{notification: atRisk, want: fmt.Sprintf(head, "webhook.endpoint.at_risk") +
			`"reason":"It keeps failing.","figures":{"at_risk":218},"first_loss_at":"2026-03-04T06:06:07.891Z"}`},
		{notification: about, want: fmt.Sprintf(head, "webhook.delivery.dead") +
			fmt.Sprintf(`"delivery_id":%q,"event_id":%q,"reason":"It keeps failing.","figures":{"failures":5}}`, about.Delivery, about.Delivery.Event)},
	}
	for _, tt := range tests {
		t.Run(tt.notification.Type, func(t *testing.T) {
			t.Parallel()

			l := &recipients{}
			notifier, _ := newNotifier(l)
			if err := notifier.Notify(t.Context(), tt.notification); err != nil {
				t.Fatalf("Notify() = %v", err)
			}
			if diff := cmp.Diff([]string{tt.want, tt.want}, l.texts); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotify_WritesOneLine(t *testing.T) {
	t.Parallel()

	about, atRisk := dead(t), opened()
	atRisk.Type = hook.NotificationAtRisk
	tests := []struct {
		name         string
		notification hook.Notification
		want         map[string]any
		metrics      bool
	}{
		{name: "an opened circuit counts", notification: opened(), want: map[string]any{"type": "webhook.circuit.opened", "circuits_opened": 1.0, "environment": "test"}, metrics: true},
		{name: "an endpoint at risk counts", notification: atRisk, want: map[string]any{"type": "webhook.endpoint.at_risk", "endpoints_at_risk": 1.0, "environment": "test"}, metrics: true},
		{name: "a dead delivery does not count: function deliver counts it", notification: about, want: map[string]any{"type": "webhook.delivery.dead", "delivery_id": about.Delivery.String()}, metrics: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			notifier, log := newNotifier(&recipients{})
			if err := notifier.Notify(t.Context(), tt.notification); err != nil {
				t.Fatalf("Notify() = %v", err)
			}
			var got map[string]any
			if err := json.Unmarshal(log.Bytes(), &got); err != nil {
				t.Fatalf("log is not one line: %v: %s", err, log)
			}
			if aws, ok := got["_aws"].(map[string]any); ok != tt.metrics || ok && aws["Timestamp"] != float64(start.UnixMilli()) {
				t.Errorf("_aws = %v; want metrics: %t, with the time of the notification", got["_aws"], tt.metrics)
			}
			delete(got, "_aws")
			delete(got, "time")
			want := map[string]any{
				"level": "INFO", "msg": "notification.sent", "tenant": "acme", "endpoint_id": "ep_0123456789abcdef", "reason": "It keeps failing.",
			}
			for key, value := range tt.want {
				want[key] = value
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

// The poster is the real acceptor.
func TestNotify_PostsOnceToSubscribers(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		types   []string
		posted  int
		history int
	}{
		{name: "an endpoint subscribed to all system events", types: []string{"webhook.*"}, posted: 1, history: 1},
		{name: "an endpoint subscribed to the type", types: []string{"order.*", "webhook.circuit.opened"}, posted: 1, history: 1},
		{name: "an endpoint subscribed to other types", types: []string{"webhook.delivery.dead", "order.*"}, posted: 0, history: 1},
		{name: "no endpoint", types: nil, posted: 0, history: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			store := memory.NewStore()
			now := func() time.Time { return start }
			queue := memory.NewTaskQueues(now)
			if tt.types != nil {
				e := hook.Endpoint{ID: "ep_subscribessubscri", Tenant: "acme", EventTypes: tt.types, Status: hook.StatusActive}
				if err := store.CreateEndpoint(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			directory := ingest.NewDirectory(store)
			notifier, _ := newNotifier(&recipients{})
			notifier.History = store
			notifier.Poster = &ingest.Acceptor{
				Store: store, Queue: queue, Directory: directory, Retention: time.Hour, Now: now, NewID: hook.NewEventID,
			}
			for range 3 {
				if err := notifier.Notify(t.Context(), opened()); err != nil {
					t.Fatalf("Notify() = %v", err)
				}
			}
			other := opened()
			other.Figures = map[string]float64{"failures": 6} // of the same occurrence
			if err := notifier.Notify(t.Context(), other); err != nil {
				t.Fatalf("Notify(with other figures) = %v", err)
			}

			deliveries := map[hook.DeliveryRef]bool{} // a task may repeat
			for _, m := range queue.Receive(hook.QueueLive, 10) {
				deliveries[m.Task.Delivery] = true
			}
			if len(deliveries) != tt.posted {
				t.Errorf("%d deliveries; want %d", len(deliveries), tt.posted)
			}
			if kept, _, err := store.Notifications(t.Context(), "ep_0123456789abcdef", "", 10); err != nil || len(kept) != tt.history {
				t.Errorf("history = %v, %v; want %d", kept, err, tt.history)
			}
		})
	}
}
