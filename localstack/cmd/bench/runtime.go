package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// runtimeAPI is the source of work of one function at a time, as Lambda's own.
type runtimeAPI struct {
	address string
	server  *http.Server
	asked   chan time.Time // the first request for work
	work    chan []byte    // events
	done    chan []byte    // responses
	failed  chan []byte    // errors of the function, as JSON
}

func startRuntime(ctx context.Context) (*runtimeAPI, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a runtime API: %w", err)
	}
	a := &runtimeAPI{
		address: l.Addr().String(), asked: make(chan time.Time, 1),
		work: make(chan []byte), done: make(chan []byte, 1), failed: make(chan []byte, 1),
	}
	a.server = &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
	go func() { _ = a.server.Serve(l) }() // Serve ends with the program
	return a, nil
}

// ServeHTTP answers a request for work when there is work, and takes responses.
func (a *runtimeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch body, _ := io.ReadAll(r.Body); { // a short body is a response that the caller cannot read
	case strings.HasSuffix(r.URL.Path, "/response"):
		a.done <- body
		w.WriteHeader(http.StatusAccepted)
	case strings.HasSuffix(r.URL.Path, "/error"):
		a.failed <- body
		w.WriteHeader(http.StatusAccepted)
	default:
		select {
		case a.asked <- time.Now():
		default:
		}
		select {
		case event := <-a.work:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:123456789012:function:bench")
			w.Header().Set("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(invocation).UnixMilli(), 10))
			_, _ = w.Write(event) // the function sees a short event
		case <-r.Context().Done():
		}
	}
}

// invocation bounds one invocation.
const invocation = 29 * time.Second

// invoke returns the function's response to an event.
func (a *runtimeAPI) invoke(ctx context.Context, event []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, invocation)
	defer cancel()
	select {
	case a.work <- event:
	case <-ctx.Done():
		return nil, fmt.Errorf("invoke: the function does not ask for work: %w", context.Cause(ctx))
	}
	select {
	case response := <-a.done:
		return response, nil
	case text := <-a.failed:
		return nil, fmt.Errorf("invoke: the function failed: %s", text)
	case <-ctx.Done():
		return nil, fmt.Errorf("invoke: %w", context.Cause(ctx))
	}
}
