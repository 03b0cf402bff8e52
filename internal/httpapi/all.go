package httpapi

import (
	"log/slog"
	"net/http"
	"slices"

	"surehook/api"
	"surehook/internal/admin/registry"
	"surehook/internal/delivery/ingest"
	"surehook/internal/delivery/replay"
)

// All returns the handler of everything that Events, Replay and Manage serve,
// for where one process does all of it.
func All(a *ingest.Acceptor, p *replay.Replayer, r *registry.Registry, log *slog.Logger) http.Handler {
	return serve(log, slices.Concat(
		eventRoutes(&events{acceptor: a, log: log}),
		replayRoutes(&replays{replayer: p, log: log}),
		manageRoutes(&manage{registry: r, tester: a, log: log}),
		docsRoutes(docs{api.Files}),
	))
}
