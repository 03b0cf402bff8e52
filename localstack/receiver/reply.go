package receiver

import (
	"context"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Reply is how one request is answered. Make one with Status, Answer,
// RetryAfter, Redirect, Hang or Reset.
type Reply struct {
	status int
	header map[string]string
	wait   time.Duration
	body   string
	reset  bool
}

// Status answers with the status and its text as the body.
func Status(code int) Reply {
	return Reply{status: code, body: http.StatusText(code) + "\n"}
}

// Answer answers with the status and a body of its own.
func Answer(code int, body string) Reply {
	return Reply{status: code, body: body}
}

// RetryAfter answers with the status and asks the sender to wait.
func RetryAfter(code int, wait time.Duration) Reply {
	return Status(code).with("Retry-After", strconv.Itoa(int(wait/time.Second)))
}

// Redirect answers with the status and sends the sender to another URL or path.
func Redirect(code int, location string) Reply {
	return Status(code).with("Location", location)
}

// Hang waits before it answers 200, or until the sender goes away.
func Hang(wait time.Duration) Reply {
	r := Status(http.StatusOK)
	r.wait = wait
	return r
}

// Reset answers nothing and resets the connection.
func Reset() Reply {
	return Reply{reset: true}
}

// String returns the status with its name, such as "503 Service Unavailable".
func (r Reply) String() string {
	if r.reset {
		return "a connection that is reset"
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

// write answers and returns the status, 0 if there was no answer.
func (r Reply) write(ctx context.Context, w http.ResponseWriter) (status int) {
	if r.reset {
		reset(w)
		return 0
	}
	if r.wait > 0 {
		timer := time.NewTimer(r.wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return 0
		}
	}
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(r.status)
	_, _ = w.Write([]byte(r.body)) // the sender may be gone
	return r.status
}

// reset closes the connection with what was sent over it unread: without
// lingering, TCP says so with a reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes it at least
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // on failure it is closed all the same
	}
	_ = conn.Close()
}

// script hands out replies in order and repeats the last.
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
