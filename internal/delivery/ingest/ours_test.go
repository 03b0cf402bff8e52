package ingest_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
)

const failing = hook.NotificationFailing

func TestAcceptOurs_ReachesOnlyExplicitSubscribers(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		types []string
		want  int
	}{
		{name: "all of ours", types: []string{"webhook.*"}, want: 1},
		{name: "some of ours", types: []string{"webhook.endpoint.*"}, want: 1},
		{name: "the type itself", types: []string{failing}, want: 1},
		{name: "ours and any other", types: []string{"*", "webhook.*"}, want: 1},
		{name: "any type is none of ours", types: []string{"*"}, want: 0},
		{name: "others of ours", types: []string{"webhook.circuit.*"}, want: 0},
		{name: "something else", types: []string{"order.*"}, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.endpoint("acme", tt.types...)
			w.endpoint("other", "webhook.*")
			result, err := w.acceptor.AcceptOurs(t.Context(), "acme", failing, []byte(`{}`), "k")
			if err != nil || result.Deliveries != tt.want || result.Duplicate {
				t.Fatalf("AcceptOurs() to %v = %+v, %v; want %d deliveries", tt.types, result, err, tt.want)
			}
			tasks := w.tasks()
			if len(tasks) != tt.want || tt.want == 1 && (tasks[0].Delivery.Endpoint != e.ID || tasks[0].Delivery.Event != result.ID) {
				t.Errorf("tasks = %+v; want %d for %s", tasks, tt.want, e.ID)
			}
		})
	}
}

func TestAcceptOurs_StoresTheEventAsItIs(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "webhook.*")
	result, err := w.acceptor.AcceptOurs(t.Context(), "acme", failing, []byte(`{"a": 1}`), "k")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := w.Store.Event(t.Context(), result.ID)
	if err != nil || stored.Type != failing || stored.Tenant != "acme" || string(stored.Payload) != `{"a": 1}` || len(stored.Targets) != 1 ||
		!stored.AcceptedAt.Equal(start) || !stored.ExpiresAt.Equal(start.Add(90*24*time.Hour)) {
		t.Errorf("stored event = %+v, %v", stored, err)
	}
}

func TestAcceptOurs_WithoutSubscribersThereIsNoEvent(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	for _, tenant := range []hook.TenantID{"acme", "nobody"} {
		result, err := w.acceptor.AcceptOurs(t.Context(), tenant, failing, []byte(`{}`), "k")
		if err != nil || !reflect.DeepEqual(result, ingest.Result{}) {
			t.Errorf("AcceptOurs(%s) = %+v, %v; want nothing", tenant, result, err)
		}
	}
	w.Store.Table.Each(func(k table.Key, _ table.Item) bool {
		if k.Sort == "event" {
			t.Errorf("the store has %s; want no event", k)
		}
		return true
	})
	if n := len(w.tasks()); n != 0 {
		t.Errorf("%d tasks; want none", n)
	}
}

func TestAcceptOurs_OncePerKey(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name          string
		tenant        hook.TenantID
		eventType     string
		payload, key  string
		duplicate     bool
		want          hook.Code // 0: no error
		tasksAtOnce   int       // of the second call
		tasksInMinute int
	}{
		{name: "the same content is a duplicate, and sends the missing task", tenant: "acme", eventType: failing, payload: `{}`, key: "k", duplicate: true, want: 0, tasksAtOnce: 0, tasksInMinute: 1},
		{name: "another payload is a duplicate, too: a review repeats its notification with later figures", tenant: "acme", eventType: failing, payload: `{"a":1}`, key: "k", duplicate: true, want: 0, tasksAtOnce: 0, tasksInMinute: 1},
		{name: "another type is a conflict", tenant: "acme", eventType: hook.NotificationSlow, payload: `{}`, key: "k", duplicate: false, want: hook.CodeConflict, tasksAtOnce: 0, tasksInMinute: 0},
		{name: "another key is another event", tenant: "acme", eventType: failing, payload: `{}`, key: "k2", duplicate: false, want: 0, tasksAtOnce: 1, tasksInMinute: 0},
		{name: "another tenant's key is another event", tenant: "other", eventType: failing, payload: `{}`, key: "k", duplicate: false, want: 0, tasksAtOnce: 1, tasksInMinute: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.endpoint("acme", "webhook.*")
			w.endpoint("other", "webhook.*")
			first, err := w.acceptor.AcceptOurs(t.Context(), "acme", failing, []byte(`{}`), "k")
			if err != nil || len(w.tasks()) != 1 {
				t.Fatalf("AcceptOurs() = %+v, %v; want one task", first, err)
			}
			second, err := w.acceptor.AcceptOurs(t.Context(), tt.tenant, tt.eventType, []byte(tt.payload), tt.key)
			if tt.want != 0 {
				if err == nil || hook.CodeOf(err) != tt.want {
					t.Errorf("AcceptOurs() = %v; want %s", err, tt.want)
				}
			} else if err != nil || second.Duplicate != tt.duplicate || (second.ID == first.ID) != tt.duplicate {
				t.Errorf("AcceptOurs() = %+v, %v after %s; want duplicate: %t", second, err, first.ID, tt.duplicate)
			}
			atOnce := len(w.tasks())
			w.Clock.Until(start.Add(time.Minute))
			if later := len(w.tasks()); atOnce != tt.tasksAtOnce || later != tt.tasksInMinute {
				t.Errorf("%d tasks at once, %d in a minute; want %d, %d", atOnce, later, tt.tasksAtOnce, tt.tasksInMinute)
			}
		})
	}
}

// TestAcceptOurs_NoKeyOfACallerIsOurs checks that a client that knows a key of Surehook can
// neither replace nor read Surehook's event.
func TestAcceptOurs_NoKeyOfACallerIsOurs(t *testing.T) {
	t.Parallel()

	for _, key := range []string{"k", "surehook k", "surehook%20k", "surehook"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.endpoint("acme", "webhook.*", "*")
			theirs, theirErr := w.acceptor.Accept(t.Context(), "acme", paid(key))
			ours, err := w.acceptor.AcceptOurs(t.Context(), "acme", failing, []byte(`{}`), "k")
			if err != nil || ours.Duplicate || ours.ID == theirs.ID {
				t.Errorf("AcceptOurs(k) after Accept(%q) = %+v, %v; want an event of its own", key, ours, err)
			}
			refused, ok := errors.AsType[*hook.Error](theirErr)
			if key == "surehook k" && (!ok || refused.Code != hook.CodeInvalid || refused.Fields[0].Field != "idempotency_key") {
				t.Errorf("Accept(%q) = %v; want an invalid key", key, theirErr)
			}
			if key != "surehook k" && theirErr != nil {
				t.Errorf("Accept(%q) = %v; want nil", key, theirErr)
			}
		})
	}
}
