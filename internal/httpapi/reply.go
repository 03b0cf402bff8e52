package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/hook"
)

// reply is a response: a JSON body, or no body.
type reply struct {
	status int
	body   any
	header http.Header
	raw    []byte // body as JSON
	code   string // of a problem
	logged bool   // the log line of the action stands for that of the request
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

// answer returns the response with a read model, or the error of reading it.
func answer(model any, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return ok(model), nil
}

// shown returns the response with the view of a record, or the error of reading it.
func shown[T, V any](view func(T) V) func(T, error) (reply, error) {
	return func(record T, err error) (reply, error) {
		if err != nil {
			return reply{}, err
		}
		return ok(view(record)), nil
	}
}

// with sets a header of the response.
func (a reply) with(name, value string) reply {
	if a.header == nil {
		a.header = make(http.Header)
	}
	a.header.Set(name, value)
	return a
}

// versioned sets the ETag to the version, for use in a later If-Match.
func (a reply) versioned(version int64) reply {
	return a.with("ETag", strconv.Quote(strconv.FormatInt(version, 10)))
}

// encode sets raw to the JSON of body, unless raw is set.
func (a *reply) encode() error {
	if a.body == nil || a.raw != nil {
		return nil
	}
	raw, err := marshal(a.body)
	a.raw = raw
	return err
}

// marshal returns the JSON of a response or of a part of one. What endpoints respond may contain
// invalid UTF-8, which is replaced by U+FFFD.
func marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v, written, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encode response: %w", err)
	}
	return raw, nil
}

func (a *reply) write(w http.ResponseWriter) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store") // some responses hold secrets
	}
	header.Set("X-Content-Type-Options", "nosniff") // some responses hold text of third parties
	if a.raw != nil && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.raw) // fails if the client is gone
}

// retryAfter is the Retry-After of 429 and 503 responses without a known wait.
const retryAfter = 5 * time.Second

// problem is the error response: a problem document of RFC 9457. The type is
// about:blank, so the title is the text of the status. Code identifies the problem.
type problem struct {
	Type   string            `json:"type"`
	Title  string            `json:"title"`
	Status int               `json:"status"`
	Code   string            `json:"code"`
	Detail string            `json:"detail"`
	Errors []hook.FieldError `json:"errors,omitempty"`
}

// problemOf returns the problem for the caller: the message and the fields of an error with a
// code, or a constant text for an internal error.
func problemOf(err error) problem {
	known, ok := errors.AsType[*hook.Error](err)
	if !ok || known.Code == hook.CodeInternal {
		return newProblem(http.StatusInternalServerError, hook.CodeInternal.String(), "something went wrong on our side")
	}
	p := newProblem(statusOf(known.Code), known.Code.String(), known.Message)
	p.Errors = slices.Clone(known.Fields)
	// Checks that loop over maps find fields in random order. Sorting makes the response
	// deterministic.
	slices.SortStableFunc(p.Errors, func(a, b hook.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	p.Errors = p.Errors[:min(len(p.Errors), maxWrong)]
	return p
}

func newProblem(status int, code, detail string) problem {
	return problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

func statusOf(c hook.Code) int {
	switch c {
	case hook.CodeInvalid:
		return http.StatusBadRequest
	case hook.CodeMismatch, hook.CodeUnverified:
		return http.StatusUnprocessableEntity
	case hook.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case hook.CodeUnsupported:
		return http.StatusUnsupportedMediaType
	case hook.CodeUnauthorized:
		return http.StatusUnauthorized
	case hook.CodeForbidden, hook.CodeLoop:
		return http.StatusForbidden
	case hook.CodeNotFound:
		return http.StatusNotFound
	case hook.CodeConflict, hook.CodeInProgress, hook.CodeReplayed, hook.CodeTenantClosing:
		return http.StatusConflict
	case hook.CodeStale:
		return http.StatusPreconditionFailed
	case hook.CodeThrottled:
		return http.StatusTooManyRequests
	case hook.CodeUnavailable:
		return http.StatusServiceUnavailable
	case hook.CodeInternal:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// reply returns the response with the problem p of err.
func (p problem) reply(err error) reply {
	a := reply{status: p.Status, body: p, code: p.Code}.with("Content-Type", "application/problem+json")
	switch p.Status {
	case http.StatusUnauthorized:
		a = a.with("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		a = a.with("Retry-After", retryAfterOf(err))
	}
	_ = a.encode() // strings and numbers encode without an error
	return a
}

// retryAfterOf returns the Retry-After for err: whole seconds, rounded up.
func retryAfterOf(err error) string {
	wait := retryAfter
	if known, ok := errors.AsType[*hook.Error](err); ok && known.RetryAfter > 0 {
		wait = known.RetryAfter
	}
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// viewOf returns the view of a stored record: a view lists what callers see, and each of its fields is
// that of the record with the same name and form. A pointer that the view may omit is nil for zero. The
// caller sets the others. Views do not contain records, so a new field of a record stays hidden until a
// view names it.
func viewOf[V, R any](record R) V {
	var view V
	fill(reflect.ValueOf(&view).Elem(), reflect.ValueOf(record))
	return view
}

// each returns the views of a list.
func each[R, V any](records []R, view func(R) V) []V {
	views := make([]V, len(records))
	for i, r := range records {
		views[i] = view(r)
	}
	return views
}

// fill sets the fields of a view, and of the structs embedded in it.
func fill(view, record reflect.Value) {
	for i := range view.NumField() {
		field, of := view.Field(i), view.Type().Field(i)
		value := record.FieldByName(of.Name)
		switch {
		case of.Anonymous:
			fill(field, record)
		case !value.IsValid():
		case field.Kind() == reflect.Struct && !value.CanConvert(field.Type()):
			fill(field, value)
		case sameForm(field.Type(), value):
			field.Set(value.Convert(field.Type()))
		case field.Kind() == reflect.Pointer && value.IsZero() && strings.HasSuffix(of.Tag.Get("json"), ",omitzero"):
		case field.Kind() == reflect.Pointer && sameForm(field.Type().Elem(), value):
			field.Set(reflect.New(field.Type().Elem()))
			field.Elem().Set(value.Convert(field.Type().Elem()))
		}
	}
}

func sameForm(t reflect.Type, v reflect.Value) bool { return t.Kind() == v.Kind() && v.CanConvert(t) }
