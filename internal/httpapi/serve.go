package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// route is an operation with its action.
type route struct {
	Route
	do action
}

// action handles one authorized request.
type action func(ctx context.Context, c *call) (reply, error)

// named returns an action on what the path names: parse reads the part of the path. An action with a
// body checks the body first, so that a malformed id looks like an unknown one, and is not for named.
func named[ID any](part string, parse func(string) (ID, error), do func(context.Context, *call, ID) (reply, error)) action {
	return func(ctx context.Context, c *call) (reply, error) {
		id, err := parse(c.r.PathValue(part))
		if err != nil {
			return reply{}, fmt.Errorf("read path: %w", err)
		}
		return do(ctx, c, id)
	}
}

// call is one request.
type call struct {
	w         http.ResponseWriter
	r         *http.Request
	principal hook.Principal
	tenant    hook.TenantID // of the path; empty for a path without a tenant
	began     time.Time
	change    *change // nil for a route without a change
	pageBytes int     // bound of a page of a list; 0: page.MaxBytes
}

// serve returns the handler of the routes. Requests for other paths get a problem document, too.
// changes is for the routes that change something, and zero if there are none. pageBytes bounds
// the pages of lists; 0: page.MaxBytes.
func serve(log *slog.Logger, changes recorder, pageBytes int, routes []route) http.Handler {
	resources := make(map[string]*resource)
	for _, r := range routes {
		if resources[r.Path] == nil {
			resources[r.Path] = &resource{path: r.Path, log: log, changes: changes, pageBytes: pageBytes}
		}
		resources[r.Path].routes = append(resources[r.Path].routes, r)
	}
	mux := http.NewServeMux()
	for _, res := range resources {
		mux.Handle(res.path, res)
	}
	unknown := &resource{log: log}
	mux.Handle("/", unknown)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path { // otherwise the mux would redirect
			unknown.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// resource is a path with the routes of the path. The resource without routes handles unknown paths.
type resource struct {
	path   string
	routes []route
	log    *slog.Logger

	changes   recorder
	pageBytes int
}

// recorder records changes, and refuses changes of tenants that are being erased.
type recorder struct {
	log   *audit.Log
	guard tenant.Guard
}

// ServeHTTP handles the request and logs one line, unless the reply is already logged.
func (s *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now() //nolint:forbidigo // for the log and for the expiry of the caller's key
	c := &call{w: w, r: r, began: began, pageBytes: s.pageBytes}
	answer, err := s.answer(r.Context(), c)
	if err == nil {
		err = answer.encode()
	}
	if err != nil {
		answer = problemOf(err).reply(err)
	}
	answer.write(w)
	if answer.logged {
		return
	}
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String(names.LogMethod, r.Method),
		slog.String(names.LogRoute, s.path),
		slog.String(names.LogTenant, string(c.tenant)),
		slog.String(names.LogKey, string(c.principal.Key)),
		slog.Int(names.LogStatus, answer.status),
		slog.Int64(names.LogDuration, time.Since(began).Milliseconds()), //nolint:forbidigo // as above
		slog.String(names.LogCode, answer.code),
	}
	if answer.status >= http.StatusInternalServerError {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	s.log.LogAttrs(r.Context(), level, "request.handled", attrs...)
}

func (s *resource) answer(ctx context.Context, c *call) (reply, error) {
	if len(s.routes) == 0 {
		return reply{}, hook.NotFound("route")
	}
	i := slices.IndexFunc(s.routes, func(r route) bool { return r.Method == c.r.Method })
	if i < 0 {
		var allow []string
		for _, r := range s.routes {
			allow = append(allow, r.Method)
		}
		allowed := strings.Join(allow, ", ")
		return newProblem(http.StatusMethodNotAllowed, "method_not_allowed", "allowed here: "+allowed).reply(nil).with("Allow", allowed), nil
	}
	if err := admit(ctx, s.routes[i].Route, c); err != nil {
		return reply{}, err
	}
	return s.perform(ctx, s.routes[i], c)
}
