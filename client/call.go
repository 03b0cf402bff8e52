package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Call is one request with JSON as text. Use it to show answers to a person, because the text has
// all fields of the API, even those of later versions. Other programs should use the operations,
// which have types.
type Call struct {
	Method string
	Path   string // of the contract, with the parameters filled; see Path
	Query  url.Values
	Header http.Header
	Body   json.RawMessage // nil for none
}

// Path fills the parameters of a path of the contract, such as {tenant}, and escapes the
// values.
func Path(path string, values map[string]string) string {
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	return path
}

// Call sends the request and returns the body of the answer, which is empty for a 204. Like an
// operation, it may repeat the request.
func (c *Client) Call(ctx context.Context, call Call) (json.RawMessage, error) {
	address := *c.address
	address.RawPath = c.address.EscapedPath() + call.Path
	var err error
	if address.Path, err = url.PathUnescape(address.RawPath); err != nil {
		return nil, fmt.Errorf("make the path %s: %w", call.Path, err)
	}
	address.RawQuery = call.Query.Encode()
	r, err := http.NewRequestWithContext(ctx, call.Method, address.String(), bytes.NewReader(call.Body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if call.Header != nil {
		r.Header = call.Header.Clone()
	}
	if call.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if err := c.edit(ctx, r); err != nil {
		return nil, err
	}
	answer, err := c.doer.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return text, nil
}
