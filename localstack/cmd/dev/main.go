// Command dev runs Surehook in one process on this machine, with all data in
// memory: the same API and the same deliveries without a deployment, for
// receiver development. All data is lost at the end, on Ctrl-C.
//
// PORT is the API's port, 8080 by default; 0 chooses a free port. KEY is the
// API key, by default a new key. LOG=info prints a line for each request and
// each attempt; by default, only warnings and errors are printed. The settings of the
// portal are the variables of the function manage, such as SUREHOOK_PORTAL_NAME.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"surehook/internal/config"
	"surehook/internal/httpapi"
	"surehook/localstack/dev"
)

// defaultPort is the port without PORT.
const defaultPort = 8080

// grace bounds the wait for attempts under way at the end.
const grace = 2 * time.Second

// garbage is the limit of garbage before a collection, in percent of live
// memory. All data lives in memory, so a collection is long and frees little. A
// developer's machine has enough memory.
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
	log.SetOutput(io.Discard) // net/http writes bytes of receivers to the standard logger
	options, err := read(lookup, out)
	if err != nil {
		return err
	}
	s, err := dev.Start(context.WithoutCancel(ctx), options)
	if err != nil {
		return err //nolint:wrapcheck // the error is complete
	}
	if _, err := fmt.Fprintf(out, introduction, s.URL, s.Key); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	<-ctx.Done()

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := s.Stop(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err //nolint:wrapcheck // the error is complete
	}
	return nil
}

// read reads the options from the environment.
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
	portal, err := config.ForPortal(lookup)
	if err != nil {
		return o, err //nolint:wrapcheck // the error is complete
	}
	o.Portal = httpapi.Portal(portal)
	o.Log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
	return o, nil
}

const introduction = `Surehook runs in this process, until Ctrl-C. It keeps everything in memory: WHEN IT ENDS, IT FORGETS EVERYTHING.
It takes endpoints on loopback and over http. LOG=info shows a line for each request and each attempt.

   API=%s
   KEY=%s
   The console is at $API/console: sign in with the key.

   # an endpoint: what you write, for example on port 3000
   curl -X POST "$API/v1/tenants/acme/endpoints" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
     -d '{"url": "http://127.0.0.1:3000/hooks", "event_types": ["order.*"], "uid": "orders"}'

   # an event
   curl -X POST "$API/v1/tenants/acme/events" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
     -d '{"event_type": "order.paid", "payload": {"order": 4711}}'

   # what came of it (its id is in the answer)
   curl "$API/v1/tenants/acme/events/evt_.../deliveries" -H "Authorization: Bearer $KEY"

`
