package stack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Client calls the deployed API. An empty Key sends no Authorization header.
type Client struct {
	Address string // http://127.0.0.1:4566
	Host    string // <api id>.execute-api.localhost:4566
	Key     string
	HTTP    *http.Client
}

// callTimeout bounds one call, including a function's cold start on an
// emulator.
const callTimeout = 30 * time.Second

// Client returns a client with the admin key.
func (s *Stack) Client() *Client {
	return &Client{Address: s.Address, Host: s.Host, Key: s.Key, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
}

// Response is the API's answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request; a nil body sends none.
func (c *Client) Do(ctx context.Context, method, path string, body []byte) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.Address+path, bytes.NewReader(body))
	if err != nil {
		return Response{}, fmt.Errorf("call %s %s: %w", method, path, err)
	}
	req.Host = c.Host
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Response{}, fmt.Errorf("call %s %s: %w", method, path, err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return Response{}, fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return Response{Status: resp.StatusCode, Header: resp.Header, Body: answer}, nil
}
