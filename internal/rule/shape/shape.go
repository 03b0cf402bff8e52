package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Content is the part of a request that comes from an event.
type Content struct {
	Body        []byte
	ContentType string
	Headers     map[string]string // set by a transformation, in addition to the endpoint's own; nil for none
	Version     string            // of the shape: the name of an envelope, or "cel-" and the hash of the expression
}

// JSON is the content type of every body, unless a transformation names another.
const JSON = "application/json"

// Shaper shapes events. A Shaper is safe for concurrent use.
type Shaper struct {
	PublicURL string // of the API, where the receiver of a thin envelope fetches the event; empty: none

	expressions  expressions
	small, large places // for evaluations of smallSteps, and of maxSteps
}

// ErrStopped means that the caller did not wait for the content.
var ErrStopped = errors.New("stopped before the content was known")

// Shape returns the content for a request of the endpoint about the event, or ErrStopped soon after
// done is closed; nil is never closed. Any other error is an *Error: the transformation cannot
// shape the event, ErrText or ErrUnnamed.
func (s *Shaper) Shape(done <-chan struct{}, e *hook.Endpoint, event *hook.Event) (Content, error) {
	if event.ID.MustBeNamed() && !NamesType(e) {
		return Content{}, &Error{Problem: ErrUnnamed, Version: Version(e)}
	}
	var text bool // of a transformation: nobody has checked that it is JSON, whatever its first character
	c := Content{ContentType: JSON, Version: Version(e)}
	if e.Transformation != "" {
		var err error
		if c, text, err = s.transform(done, e.Transformation, event); err != nil {
			return Content{}, err
		}
		if most := share(event); len(c.Body) > most {
			return Content{}, &Error{Version: c.Version, Problem: fmt.Sprintf("the body has %d bytes; of an event to %d endpoints it may have %d", len(c.Body), len(event.Targets), most)}
		}
	} else {
		c.Body = s.enveloped(e.Envelope, event)
	}
	if (text || !structured(c.Body)) && slices.ContainsFunc(e.Profiles, func(p hook.SignatureProfile) bool { return !p.SignsText() }) {
		return Content{}, &Error{Problem: ErrText, Version: c.Version}
	}
	return c, nil
}

// ErrText is the problem of a body that the endpoint's signature profiles do not sign, see
// [hook.SignatureProfile.SignsText].
const ErrText = "the body is neither a JSON object nor a list: only the signature profiles standard and svix sign that"

// ErrUnnamed is the problem of a test event that an endpoint may not get, see [hook.EventID.MustBeNamed].
const ErrUnnamed = "the author of this test event may not post events, and the body would not say that it is a test"

// structured reports whether the JSON is an object or a list.
func structured(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// Version returns the version of the endpoint's shape.
func Version(e *hook.Endpoint) string {
	if e.Transformation != "" {
		return versionOf(e.Transformation)
	}
	return e.Envelope.String()
}

// Time is the format of times in bodies: RFC 3339 in UTC with milliseconds, as in the API.
const Time = "2006-01-02T15:04:05.000Z"

// room is enough for an envelope without the payload, in bytes.
const room = 256

// enveloped returns the envelope with the payload in it, byte for byte.
func (s *Shaper) enveloped(envelope hook.Envelope, event *hook.Event) []byte {
	switch envelope {
	case hook.EnvelopeStandard:
		text := fmt.Appendf(make([]byte, 0, len(event.Payload)+room), `{"type":%q,"timestamp":%q`, event.Type, stamp(event.AcceptedAt))
		text = append(appendOrdering(text, event), `,"data":`...)
		return append(append(text, event.Payload...), '}')
	case hook.EnvelopeThin:
		text := fmt.Appendf(nil, `{"type":%q,"timestamp":%q,"id":%q`, event.Type, stamp(event.AcceptedAt), event.ID)
		if s.PublicURL != "" {
			text = fmt.Appendf(text, `,"url":"%s/v1/tenants/%s/events/%s"`, s.PublicURL, url.PathEscape(string(event.Tenant)), event.ID)
		}
		return append(appendOrdering(text, event), '}')
	case hook.EnvelopeRaw:
	}
	return event.Payload
}

func appendOrdering(text []byte, event *hook.Event) []byte {
	if event.Ordering == nil {
		return text
	}
	ordering, _ := json.Marshal(event.Ordering) //nolint:errchkjson // strings and numbers only: no error
	return append(append(text, `,"ordering":`...), ordering...)
}

func stamp(t time.Time) string { return t.UTC().Format(Time) }
