package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// publisher posts single events on persistent connections. The publisher shares
// the machine with the measured process, so it writes HTTP requests itself to
// save CPU time.
type publisher struct {
	server    *server
	sink      *sink
	endpoints int
	next      atomic.Int64    // number of the next event
	posted    []time.Duration // by number, since the start of the sink; written before the post

	mu     sync.Mutex
	faults []error
}

// flood posts as fast as possible for the duration. The sink's limit of events
// under way slows the flood down.
func (p *publisher) flood(ctx context.Context, connections int, duration time.Duration) error {
	end := time.Now().Add(duration)
	return p.each(ctx, connections, func() (at time.Time, ok bool) {
		now := time.Now()
		return now, now.Before(end)
	})
}

// pace posts a constant number of events per second for the duration. An event
// counts as posted at its planned time, even if all connections were busy then.
func (p *publisher) pace(ctx context.Context, connections, rate int, duration time.Duration) error {
	start := time.Now()
	var slots atomic.Int64
	return p.each(ctx, connections, func() (at time.Time, ok bool) {
		due := start.Add(time.Duration(slots.Add(1)-1) * time.Second / time.Duration(rate))
		if due.Sub(start) > duration {
			return due, false
		}
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
			return time.Now(), true // a late wake-up is not part of the latency
		}
		return due, true
	})
}

// each posts events on each connection in a loop, whenever turn allows.
func (p *publisher) each(ctx context.Context, connections int, turn func() (at time.Time, ok bool)) error {
	var lines sync.WaitGroup
	for range connections {
		l, err := p.dial(ctx)
		if err != nil {
			return err
		}
		lines.Go(func() {
			defer l.conn.Close() //nolint:errcheck // no request is under way
			for ctx.Err() == nil {
				select {
				case p.sink.room <- struct{}{}:
				case <-ctx.Done():
					return
				}
				at, ok := turn()
				n := int(p.next.Add(1) - 1)
				if !ok || n >= len(p.posted) {
					<-p.sink.room
					return
				}
				p.posted[n] = at.Sub(p.sink.started)
				if err := l.post(n%p.endpoints, n); err != nil {
					p.mu.Lock()
					p.faults = append(p.faults, err)
					p.mu.Unlock()
					<-p.sink.room
					return
				}
			}
		})
	}
	lines.Wait()
	if len(p.faults) > 0 {
		return fmt.Errorf("post events: %w", p.faults[0])
	}
	return nil
}

// line is a connection to the API.
type line struct {
	conn    net.Conn
	answers *bufio.Reader
	key     string
	host    string
	request []byte
}

func (p *publisher) dial(ctx context.Context) (*line, error) {
	host := strings.TrimPrefix(p.server.URL, "http://")
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("connect to the API: %w", err)
	}
	return &line{conn: conn, answers: bufio.NewReader(conn), key: p.server.Key, host: host}, nil
}

// post posts event n for the tenant and reads the answer.
func (l *line) post(tenant, n int) error {
	body := eventOf(n)
	l.request = fmt.Appendf(l.request[:0], "POST /v1/tenants/%s/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", tenantOf(tenant), l.host, l.key, len(body), body)
	if _, err := l.conn.Write(l.request); err != nil {
		return fmt.Errorf("post event %d: %w", n, err)
	}
	if err := l.accepted(); err != nil {
		return fmt.Errorf("post event %d: %w", n, err)
	}
	return nil
}

var errAnswer = errors.New("the answer is not 202 with a Content-Length")

// accepted reads an answer of 202. As post, accepted saves CPU time.
func (l *line) accepted() error {
	const length = "Content-Length: "
	status, size := "", -1
	for {
		text, err := l.answers.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		switch line := string(bytes.TrimSpace(text)); {
		case status == "":
			status = line
		case strings.HasPrefix(line, length):
			if size, err = strconv.Atoi(line[len(length):]); err != nil {
				return fmt.Errorf("read the answer: %w", err)
			}
		case line == "" && (!strings.HasPrefix(status, "HTTP/1.1 202 ") || size < 0):
			return fmt.Errorf("%w: %s", errAnswer, status)
		case line == "":
			if _, err := l.answers.Discard(size); err != nil {
				return fmt.Errorf("read the answer: %w", err)
			}
			return nil
		}
	}
}

func tenantOf(endpoint int) string { return fmt.Sprintf("load-%d", endpoint) }

func eventOf(n int) []byte {
	return fmt.Appendf(nil, `{"event_type":"load.made","payload":%s}`, payloadOf(n))
}
