package httpapi

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/drain"
)

// Docs returns the handler of the documentation over the files.
func Docs(files fs.FS, log *slog.Logger) http.Handler {
	return serve(log, recorder{}, 0, docsRoutes(docs{files}))
}

// Pages returns the handler of the pages over the files, with next for all other requests.
func Pages(next http.Handler, files fs.FS, portal names.Portal, signIn names.SignIn) http.Handler {
	return withPages(next, files, portal, signIn)
}

// Bodies returns the types of request bodies by schema name.
func Bodies() map[string]reflect.Type {
	return map[string]reflect.Type{
		"EventRequest":      reflect.TypeFor[eventBody](),
		"BatchRequest":      reflect.TypeFor[batchBody](),
		"EndpointCreate":    reflect.TypeFor[createBody](),
		"EndpointFields":    reflect.TypeFor[endpoint.Fields](),
		"PreviewRequest":    reflect.TypeFor[requestPreviewBody](),
		"RotateRequest":     reflect.TypeFor[rotateBody](),
		"TestRequest":       reflect.TypeFor[testBody](),
		"TenantLimits":      reflect.TypeFor[tenantLimitsBody](),
		"PortalLinkRequest": reflect.TypeFor[portalLinkBody](),
		"PortalCode":        reflect.TypeFor[portalCodeBody](),
		"EventTypeFields":   reflect.TypeFor[eventTypeBody](),
		"KeyCreate":         reflect.TypeFor[apikey.Request](),
		"ReplayRequest":     reflect.TypeFor[replayBody](),
		"DiscardRequest":    reflect.TypeFor[noteBody](),
		"CancelRequest":     reflect.TypeFor[noteBody](),
		"ReplayStart":       reflect.TypeFor[jobBody](),
	}
}

// Views returns the types of responses by schema name.
func Views() map[string]reflect.Type {
	// The payload of an event follows the view, byte for byte.
	type event struct {
		eventView
		Payload any `json:"payload"`
	}
	return map[string]reflect.Type{
		"Accepted":           reflect.TypeFor[acceptedView](),
		"Refused":            reflect.TypeFor[refusedView](),
		"BatchResult":        reflect.TypeFor[allView[any]](),
		"Event":              reflect.TypeFor[event](),
		"EventList":          reflect.TypeFor[listView[listedEventView]](),
		"Caller":             reflect.TypeFor[callerView](),
		"TenantList":         reflect.TypeFor[listView[tenantView]](),
		"Endpoint":           reflect.TypeFor[endpointView](),
		"EndpointDetail":     reflect.TypeFor[statusView](),
		"EndpointWithSecret": reflect.TypeFor[secretView](),
		"EndpointList":       reflect.TypeFor[listView[endpointView]](),
		"DeliveryList":       reflect.TypeFor[listView[deliveryView]](),
		"DeliveryDetail":     reflect.TypeFor[deliveryDetailView](),
		"AttemptList":        reflect.TypeFor[listView[attemptView]](),
		"TenantLimits":       reflect.TypeFor[tenantLimitsBody](),
		"PortalLink":         reflect.TypeFor[portalLinkView](),
		"PortalSession":      reflect.TypeFor[portalSessionView](),
		"EventType":          reflect.TypeFor[eventTypeView](),
		"EventTypeList":      reflect.TypeFor[listView[eventTypeView]](),
		"KeyWithText":        reflect.TypeFor[newKeyView](),
		"RejectList":         reflect.TypeFor[allView[rejectView]](),
		"Redriven":           reflect.TypeFor[reject.Redriven](),
		"KeyList":            reflect.TypeFor[listView[keyView]](),
		"EventReplay":        reflect.TypeFor[allView[any]](),
		"NotReplayed":        reflect.TypeFor[notReplayedView](),
		"Erasure":            reflect.TypeFor[erasureView](),
		"ErasureCounts":      reflect.TypeFor[erasure.Counts](),
		"Replay":             reflect.TypeFor[jobView](),
		"ReplayProgress":     reflect.TypeFor[progressView](),
		"ReplayList":         reflect.TypeFor[listView[jobView]](),
		"ReplayPreview":      reflect.TypeFor[previewView](),
		"DeadLetterAnalysis": reflect.TypeFor[replay.Analysis](),
		"Backlog":            reflect.TypeFor[drain.Forecast](),
		"EndpointHealth":     reflect.TypeFor[status.Health](),
		"TenantHealth":       reflect.TypeFor[tenantHealthView](),
		"AttentionList":      reflect.TypeFor[listView[status.EndpointHarm]](),
		"Stats":              reflect.TypeFor[status.Statistics](),
		"PipelineStats":      reflect.TypeFor[status.PipelineStatistics](),
		"StatsRow":           reflect.TypeFor[status.StatsRow](),
		"DecisionList":       reflect.TypeFor[listView[decisionView]](),
		"Preview":            reflect.TypeFor[preview.Preview](),
		"FoundList":          reflect.TypeFor[allView[search.Found]](),
		"Found":              reflect.TypeFor[search.Found](),
		"Egress":             reflect.TypeFor[egressView](),
		"Health":             reflect.TypeFor[status.Pipeline](),
		"AuditList":          reflect.TypeFor[listView[auditView]](),
		"AuditValues":        reflect.TypeFor[difference](),
		"Problem":            reflect.TypeFor[problem](),
	}
}

// Form returns the type that has the form of the type in a body or a view.
func Form(t reflect.Type) reflect.Type {
	switch t {
	case reflect.TypeFor[hook.Auth]():
		return reflect.TypeFor[authBody]()
	case reflect.TypeFor[hook.Destination]():
		return reflect.TypeFor[map[string]string]()
	case reflect.TypeFor[hook.Material]():
		return reflect.TypeFor[tlsBody]()
	}
	return t
}

// Texts lets the library decode durations and times.
var Texts = json.WithUnmarshalers(json.JoinUnmarshalers(textOf(parseDuration), textOf(parseStamp)))

func textOf[T any](parse func(string) (T, bool)) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *T) (err error) {
		var (
			text string
			ok   bool
		)
		if err = json.UnmarshalDecode(dec, &text); err != nil {
			return err
		}
		if *v, ok = parse(text); !ok {
			return errors.New(text)
		}
		return nil
	})
}

// Unmarshal decodes a body.
func Unmarshal(body []byte, v any) ([]hook.FieldError, error) { return unmarshal(body, v) }
