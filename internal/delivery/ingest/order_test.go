package ingest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// hastyStore stores later events sooner: each PutEvent takes a second less than the one before.
type hastyStore struct {
	ingest.Store

	takes time.Duration
	fail  error // of the first PutEvent
}

func (s *hastyStore) PutEvent(ctx context.Context, e hook.Event) error {
	time.Sleep(s.takes) // virtual
	s.takes -= time.Second
	if err := s.fail; err != nil {
		s.fail = nil
		return err
	}
	return s.Store.PutEvent(ctx, e)
}

// The first use of a key in a batch is the event, in whatever order the writes would end.
func TestAcceptBatch_theFirstUseOfAKeyWins(t *testing.T) {
	t.Parallel()

	unavailable := &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"}
	use := func(payload string) ingest.Request {
		return ingest.Request{Type: "a", Payload: []byte(payload), IdempotencyKey: "z"}
	}
	wrong := use("0")
	wrong.Wrong = []hook.FieldError{{Field: "retain_for", Message: "is wrong"}}
	for _, tt := range []struct {
		name   string
		batch  []ingest.Request
		fail   error
		want   []hook.Code // 0: accepted
		stored string
	}{
		{name: "another payload", batch: []ingest.Request{use("1"), use("2"), use("1")}, want: []hook.Code{0, hook.CodeConflict, 0}, stored: "1"},
		{name: "the first is not valid", batch: []ingest.Request{wrong, use("1"), use("2")}, want: []hook.Code{hook.CodeInvalid, 0, hook.CodeConflict}, stored: "1"},
		{
			name: "the first is not stored", batch: []ingest.Request{use("1"), use("2")}, fail: unavailable,
			want: []hook.Code{hook.CodeUnavailable, hook.CodeUnavailable},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				w.acceptor.Store = &hastyStore{Store: w.acceptor.Store, takes: 10 * time.Second, fail: tt.fail}
				for i, result := range w.acceptor.AcceptBatch(t.Context(), "acme", tt.batch) {
					var got hook.Code
					if known, ok := errors.AsType[*hook.Error](result.Err); ok {
						got = known.Code
					}
					if got != tt.want[i] || got == 0 && result.Err != nil {
						t.Errorf("result %d = %+v; want code %v", i, result, tt.want[i])
					}
				}
				stored, err := w.Store.Event(t.Context(), hook.KeyedEventID("acme", "z"))
				if string(stored.Payload) != tt.stored || (err == nil) != (tt.stored != "") {
					t.Errorf("stored payload = %s, %v; want %s", stored.Payload, err, tt.stored)
				}
			})
		})
	}
}
