// Package flaky is an API in trouble, for the tests of the clients.
package flaky

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

// Faults is the number of requests that fail before one passes.
const Faults = 5

// New returns a handler before the API. Of each six requests it resets the connection of the first,
// throttles the second, passes the third and answers 503, passes the fourth and cuts the answer off,
// lets the fifth wait until the caller gives up, and passes the sixth.
func New(api *url.URL) http.Handler {
	through := httputil.NewSingleHostReverseProxy(api)
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch (n.Add(1) - 1) % (Faults + 1) {
		case 0:
			panic(http.ErrAbortHandler)
		case 1:
			gateway(w, http.StatusTooManyRequests, `{"message":"Too Many Requests"}`)
		case 2:
			through.ServeHTTP(httptest.NewRecorder(), r)
			gateway(w, http.StatusServiceUnavailable, `{"message":"Service Unavailable"}`)
		case 3:
			through.ServeHTTP(httptest.NewRecorder(), r)
			w.Header().Set("Content-Length", "100")
			gateway(w, http.StatusOK, `{"id":"evt_`)
			panic(http.ErrAbortHandler)
		case 4:
			_, _ = io.Copy(io.Discard, r.Body) // net/http sees the end of a connection only behind the body
			<-r.Context().Done()
		default:
			through.ServeHTTP(w, r)
		}
	})
}

// gateway answers as API Gateway does.
func gateway(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // fails when the caller disconnected
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
