package httpapi_test

import (
	"context"
	"log/slog"
	"slices"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// refuser is an acceptor that accepts no event.
type refuser struct{ err error }

func (r refuser) Accept(context.Context, hook.TenantID, ingest.Request) (ingest.Result, error) {
	return ingest.Result{}, r.err
}

func (r refuser) AcceptBatch(_ context.Context, _ hook.TenantID, rs []ingest.Request) []ingest.Result {
	return slices.Repeat([]ingest.Result{{Err: r.err}}, len(rs))
}

// refuse makes every post of an event fail with the error.
func (b *bundle) refuse(err error) {
	b.events = httpapi.Events(refuser{err}, slog.New(slog.NewJSONHandler(b.log, nil)))
}
