package httpapi

import (
	"log/slog"
	"net/http"
	"slices"

	"surehook/api"
	"surehook/internal/delivery/replay"
)

// All returns the handler of all routes and pages, for a process with all functions.
func All(a Acceptor, r *replay.Replayer, admin Admin, log *slog.Logger) http.Handler {
	return withPages(serve(log, admin.Audit, slices.Concat(
		eventRoutes(&events{acceptor: a, log: log}),
		replayRoutes(&replays{replayer: r, log: log}),
		manageRoutes(&manage{Admin: admin, log: log}),
		docsRoutes(docs{api.Files}),
	)), built(), admin.Portal)
}
