package httpapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
