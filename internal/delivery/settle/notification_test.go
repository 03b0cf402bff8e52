package settle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// topic is a notifier that counts its notifications.
type topic struct {
	err  error // returned by each Notify
	sent int
	then func() // called at each notification; may be nil
}

func (n *topic) Notify(context.Context, hook.Notification) error {
	n.sent++
	if n.then != nil {
		n.then()
	}
	return n.err
}

// A broken notifier must not stop a settlement: the deliveries are counted and retired, and a log
// line at level ERROR, which the query "errors" finds, names the failure.
func TestCompletion_CompleteWithoutTheNotification(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer
	s := store{Store: memory.NewStore()}
	d := s.record(t, "dead", "replaced", "dead")
	broken := &topic{err: errors.New("the topic is gone")}
	settlement := settle.Completion{Store: s, DeadLetters: letters{}, Notifier: broken, Log: slog.New(slog.NewJSONHandler(&log, nil))}
	if err := settlement.Complete(t.Context(), d); err != nil {
		t.Errorf("Complete() = %v; want nil", err)
	}
	if diff := cmp.Diff([]string{"discarded replayed", "replaced", "dead"}, s.states(t, 3)); diff != "" {
		t.Errorf("generations differ (-want +got):\n%s", diff)
	}
	if got, before := s.outcomes(t, newJob), s.outcomes(t, oldJob); got.Dead != 1 || before.Cancelled != 1 {
		t.Errorf("counted %+v and %+v; want one dead and one cancelled", got, before)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("log line %q: %v", log.String(), err)
	}
	delete(line, "time")
	want := map[string]any{
		"level": "ERROR", "msg": "notification.failed", "type": "webhook.delivery.dead", "tenant": "acme",
		"endpoint_id": "ep_0123456789abcdef", "delivery_id": d.ID.String(), "error": "the topic is gone",
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("log line (-want +got):\n%s", diff)
	}
}

// The notification comes last, because a notifier that does not respond must not use up the time
// of the settlement. After a call that fails before the notification, the next call sends it.
func TestCompletion_CompleteNotifiesLast(t *testing.T) {
	t.Parallel()

	s := store{Store: memory.NewStore()}
	d := s.record(t, "dead", "dead")
	fail := true
	s.before = func(verb string, _ hook.DeliveryRef) error {
		if verb == "save" && fail {
			return &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"}
		}
		return nil
	}
	working := &topic{}
	working.then = func() {
		if got := s.states(t, 1)[0]; got != "discarded replayed" {
			t.Errorf("at the notification the predecessor is %s; want discarded", got)
		}
	}
	settlement := settle.Completion{Store: s, DeadLetters: letters{}, Notifier: working, Log: slog.New(slog.DiscardHandler)}
	if err := settlement.Complete(t.Context(), d); err == nil || working.sent != 0 {
		t.Errorf("Complete() with a fault = %v after %d notifications; want an error after 0", err, working.sent)
	}
	fail = false
	if err := settlement.Complete(t.Context(), d); err != nil || working.sent != 1 {
		t.Errorf("Complete() = %v after %d notifications; want nil after 1", err, working.sent)
	}
}
