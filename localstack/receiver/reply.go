package receiver

import (
	"context"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Reply is the answer to one request. Make a Reply with Status, Answer, JSON,
// RetryAfter, Redirect, Hang, Until, Reset or Raw.
type Reply struct {
	status int
	header map[string]string
	wait   time.Duration
	until  <-chan struct{}
	body   string
	reset  bool
	raw    string
}

// Status answers with the status and its text as the body.
func Status(code int) Reply {
	return Reply{status: code, body: http.StatusText(code) + "\n"}
}

// Answer answers with the status and a custom body.
func Answer(code int, body string) Reply {
	return Reply{status: code, body: body}
}

// JSON answers with the status and a JSON text as the body.
func JSON(code int, body string) Reply {
	return Answer(code, body).with("Content-Type", "application/json")
}

// RetryAfter answers with the status and a Retry-After header.
func RetryAfter(code int, wait time.Duration) Reply {
	return Status(code).with("Retry-After", strconv.Itoa(int(wait/time.Second)))
}

// Redirect answers with the status and a Location header, a URL or path.
func Redirect(code int, location string) Reply {
	return Status(code).with("Location", location)
}

// Hang waits before a 200, or until the sender disconnects.
func Hang(wait time.Duration) Reply {
	r := Status(http.StatusOK)
	r.wait = wait
	return r
}

// Until waits for the end of done before a 200, or until the sender disconnects.
func Until(done <-chan struct{}) Reply {
	r := Status(http.StatusOK)
	r.until = done
	return r
}

// Reset resets the connection without an answer.
func Reset() Reply {
	return Reply{reset: true}
}

// Raw writes the bytes to the connection, in place of an HTTP response, and closes the
// connection.
func Raw(bytes string) Reply {
	return Reply{raw: bytes}
}

// String returns the status with its name, such as "503 Service Unavailable".
func (r Reply) String() string {
	if r.reset {
		return "a connection that is reset"
	}
	if r.raw != "" {
		return "raw bytes"
	}
	return strconv.Itoa(r.status) + " " + http.StatusText(r.status)
}

func (r Reply) with(name, value string) Reply {
	header := maps.Clone(r.header)
	if header == nil {
		header = map[string]string{}
	}
	header[name] = value
	r.header = header
	return r
}

// hold waits until the answer begins, or until the sender disconnects.
func (r Reply) hold(ctx context.Context) {
	if r.until != nil {
		select {
		case <-r.until:
		case <-ctx.Done():
		}
	}
	if r.wait == 0 {
		return
	}
	timer := time.NewTimer(r.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// write answers and returns the status, or 0 without an answer.
func (r Reply) write(ctx context.Context, w http.ResponseWriter) (status int) {
	if r.reset {
		reset(w)
		return 0
	}
	if r.raw != "" {
		writeRaw(w, r.raw)
		return 0
	}
	if ctx.Err() != nil {
		return 0
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(r.status)
	_, _ = w.Write([]byte(r.body)) // the sender may have disconnected
	return r.status
}

func writeRaw(w http.ResponseWriter, bytes string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection at least
	}
	_, _ = conn.Write([]byte(bytes)) // the sender may have disconnected
	_ = conn.Close()
}

// reset closes the connection with unread data. Without lingering, TCP then
// sends a reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection at least
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the connection closes even after an error
	}
	_ = conn.Close()
}

// script hands out replies in order and repeats the last reply.
type script struct {
	replies []Reply
	used    int
}

func (s *script) next() Reply {
	if len(s.replies) == 0 {
		return Status(http.StatusOK)
	}
	reply := s.replies[min(s.used, len(s.replies)-1)]
	s.used++
	return reply
}
