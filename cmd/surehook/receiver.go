package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"surehook.example/surehook/localstack/webhook"
)

// maxBody bounds a received body: a payload has 256 KiB at most.
const maxBody = 1 << 20

// receiver is the server of listen.
type receiver struct {
	*program
	listening

	verifier *verifier // nil for no verification
	json     bool
	enough   func() // ends the command

	mu       sync.Mutex
	received int
}

// reception is a received request, as --output json prints it.
type reception struct {
	At       time.Time       `json:"at"`
	Verified *bool           `json:"verified"` // null without a secret
	Error    string          `json:"error,omitempty"`
	ID       string          `json:"id"`
	Type     string          `json:"event_type"`
	Attempt  string          `json:"attempt"`
	Path     string          `json:"path"`
	Header   http.Header     `json:"headers"`
	Body     json.RawMessage `json:"body,omitempty"` // a JSON body
	Text     string          `json:"text,omitempty"` // another body
	Answer   int             `json:"answer"`
}

// ServeHTTP verifies, forwards, prints and answers one request. It answers a challenge, and does
// not print it.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	got := reception{
		At: r.Now().UTC().Truncate(time.Millisecond), Path: req.URL.Path, Header: req.Header,
		ID:   cmp.Or(req.Header.Get("Webhook-Id"), req.Header.Get("X-Webhook-Id")),
		Type: req.Header.Get("X-Webhook-Event"), Attempt: req.Header.Get("X-Webhook-Attempt"),
	}
	if json.Valid(body) {
		got.Body = body
	} else {
		got.Text = string(body)
	}
	if r.verifier != nil {
		err := r.verifier.check(body, req.Header, false)
		valid := err == nil
		got.Verified = &valid
		if err != nil {
			got.Error = err.Error()
		}
	}
	if answer := webhook.Challenge(req.Header, body); answer != nil && (got.Verified == nil || *got.Verified) {
		_, _ = w.Write(answer) //nolint:gosec // JSON with one text; fails when the sender disconnected
		return
	}
	if r.delay > 0 && sleep(req.Context(), r.delay) != nil {
		return // the sender disconnected
	}
	number := r.next()
	answer, text := r.answer(req.Context(), req, body, &got, number)
	got.Answer = answer
	r.print(got, body)
	w.WriteHeader(answer)
	_, _ = w.Write(text) //nolint:gosec // the answer of the user's own program, for a program; fails when the sender disconnected
	if r.count > 0 && number+1 >= r.count {
		r.enough() // the server still finishes this answer
	}
}

// next counts the request from zero.
func (r *receiver) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received++
	return r.received - 1
}

// answer decides the answer of the request with the number.
func (r *receiver) answer(ctx context.Context, req *http.Request, body []byte, got *reception, number int) (status int, text []byte) {
	if got.Verified != nil && !*got.Verified {
		return http.StatusUnauthorized, nil
	}
	if r.forward == "" {
		return r.answers[min(number, len(r.answers)-1)], nil
	}
	status, text, err := r.pass(ctx, req, body)
	if err != nil {
		got.Error = "forward: " + err.Error()
		return http.StatusBadGateway, nil
	}
	return status, text
}

// pass sends the request on, byte for byte, so that the next receiver can verify
// the request too.
func (r *receiver) pass(ctx context.Context, req *http.Request, body []byte) (status int, text []byte, err error) {
	on, err := http.NewRequestWithContext(ctx, req.Method, r.forward, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("make the request: %w", err)
	}
	on.Header = req.Header.Clone()
	for _, name := range []string{"Connection", "Transfer-Encoding", "Accept-Encoding"} {
		on.Header.Del(name) // of this connection
	}
	response, err := r.HTTP.Do(on) //nolint:gosec // the user names the address
	if err != nil {
		return 0, nil, fmt.Errorf("send the request: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // the body was read
	text, err = io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	return response.StatusCode, text, nil
}

// print writes the request as a line of JSON, or as two lines for a person.
func (r *receiver) print(got reception, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.json {
		line, _ := json.Marshal(got)                    //nolint:errchkjson // the time is of this year
		_, _ = r.Out.Write(append(escaped(line), '\n')) // fails when standard output is gone
		return
	}
	verdict := "unverified"
	switch {
	case got.Verified != nil && *got.Verified:
		verdict = "verified"
	case got.Verified != nil:
		verdict = "WRONG SIGNATURE"
	}
	line := fmt.Sprintf("%s  %s  %s  %s  attempt %s  answered %d", got.At.Format("15:04:05.000"), verdict, got.Type, got.ID, cmp.Or(got.Attempt, "-"), got.Answer)
	if got.Error != "" {
		line += "\n  " + got.Error
	}
	fmt.Fprintf(r.Out, "%s\n  %s\n", printable(line), strings.ReplaceAll(printable(string(body)), "\n", "\n  "))
}
