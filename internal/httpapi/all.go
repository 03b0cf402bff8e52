package httpapi

import (
	"log/slog"
	"net/http"
	"slices"

	"surehook.example/surehook/api"
)

// All returns the handler of all routes and pages, for a process with all functions.
func All(a Acceptor, j Jobs, admin Admin, log *slog.Logger) http.Handler {
	return withPages(serve(log, recorder{admin.Audit, admin.Guard}, admin.PageBytes, slices.Concat(
		eventRoutes(&events{acceptor: a, log: log}),
		replayRoutes(newReplays(j, log)),
		manageRoutes(&manage{Admin: admin, log: log}),
		docsRoutes(docs{api.Files}),
	)), built(), admin.Portal, admin.SignIn)
}
