// Command dev runs Surehook in one process on this machine, over memory: the
// same API and the same deliveries, at once, for writing receivers against. It
// forgets everything when it ends, with Ctrl-C.
//
// PORT is where it listens, 8080 if it is not set; 0 chooses a free port. KEY is
// the API key, a fresh one if it is not set. LOG=info prints a line for each
// request and each attempt; otherwise only what went wrong is printed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"surehook/localstack/dev"
)

// defaultPort is where it listens if nobody says.
const defaultPort = 8080

// grace is how long attempts that are under way may take to end.
const grace = 2 * time.Second

// garbage is how much memory may be garbage before it is collected, in percent of
// what is used. Everything is kept in memory here, so that a collection is long
// and finds little; memory is what a developer's machine has.
const garbage = 400

func main() {
	debug.SetGCPercent(garbage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.LookupEnv, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

// run runs Surehook until ctx ends.
func run(ctx context.Context, lookup func(string) (string, bool), out io.Writer) error {
	options, err := read(lookup, out)
	if err != nil {
		return err
	}
	s, err := dev.Start(context.WithoutCancel(ctx), options)
	if err != nil {
		return err //nolint:wrapcheck // it names itself
	}
	if _, err := fmt.Fprintf(out, introduction, s.URL, s.Key); err != nil {
		return fmt.Errorf("say where it is: %w", err)
	}
	<-ctx.Done()

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := s.Stop(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err //nolint:wrapcheck // it names itself
	}
	return nil
}

// read reads what the environment says.
func read(lookup func(string) (string, bool), out io.Writer) (dev.Options, error) {
	o := dev.Options{Port: defaultPort}
	if text, ok := lookup("PORT"); ok && text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return o, fmt.Errorf("PORT is %q, not a port from 0 to 65535", text)
		}
		o.Port = int(port)
	}
	o.Key, _ = lookup("KEY")
	level := slog.LevelWarn
	if text, ok := lookup("LOG"); ok && text != "" {
		if err := level.UnmarshalText([]byte(text)); err != nil {
			return o, fmt.Errorf("LOG is %q, not debug, info, warn or error", text)
		}
	}
	o.Log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
	return o, nil
}

const introduction = `Surehook runs in this process, until Ctrl-C. It keeps everything in memory: WHEN IT ENDS, IT FORGETS EVERYTHING.
It takes endpoints on loopback and over http. LOG=info shows a line for each request and each attempt.

   API=%s
   KEY=%s

   # an endpoint: what you write, for example on port 3000
   curl -X POST "$API/v1/tenants/acme/endpoints" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
     -d '{"url": "http://127.0.0.1:3000/hooks", "event_types": ["order.*"], "uid": "orders"}'

   # an event
   curl -X POST "$API/v1/tenants/acme/events" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
     -d '{"type": "order.paid", "payload": {"order": 4711}}'

   # what came of it (its id is in the answer)
   curl "$API/v1/tenants/acme/events/evt_.../deliveries" -H "Authorization: Bearer $KEY"

`
