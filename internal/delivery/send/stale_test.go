package send_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

type requestsKey struct{}

// fickle returns a server that answers the first request of each connection, and then behaves as
// second. It counts connections.
func fickle(t *testing.T, second http.HandlerFunc, opened *atomic.Int64) *httptest.Server {
	t.Helper()

	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests, _ := r.Context().Value(requestsKey{}).(*atomic.Int64); requests.Add(1) > 1 {
			second(w, r)
		}
	}, func(server *httptest.Server) {
		server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
			opened.Add(1)
			return context.WithValue(ctx, requestsKey{}, new(atomic.Int64))
		}
		server.StartTLS()
	})
	return server
}

// tries bounds the requests until one is on a kept connection. On a busy machine net/http does not
// keep each connection: it waits 50 ms for the end of a request's write.
const tries = 100

// onKept sends the request to a fickle server until it is not the first one of its connection.
func onKept(t *testing.T, s *send.Sender, r send.Request) (outcome hook.Outcome) {
	t.Helper()

	for range tries {
		if outcome = s.Send(t.Context(), r); outcome.Class != hook.ClassDelivered {
			return outcome
		}
	}
	t.Fatalf("no connection of %d was kept", tries)
	return outcome
}

// A request on a kept connection that the endpoint closes is marked, and sent once. The next one
// asks for a new connection, although the sender may keep others.
func TestSender_Send_marksAStaleConnection(t *testing.T) {
	t.Parallel()

	var opened atomic.Int64
	server := fickle(t, func(w http.ResponseWriter, _ *http.Request) { abort(w) }, &opened)
	s := sender(t, server)
	r := request(t, server.URL)
	same(t, onKept(t, s, r), hook.Outcome{
		Class: hook.ClassReset, Error: "The endpoint closed a kept connection before it answered.", URL: server.URL, Stale: true,
	})
	before := opened.Load()
	if outcome := s.Send(t.Context(), r); outcome.Class != hook.ClassDelivered || opened.Load() != before+1 {
		t.Fatalf("a further request: %+v on connection %d; want delivered on connection %d", outcome, opened.Load(), before+1)
	}
	r.Fresh = true
	for want := before + 2; want <= before+3; want++ {
		if outcome := s.Send(t.Context(), r); outcome.Class != hook.ClassDelivered || opened.Load() != want {
			t.Errorf("a fresh request: %+v on connection %d; want delivered on connection %d", outcome, opened.Load(), want)
		}
	}
}

// No other end of a connection is marked: the endpoint answered a part, or the connection was new.
func TestSender_Send_marksNoOtherReset(t *testing.T) {
	t.Parallel()

	var opened atomic.Int64
	partial := fickle(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("Hijack: %v", err)
			return
		}
		_, _ = buffer.WriteString("HTTP/1.1 2")
		_ = buffer.Flush()
		_ = conn.Close()
	}, &opened)
	s := sender(t, partial)
	if outcome := onKept(t, s, request(t, partial.URL)); outcome.Class != hook.ClassReset || outcome.Stale {
		t.Errorf("an answer that breaks off: %+v; want reset, and no mark", outcome)
	}
	first, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { abort(w) }, nil)
	if outcome := s.Send(t.Context(), request(t, first.URL)); outcome.Class != hook.ClassReset || outcome.Stale {
		t.Errorf("a new connection that breaks: %+v; want reset, and no mark", outcome)
	}
}
