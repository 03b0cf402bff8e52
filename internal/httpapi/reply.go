package httpapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reply is what is answered: a body that becomes JSON, or none.
type reply struct {
	status int
	body   any
	header http.Header
	raw    []byte // body as JSON
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

// with sets a header of the answer.
func (a reply) with(name, value string) reply {
	if a.header == nil {
		a.header = make(http.Header)
	}
	a.header.Set(name, value)
	return a
}

// versioned tells the version of what is answered, for a later If-Match.
func (a reply) versioned(version int64) reply {
	return a.with("ETag", strconv.Quote(strconv.FormatInt(version, 10)))
}

// encode makes raw of body, unless it is there already. What endpoints answered
// may be no UTF-8; what is not becomes U+FFFD.
func (a *reply) encode() error {
	if a.body == nil || a.raw != nil {
		return nil
	}
	raw, err := json.Marshal(a.body, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	a.raw = raw
	return nil
}

func (a *reply) write(w http.ResponseWriter) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store") // some answers hold secrets
	}
	header.Set("X-Content-Type-Options", "nosniff") // some hold what strangers wrote
	if a.raw != nil && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.raw) // the client is gone; nothing is left to tell it
}
