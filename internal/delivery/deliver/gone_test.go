package deliver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/world"
)

// broken is a notifier without a topic.
type broken struct{}

func (broken) Notify(context.Context, hook.Notification) error {
	return errors.New("the topic is gone")
}

// If the notifier is broken, the dead letter is still sent and the message still ends.
func TestProcessBatch_SettlesGoneWithoutTheNotification(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(410)
	id := w.Post(w.Endpoint(nil))[0]
	message := w.Queue.Receive(hook.QueueLive, 1)[0]
	process := w.Deliverer()
	settlerOf(process).Notifier = broken{}
	if failed := process.ProcessBatch(w.Context(), batchOf(message)); failed != nil {
		t.Errorf("ProcessBatch() = %v; want none failed", failed)
	}
	if n := len(w.DeadLetters.Letters()); n != 1 || w.Delivery(id).State != hook.StateDead {
		t.Errorf("%s with %d dead letters; want dead with 1", w.Delivery(id).State, n)
	}
	for _, want := range []string{
		`"level":"ERROR","msg":"notification.failed"`, `"` + names.LogType + `":"` + hook.NotificationDisabled + `"`,
		`"` + names.LogDelivery + `":"` + id.String() + `"`, `the topic is gone`,
	} {
		if !strings.Contains(w.Log.String(), want) {
			t.Errorf("the log does not contain %s:\n%s", want, w.Log)
		}
	}
}

// afterDisabling writes the first disabling, but returns an error.
type afterDisabling struct {
	store

	fail error // nil: no failure
}

func (s *afterDisabling) DisableEndpoint(ctx context.Context, e hook.Endpoint, r hook.AuditRecord) error {
	err := s.store.DisableEndpoint(ctx, e, r)
	if err == nil && s.fail != nil {
		err, s.fail = s.fail, nil
	}
	return err
}

// The owner is told that the endpoint was disabled, even if the response to the write was lost.
func TestProcessBatch_TellsOfADisablingWithoutAnAnswer(t *testing.T) {
	t.Parallel()

	for name, fail := range map[string]error{
		"an answer": nil, "a repetition by the client": hook.Conflict("changed meanwhile"),
		"a timeout, and the message returns": &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(410)
			w.Post(w.Endpoint(nil))
			d := w.Deliverer()
			writeTo(d, &afterDisabling{store: w.Store, fail: fail})
			notifications := &memory.Notifications{}
			settlerOf(d).Notifier = notifications
			messages := batchOf(w.Queue.Receive(hook.QueueLive, 1)...)
			if failed := d.ProcessBatch(w.Context(), messages); len(failed) > 0 {
				failed = d.ProcessBatch(w.Context(), messages)
				if len(failed) > 0 {
					t.Fatalf("the message fails again: %v", failed)
				}
			}
			told := 0
			for _, n := range notifications.Sent() {
				if n.Type == hook.NotificationDisabled {
					told++
				}
			}
			if told != 1 {
				t.Errorf("%d notifications of the disabling; want 1", told)
			}
		})
	}
}

// wantOneRecordOfDisabling checks that a disabled endpoint has one audit record of the change,
// made by Surehook, and that an active endpoint has none.
func (w *bundle) wantOneRecordOfDisabling(id hook.EndpointID) {
	w.T.Helper()

	e, err := w.Store.Endpoint(w.T.Context(), "acme", id)
	if err != nil {
		w.T.Fatal(err)
	}
	records, _, err := w.Store.AuditRecords(w.T.Context(), "acme", hook.AuditSpan{}, "", 100)
	if err != nil {
		w.T.Fatal(err)
	}
	want := []hook.AuditRecord{}
	if e.Status == hook.StatusDisabled {
		want = append(want, hook.AuditRecord{
			Tenant: "acme", At: e.UpdatedAt, Action: "endpoint.disable", Target: string(id), Outcome: hook.AuditDone,
			Changes: []byte(`{"reason":{"old":"","new":"gone"},"status":{"old":"active","new":"disabled"}}`),
		})
	}
	opts := []cmp.Option{cmpopts.IgnoreFields(hook.AuditRecord{}, "ID", "ExpiresAt"), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, records, opts...); diff != "" {
		w.T.Errorf("records of changes (-want +got):\n%s", diff)
	}
}
