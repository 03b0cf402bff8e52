// Package httpapi translates between HTTP and the use cases. The contract for
// callers is api/openapi.yaml; tests compare the contract with the package.
//
// # Routes
//
// Routes returns the table of all routes with the required scope. Events, Replay
// and Manage serve one part each, and All serves the whole table.
//
// # Authorization
//
// Callers are authenticated before: WithPrincipal puts the caller into the context.
// A route answers 401 without a caller, 403 if the caller lacks the scope or, where
// required, a key for all tenants, and 404 for the path of another tenant.
//
// # Requests
//
// Request bodies are decoded strictly: unknown fields, repeated names, null,
// trailing text and invalid UTF-8 are errors that name the field.
//
// # Responses
//
// Responses are JSON, and errors are problem documents (RFC 9457). Only the
// message of an error with a code reaches the caller, never an internal error.
//
// A read model, which a use case makes only to be answered, names its fields in JSON itself. A stored
// record is not answered: a view lists what callers see of it, so that a new field stays hidden, and no
// secret gets out.
//
// The package makes no decision about events and endpoints.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"surehook.example/surehook/api"
	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Acceptor accepts events.
type Acceptor interface {
	// Accept accepts one event of the tenant.
	Accept(ctx context.Context, tenant hook.TenantID, r ingest.Request) (ingest.Result, error)
	// AcceptBatch accepts each event independently and returns one result per request, in order.
	AcceptBatch(ctx context.Context, tenant hook.TenantID, rs []ingest.Request) []ingest.Result
}

// Tester sends test events.
type Tester interface {
	// AcceptFor accepts a test event for one endpoint, regardless of the endpoint's event types.
	// named: only a body that names the type may carry the payload.
	AcceptFor(ctx context.Context, e hook.Endpoint, eventType string, payload []byte, named bool) (ingest.Result, error)
}

// Events returns the handler of the routes for posting events. The handler counts
// accepted events.
func Events(a Acceptor, log *slog.Logger) http.Handler {
	return serve(log, recorder{}, 0, eventRoutes(&events{acceptor: a, log: log}))
}

// Jobs holds the use cases of Replay. All fields without a remark are required.
type Jobs struct {
	Replayer  *replay.Replayer
	Eraser    *erasure.Eraser
	Guard     tenant.Guard
	Audit     *audit.Log
	PageBytes int // bound of a page of a list; 0: page.MaxBytes
}

// Replay returns the handler of the routes for replays and replay jobs, for
// discarding and cancelling deliveries, for the analysis of dead letters, and for
// erasures.
func Replay(j Jobs, log *slog.Logger) http.Handler {
	return serve(log, recorder{j.Audit, j.Guard}, j.PageBytes, replayRoutes(&replays{Jobs: j, log: log}))
}

// Admin holds the use cases of Manage. All fields without a remark are required.
type Admin struct {
	Endpoints *endpoint.Admin
	Status    *status.Reader
	Keys      *apikey.Issuer
	Links     *apikey.Links
	Tenants   *tenant.Admin
	Types     *eventtype.Admin
	Rejects   *reject.Admin
	Previewer *preview.Previewer
	Searcher  *search.Searcher
	Tester    Tester
	Guard     tenant.Guard
	Audit     *audit.Log
	Portal    names.Portal // may be zero
	SignIn    names.SignIn // may be zero
	PageBytes int          // bound of a page of a list; 0: page.MaxBytes

	Environment string // the name of the deployment, for callers; may be empty
}

// Manage returns the handler of all other routes: endpoints, reads, limits of tenants,
// event types, keys, the documentation of the API, and the console and the portal.
func Manage(a Admin, log *slog.Logger) http.Handler {
	routes := append(manageRoutes(&manage{Admin: a, log: log}), docsRoutes(docs{api.Files})...)
	return withPages(serve(log, recorder{a.Audit, a.Guard}, a.PageBytes, routes), built(), a.Portal, a.SignIn)
}

// All returns the handler of all routes and pages, for a process with all functions.
func All(a Acceptor, j Jobs, admin Admin, log *slog.Logger) http.Handler {
	return withPages(serve(log, recorder{admin.Audit, admin.Guard}, admin.PageBytes, slices.Concat(
		eventRoutes(&events{acceptor: a, log: log}),
		replayRoutes(&replays{Jobs: j, log: log}),
		manageRoutes(&manage{Admin: admin, log: log}),
		docsRoutes(docs{api.Files}),
	)), built(), admin.Portal, admin.SignIn)
}

// Route is one operation of the API.
type Route struct {
	Method     string
	Path       string     // a pattern of net/http, such as /v1/tenants/{tenant}/events
	Scope      hook.Scope // required scope; empty for a public route and with Own
	AllTenants bool       // requires a key for all tenants
	Public     bool       // requires no key
	Own        bool       // requires a key but no scope: the route only concerns the caller's own key
	NoPerson   bool       // refuses a person who signed in: a new key would outlive the role of the person who made it
	Change     string     // the action in the audit record; empty for a route that changes nothing
}

// Routes returns the routes of Events, Replay and Manage.
func Routes() []Route {
	var all []Route
	for _, r := range slices.Concat(eventRoutes(&events{}), replayRoutes(&replays{}), manageRoutes(&manage{}), docsRoutes(docs{})) {
		all = append(all, r.Route)
	}
	return all
}

const (
	tenantsPath    = "/v1/tenants"
	tenantPath     = tenantsPath + "/{tenant}"
	eventsPath     = tenantPath + "/events"
	eventPath      = eventsPath + "/{event}"
	endpointsPath  = tenantPath + "/endpoints"
	endpointPath   = endpointsPath + "/{endpoint}"
	deliveriesPath = tenantPath + "/deliveries"
	deliveryPath   = deliveriesPath + "/{delivery}"
	replaysPath    = tenantPath + "/replays"
	replayPath     = replaysPath + "/{replay}"
	deadPath       = tenantPath + "/dead-letters"
	auditPath      = "/audit"
	statsPath      = "/stats"
	searchPath     = "/search"
	limitsPath     = tenantPath + "/limits"
	linksPath      = tenantPath + "/portal-links"
	sessionPath    = tenantPath + "/portal-session"
	eventTypesPath = "/v1/event-types"
	eventTypePath  = eventTypesPath + "/{type}"
	rejectsPath    = "/v1/rejects"
	keysPath       = "/v1/keys"
	docsPath       = "/docs"
)

// delivery and event are actions on what the path names.
func delivery(do func(context.Context, *call, hook.DeliveryID) (reply, error)) action {
	return named("delivery", hook.ParseDeliveryID, do)
}

func event(do func(context.Context, *call, hook.EventID) (reply, error)) action {
	return named("event", hook.ParseEventID, do)
}

func eventRoutes(h *events) []route {
	return []route{
		{Route{Method: http.MethodPost, Path: eventsPath, Scope: hook.ScopeEventsWrite}, withForm(maxEventBody, h.post)},
		{Route{Method: http.MethodPost, Path: eventsPath + "/batch", Scope: hook.ScopeEventsWrite}, withBody(hook.MaxBatchBytes, h.postBatch)},
	}
}

func replayRoutes(h *replays) []route {
	read := func(path string, do action) route {
		return route{Route{Method: http.MethodGet, Path: path, Scope: hook.ScopeReplay}, do}
	}
	change := func(path, name string, do action) route {
		return route{Route{Method: http.MethodPost, Path: path, Scope: hook.ScopeReplay, Change: name}, do}
	}
	return []route{
		change(deliveryPath+"/replay", "delivery.replay", withOptionalBody(h.replayDelivery)),
		change(deliveryPath+"/discard", "delivery.discard", withBody(maxBody, h.discardDelivery)),
		change(deliveryPath+"/cancel", "delivery.cancel", withOptionalBody(h.cancelDelivery)),
		change(eventPath+"/replay", "event.replay", withOptionalBody(h.replayEvent)),
		change(replaysPath, "replay.start", withForm(maxBody, h.startJob)),
		read(replaysPath, h.listJobs),
		read(replayPath, named("replay", hook.ParseJobID, h.getJob)),
		change(replayPath+"/cancel", "replay.cancel", named("replay", hook.ParseJobID, begun(h.cancelJob))),
		{Route{Method: http.MethodDelete, Path: eventPath + "/payload", Scope: hook.ScopeAdmin, Change: "event.erase"}, event(begun(h.erasePayload))},
		{Route{Method: http.MethodDelete, Path: tenantPath, Scope: hook.ScopeAdmin, AllTenants: true, Change: eraseAction}, begunOn("tenant", h.eraseTenant)},
		{Route{Method: http.MethodGet, Path: tenantPath + "/erasures/{erasure}", Scope: hook.ScopeAdmin, AllTenants: true}, named("erasure", hook.ParseErasureID, h.getErasure)},
		{Route{Method: http.MethodGet, Path: deadPath + "/analysis", Scope: hook.ScopeRead}, h.analyse},
	}
}

func manageRoutes(h *manage) []route {
	read := func(path string, do action) route {
		return route{Route{Method: http.MethodGet, Path: path, Scope: hook.ScopeRead}, do}
	}
	write := func(method, path, change string, do action) route {
		return route{Route{Method: method, Path: path, Scope: hook.ScopeEndpointsWrite, Change: change}, do}
	}
	admin := func(method, path, change string, do action) route {
		return route{Route{Method: method, Path: path, Scope: hook.ScopeAdmin, AllTenants: true, Change: change}, do}
	}
	return []route{
		write(http.MethodPost, endpointsPath, "endpoint.create", withForm(maxBody, h.createEndpoint)),
		read(endpointsPath, h.listEndpoints),
		read(endpointPath, h.endpointStatus((*endpoint.Admin).Status)),
		write(http.MethodPatch, endpointPath, "endpoint.change", withForm(maxBody, h.changeEndpoint)),
		write(http.MethodDelete, endpointPath, "endpoint.delete", h.deleteEndpoint),
		write(http.MethodPost, endpointPath+"/rotate-secret", "endpoint.rotate_secret", withOptionalBody(h.rotateSecret)),
		write(http.MethodPost, endpointPath+"/end-overlap", "endpoint.end_overlap", h.setStatus((*endpoint.Admin).EndOverlap)),
		write(http.MethodPost, endpointPath+"/test", "endpoint.test", withOptionalBody(h.testEndpoint)),
		write(http.MethodPost, endpointPath+"/pause", "endpoint.pause", h.setStatus((*endpoint.Admin).Pause)),
		write(http.MethodPost, endpointPath+"/resume", "endpoint.resume", h.setStatus((*endpoint.Admin).Resume)),
		write(http.MethodPost, endpointPath+"/enable", "endpoint.enable", h.setStatus((*endpoint.Admin).Enable)),
		write(http.MethodPost, endpointPath+"/disable", hook.ActionDisable, h.setStatus((*endpoint.Admin).Disable)),
		write(http.MethodPost, endpointPath+"/circuit/reset", "circuit.reset", begunOn("endpoint", h.endpointStatus((*endpoint.Admin).ResetCircuit))),
		write(http.MethodPost, endpointPath+"/circuit/open", "circuit.open", begunOn("endpoint", h.endpointStatus((*endpoint.Admin).OpenCircuit))),
		write(http.MethodPost, endpointPath+"/circuit/probe", "circuit.probe", begunOn("endpoint", h.endpointStatus((*endpoint.Admin).ProbeNow))),
		read(endpointPath+"/deliveries", h.listDeliveries(stateParam)),
		read(endpointPath+"/health", h.getEndpointHealth),
		read(endpointPath+statsPath, h.getStats),
		read(endpointPath+"/decisions", h.listDecisions),
		read(eventsPath, h.listEvents),
		read(eventPath, event(h.getEvent)),
		read(eventPath+"/deliveries", event(h.listEventDeliveries)),
		read(eventPath+"/attempts", event(h.listEventAttempts)),
		read(deliveriesPath, h.listDeliveries(endpointParam, stateParam)),
		read(deliveryPath, delivery(h.getDelivery)),
		read(deadPath, h.listDeadLetters),
		read(tenantPath+statsPath, h.getStats),
		read(tenantPath+"/health", h.getTenantHealth),
		read(tenantPath+"/attention", h.listAttention),
		read(tenantPath+"/egress", h.getEgress),
		read(tenantPath+searchPath, h.search),
		{Route{Method: http.MethodGet, Path: "/v1" + searchPath, Scope: hook.ScopeRead, AllTenants: true}, h.search},
		{Route{Method: http.MethodPost, Path: endpointPath + "/preview", Scope: hook.ScopeRead}, withForm(maxEventBody, h.previewEndpoint)},
		{Route{Method: http.MethodGet, Path: tenantsPath, Scope: hook.ScopeTenantsRead, AllTenants: true}, h.listTenants},
		read(limitsPath, h.getTenantLimits),
		admin(http.MethodPut, limitsPath, limitsActions+"set", withForm(maxBody, h.putTenantLimits)),
		admin(http.MethodDelete, limitsPath, limitsActions+"delete", h.deleteTenantLimits),
		{Route{Method: http.MethodPost, Path: linksPath, Scope: hook.ScopePortalWrite, AllTenants: true, Change: "portal_link.create"}, withOptionalBody(h.createPortalLink)},
		{Route{Method: http.MethodDelete, Path: linksPath + "/{key}", Scope: hook.ScopePortalWrite, AllTenants: true, Change: endLinkAction}, named("key", hook.ParseKeyID, begun(h.endLink))},
		{Route{Method: http.MethodPost, Path: sessionPath, Public: true, Change: "portal_session.open"}, withBody(maxCodeBody, h.openPortalSession)},
		{Route{Method: http.MethodDelete, Path: sessionPath, Own: true, NoPerson: true, Change: "portal_session.end"}, h.endPortalSession},
		admin(http.MethodGet, "/v1/health", "", h.getHealth),
		read("/v1/openapi.json", h.documentWithTypes),
		read(eventTypesPath, h.listEventTypes),
		read(eventTypePath, h.getEventType),
		admin(http.MethodPut, eventTypePath, "event_type.set", withForm(maxBody, h.putEventType)),
		admin(http.MethodDelete, eventTypePath, "event_type.delete", h.deleteEventType),
		admin(http.MethodGet, "/v1"+statsPath, "", h.getPipelineStats),
		admin(http.MethodGet, rejectsPath, "", h.listRejects),
		admin(http.MethodPost, rejectsPath+"/redrive", "rejects.redrive", h.redriveRejects),
		{Route{Method: http.MethodGet, Path: "/v1/caller", Own: true}, h.getCaller},
		{Route{Method: http.MethodPost, Path: keysPath, Scope: hook.ScopeAdmin, AllTenants: true, NoPerson: true, Change: "key.create"}, withForm(maxBody, h.createKey)},
		admin(http.MethodGet, keysPath, "", h.listKeys),
		admin(http.MethodDelete, keysPath+"/{key}", "key.revoke", named("key", hook.ParseKeyID, begun(h.revokeKey))),
		{Route{Method: http.MethodGet, Path: tenantPath + auditPath, Scope: hook.ScopeAudit}, h.listChanges},
		admin(http.MethodGet, "/v1"+auditPath, "", h.listChanges),
	}
}

func docsRoutes(h docs) []route {
	public := func(path string, do action) route {
		return route{Route{Method: http.MethodGet, Path: path, Public: true}, do}
	}
	return []route{
		public("/v1/openapi.yaml", h.document),
		public(docsPath, h.page),
		public(docsPath+"/{file}", h.part),
	}
}
