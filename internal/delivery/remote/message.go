package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// version is the version of messages and answers. During a deployment, two origins may have
// different builds; a Handler refuses versions that it does not know.
const version = 1

// secretVersion is the version of a message with a grant or TLS settings. A build that only knows
// version would ignore them.
const secretVersion = 2

// privateVersion is the version of a message for the private network, with or without secrets. A build
// that only knows the other two would send it over the internet.
const privateVersion = 3

var (
	errVersion = errors.New("the message has another version")
	errAnswer  = errors.New("the answer has no known class")
)

// message is one signed request. The largest message has a batch of 512 KiB of payloads and what
// is around them, about 730 KiB in base64, a URL of 2 KiB, 20 headers of about 1 KiB each and
// credentials of 4 KiB. Lambda takes 6 MB.
type message struct {
	Version int `json:"version"`
	send.Prepared

	Timeout  int64    `json:"timeout_ms"`
	APIHosts []string `json:"api_hosts,omitempty"` // always forbidden
}

// answer is an outcome, or the reason why no request was made.
type answer struct {
	Refused    string            `json:"refused,omitempty"` // no request was made
	Class      string            `json:"class,omitempty"`
	Status     int               `json:"status,omitempty"`
	Error      string            `json:"error,omitempty"`
	URL        string            `json:"url,omitempty"`
	Body       []byte            `json:"body,omitempty"` // at most hook.MaxResponseBody
	RetryAfter int64             `json:"retry_after_ms,omitempty"`
	Stale      bool              `json:"stale,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Sent       map[string]string `json:"sent,omitempty"`     // headers of the request, at most 30 KiB
	Phases     [4]time.Duration  `json:"phases_ns,omitzero"` // in the order of hook.Phases
}

func encodeMessage(p send.Prepared, apiHosts []string) ([]byte, error) {
	m := message{Version: version, Prepared: p, Timeout: p.Timeout.Milliseconds(), APIHosts: apiHosts}
	switch {
	case p.Private != "":
		m.Version = privateVersion
	case p.Grant != nil, p.TLS != (send.TLS{}):
		m.Version = secretVersion
	}
	return json.Marshal(m)
}

func decodeMessage(text []byte) (p send.Prepared, apiHosts []string, err error) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return p, nil, fmt.Errorf("decode message: %w", err)
	}
	if m.Version < version || m.Version > privateVersion || (m.Version == privateVersion) != (m.Private != "") {
		return p, nil, fmt.Errorf("%w: %d, not %d", errVersion, m.Version, privateVersion)
	}
	m.Prepared.Timeout = time.Duration(m.Timeout) * time.Millisecond
	return m.Prepared, m.APIHosts, nil
}

func refusalOf(err error) answer { return answer{Refused: err.Error()} }

func answerOf(o hook.Outcome) answer {
	return answer{
		Class: o.Class.String(), Status: o.Status, Error: o.Error, URL: o.URL, Body: o.Body, RetryAfter: o.RetryAfter.Milliseconds(), Stale: o.Stale, Headers: o.Headers, Sent: o.Sent,
		Phases: [4]time.Duration{o.Phases.DNS, o.Phases.Connect, o.Phases.TLS, o.Phases.FirstByte},
	}
}

// decodeAnswer returns the outcome, without the region and the duration.
func decodeAnswer(text []byte) (hook.Outcome, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return hook.Outcome{}, fmt.Errorf("decode answer: %w", err)
	}
	if a.Refused != "" {
		return hook.Outcome{}, fmt.Errorf("%w: %s", send.ErrNotSent, a.Refused)
	}
	class, err := hook.ParseClass(a.Class)
	if err != nil {
		return hook.Outcome{}, errAnswer
	}
	return hook.Outcome{
		Class: class, Status: a.Status, Error: a.Error, URL: a.URL, Body: a.Body,
		RetryAfter: time.Duration(a.RetryAfter) * time.Millisecond, Stale: a.Stale, Headers: a.Headers, Sent: a.Sent,
		Phases: hook.Phases{DNS: a.Phases[0], Connect: a.Phases[1], TLS: a.Phases[2], FirstByte: a.Phases[3]},
	}, nil
}
