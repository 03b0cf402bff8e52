package ingest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// countedTypes counts the reads of event types, and can fail.
type countedTypes struct {
	ingest.TypeStore
	catalogues, types int
	fail              error
}

func (c *countedTypes) Catalogue(ctx context.Context) (hook.Catalogue, error) {
	c.catalogues++
	if c.fail != nil {
		return hook.Catalogue{}, c.fail
	}
	return c.TypeStore.Catalogue(ctx)
}

func (c *countedTypes) TypeListing(ctx context.Context, names []string) (ingest.TypeListing, error) {
	c.types++
	return c.TypeStore.TypeListing(ctx, names)
}

// checked makes the acceptor check events and returns the reads.
func (w *bundle) checked(usual hook.Validation) *countedTypes {
	w.T.Helper()

	counted := &countedTypes{TypeStore: w.Store}
	types := ingest.NewTypes(counted, usual, ingest.TypesAge)
	w.acceptor.Types = types
	return counted
}

// eventType stores the type; a stored type is replaced.
func (w *bundle) eventType(after hook.EventType) {
	w.T.Helper()

	before, err := w.Store.EventType(w.T.Context(), after.Name)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		w.T.Fatal(err)
	}
	if err := w.Store.PutEventType(w.T.Context(), before, after); err != nil {
		w.T.Fatal(err)
	}
}

const orderSchema = `{"type":"object","required":["order"],"properties":{"order":{"type":"integer"}}}`

func order(payload string) ingest.Request {
	return ingest.Request{Type: "order.paid", Payload: []byte(payload)}
}

func TestAccept_types(t *testing.T) {
	t.Parallel()
	const off, warn, reject = hook.ValidationOff, hook.ValidationWarn, hook.ValidationReject
	missing := []hook.FieldError{{Field: "payload", Message: "missing property 'order'"}}
	wrong := []hook.FieldError{{Field: "payload/order", Message: "got string, want integer"}}
	unknown := []hook.FieldError{{Field: "event_type", Message: "is not an event type of the environment"}}
	archived := []hook.FieldError{{Field: "event_type", Message: "is archived"}}
	tests := []struct {
		name       string
		usual, own hook.Validation // of the environment and of the type
		r          ingest.Request
		archived   bool
		warnings   []hook.FieldError
		refused    []hook.FieldError
	}{
		{name: "off", usual: off, r: order(`{}`)},
		{name: "off for the type", usual: reject, own: off, r: order(`{}`)},
		{name: "warn", usual: warn, r: order(`{}`), warnings: missing},
		{name: "warn about a type", usual: off, own: warn, r: order(`{}`), warnings: missing},
		{name: "warn in place of reject", usual: reject, own: warn, r: order(`{}`), warnings: missing},
		{name: "reject", usual: reject, r: order(`{}`), refused: missing},
		{name: "reject a type", usual: off, own: reject, r: order(`{"order":"7"}`), refused: wrong},
		{name: "reject no event that fits", usual: reject, r: order(`{"order":7}`)},
		{name: "unknown and off", usual: off, own: reject, r: ingest.Request{Type: "other", Payload: []byte(`1`)}},
		{name: "unknown and warn", usual: warn, r: ingest.Request{Type: "other", Payload: []byte(`1`)}, warnings: unknown},
		{name: "unknown and reject", usual: reject, r: ingest.Request{Type: "other", Payload: []byte(`1`)}, refused: unknown},
		{name: "archived and off", usual: off, archived: true, r: order(`{"order":7}`)},
		{name: "archived and warn", usual: warn, archived: true, r: order(`{"order":7}`), warnings: archived},
		{name: "archived and reject", usual: reject, archived: true, r: order(`{}`), refused: append(archived[:1:1], missing...)},
		{name: "without a schema", usual: reject, r: ingest.Request{Type: "free", Payload: []byte(`"any"`)}},
		{name: "a payload that is no object", usual: reject, r: order(`"<xml/>"`), refused: []hook.FieldError{{Field: "payload", Message: "got string, want object"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.endpoint("acme", "*")
			w.checked(tt.usual)
			w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema), Validation: tt.own, Archived: tt.archived})
			w.eventType(hook.EventType{Name: "free"})
			result, err := w.acceptor.Accept(t.Context(), "acme", tt.r)
			if diff := cmp.Diff(tt.warnings, result.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			tasks := len(w.tasks())
			if tt.refused == nil {
				if err != nil || tasks != 1 {
					t.Fatalf("Accept() = %v with %d tasks; want an accepted event", err, tasks)
				}
				return
			}
			refusal, _ := errors.AsType[*hook.Error](err)
			if refusal == nil || refusal.Code != hook.CodeMismatch || tasks != 0 {
				t.Fatalf("Accept() = %v with %d tasks; want a refusal", err, tasks)
			}
			if diff := cmp.Diff(tt.refused, refusal.Fields); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAcceptBatch_types(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	counted := w.checked(hook.ValidationReject)
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema)})
	results := w.acceptor.AcceptBatch(t.Context(), "acme", []ingest.Request{order(`{"order":1}`), order(`{}`), {Type: "other", Payload: []byte("1")}, order(`{"order":2}`), {Type: "no spaces please"}})
	for i, want := range []hook.Code{0, hook.CodeMismatch, hook.CodeMismatch, 0, hook.CodeInvalid} {
		if got := results[i].Err; want == 0 && got != nil || want != 0 && hook.CodeOf(got) != want {
			t.Errorf("result %d = %v; want %v", i, got, want)
		}
	}
	if counted.catalogues != 1 || counted.types != 1 || len(w.tasks()) != 2 {
		t.Errorf("%d reads of the catalogue, %d of types; want one each, and two tasks", counted.catalogues, counted.types)
	}
}

// TestAccept_typesReads checks that a warm process reads the catalogue every TypesAge, and a type
// once per version of the catalogue.
func TestAccept_typesReads(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	counted := w.checked(hook.ValidationOff)
	accept := func(step string, want hook.Code, catalogues, types int) {
		t.Helper()
		_, err := w.acceptor.Accept(t.Context(), "acme", order(`{}`))
		if want == 0 && err != nil || want != 0 && hook.CodeOf(err) != want {
			t.Errorf("%s: Accept() = %v; want %v", step, err, want)
		}
		if counted.catalogues != catalogues || counted.types != types {
			t.Errorf("%s: %d reads of the catalogue and %d of types; want %d and %d", step, counted.catalogues, counted.types, catalogues, types)
		}
	}
	at := func(d time.Duration) { w.Clock.Until(start.Add(d)) }
	accept("cold", 0, 1, 0)
	accept("warm", 0, 1, 0)
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema)}) // in use, but checked nowhere
	at(ingest.TypesAge)
	accept("a type without a check", 0, 2, 0)
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema), Validation: hook.ValidationReject})
	at(2*ingest.TypesAge - time.Millisecond)
	accept("before the age", 0, 2, 0)
	at(2 * ingest.TypesAge)
	accept("at the age", hook.CodeMismatch, 3, 1)
	accept("known", hook.CodeMismatch, 3, 1)
	at(3 * ingest.TypesAge)
	accept("the same catalogue", hook.CodeMismatch, 4, 1)
	w.eventType(hook.EventType{Name: "order.paid", Validation: hook.ValidationReject})
	at(4 * ingest.TypesAge)
	accept("changed", 0, 5, 2)
}

// acceptedBefore accepts a request with an idempotency key, before its type has a schema.
func acceptedBefore(t *testing.T) (*bundle, ingest.Request) {
	t.Helper()

	w := setup(t)
	w.endpoint("acme", "*")
	w.checked(hook.ValidationReject)
	w.eventType(hook.EventType{Name: "order.paid"})
	r := order(`{}`)
	r.IdempotencyKey = "k"
	if _, err := w.acceptor.Accept(t.Context(), "acme", r); err != nil {
		t.Fatal(err)
	}
	return w, r
}

// TestAccept_typesRepeat checks that a repeat of an accepted event sends the missing tasks even
// if it is refused.
func TestAccept_typesRepeat(t *testing.T) {
	t.Parallel()

	w, r := acceptedBefore(t)
	w.tasks() // lost
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema)})
	w.Clock.Until(start.Add(ingest.TypesAge))
	result, err := w.acceptor.Accept(t.Context(), "acme", r)
	w.Clock.Until(start.Add(ingest.TypesAge + time.Minute))
	if err != nil || !result.Duplicate || len(w.tasks()) != 1 {
		t.Errorf("Accept(repeat) = %+v, %v; want a duplicate and the lost task", result, err)
	}
	r.IdempotencyKey = "other"
	if _, err := w.acceptor.Accept(t.Context(), "acme", r); hook.CodeOf(err) != hook.CodeMismatch {
		t.Errorf("Accept(new) = %v; want a refusal", err)
	}
}

// TestAccept_typesOfAnExpiredKey has an expired event that the table has not removed yet. A
// refused post with its idempotency key is no repeat: if it were accepted as one, it would
// deliver nothing.
func TestAccept_typesOfAnExpiredKey(t *testing.T) {
	t.Parallel()

	w, r := acceptedBefore(t)
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema)})
	w.Clock.Until(start.Add(w.acceptor.Retention))
	if result, err := w.acceptor.Accept(t.Context(), "acme", r); hook.CodeOf(err) != hook.CodeMismatch {
		t.Errorf("Accept() = %+v, %v; want a refusal", result, err)
	}
}

// TestAccept_typesAfterTheLimit checks that a post past the limit reads and compiles no event
// types.
func TestAccept_typesAfterTheLimit(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.limit(hook.TenantLimits{EventsPerSecond: 1})
	if _, err := w.acceptor.Accept(t.Context(), "acme", order(`{}`)); err != nil {
		t.Fatal(err)
	}
	reads := w.checked(hook.ValidationWarn)
	if _, err := w.acceptor.Accept(t.Context(), "acme", order(`{}`)); hook.CodeOf(err) != hook.CodeThrottled {
		t.Errorf("Accept = %v; want the limit", err)
	}
	if reads.catalogues+reads.types > 0 {
		t.Errorf("%d reads of the catalogue and %d of types; want none past the limit", reads.catalogues, reads.types)
	}
}

// TestAccept_withoutItsTypesIsUnavailable checks that all events fail for now if the types cannot
// be read, because nobody knows what to refuse.
func TestAccept_withoutItsTypesIsUnavailable(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	counted := w.checked(hook.ValidationOff)
	counted.fail = errLimits
	if _, err := w.acceptor.Accept(t.Context(), "acme", order(`{}`)); hook.CodeOf(err) != hook.CodeUnavailable || len(w.tasks()) != 0 {
		t.Errorf("Accept() = %v; want unavailable", err)
	}
	counted.fail = nil
	if _, err := w.acceptor.Accept(t.Context(), "acme", order(`{}`)); err != nil {
		t.Errorf("Accept(again) = %v; want an accepted event", err)
	}
}

// TestAccept_typesOfOurs checks that Surehook's own events and test events are not checked.
func TestAccept_typesOfOurs(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.endpoint("acme", "webhook.*")
	w.checked(hook.ValidationReject)
	if _, err := w.acceptor.AcceptFor(t.Context(), e, "order.paid", []byte(`{}`), false); err != nil {
		t.Errorf("AcceptFor() = %v; want an accepted event", err)
	}
	if _, err := w.acceptor.AcceptOurs(t.Context(), "acme", failing, []byte(`{}`), "k"); err != nil {
		t.Errorf("AcceptOurs() = %v; want an accepted event", err)
	}
}

// A type that is not checked is read once, too: as long as another one is checked, each post asks for
// its type.
func TestAccept_readsATypeThatIsNotCheckedOnce(t *testing.T) {
	t.Parallel()

	w := setup(t)
	reads := w.checked(hook.ValidationOff)
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema)})
	w.eventType(hook.EventType{Name: "order.sent", Schema: []byte(orderSchema), Validation: hook.ValidationReject})
	for i, name := range []string{"order.paid", "order.paid", "unknown", "unknown", "order.paid"} {
		if _, err := w.acceptor.Accept(t.Context(), "acme", ingest.Request{Type: name, Payload: []byte(`{}`)}); err != nil {
			t.Fatalf("post %d: %v", i, err)
		}
	}
	if reads.types != 2 {
		t.Errorf("%d reads of event types; want one for each of two", reads.types)
	}
}
