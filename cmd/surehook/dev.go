package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/localstack/dev"
)

const (
	devPort = 8080
	// devGrace limits how long dev waits at its end for attempts in flight.
	devGrace = 2 * time.Second
	// longestHistory is the span that statistics cover.
	longestHistory = 7 * 24 * time.Hour
	// leastKept deliveries are those of some minutes by hand.
	leastKept = 1000
)

const devText = `Surehook runs in this process, until Ctrl-C. It keeps everything in memory: WHEN IT ENDS, IT FORGETS EVERYTHING.
It keeps the last %[4]d deliveries, with their events and attempts (--keep).
It takes endpoints on loopback and over http. --log info shows a line for each request and each attempt.

   API=%[1]s
   KEY=%[2]s
   %[3]s
   The API is described at %[1]s/docs.
   The events queue is %[1]s%[5]s, for clients of SQS with AWS_ENDPOINT_URL_SQS=%[1]s.

   # in another terminal
   export SUREHOOK_URL=%[1]s SUREHOOK_API_KEY=%[2]s SUREHOOK_TENANT=acme

   surehook listen --subscribe 'order.*'           # a receiver, here on this machine
   surehook send order.paid '{"order": 4711}'      # an event
   surehook deliveries list                        # what came of it

`

// devGreeting returns what dev prints when it starts.
func devGreeting(url, key string, keep int, console bool) string {
	pages := "The console is at " + url + "/console: sign in with the key."
	if !console {
		pages = "This build has no console and no portal: `make dev` builds them, with Node.js."
	}
	return fmt.Sprintf(devText, url, key, pages, keep, dev.EventsQueue)
}

func (p *program) dev() *cobra.Command {
	var port uint16
	var level string
	var history time.Duration
	var keep int
	c := &cobra.Command{
		Use: "dev", Short: "Run Surehook in one process, in memory", Args: arguments,
		Long: "Run the same API and the same deliveries without a deployment, for the development of receivers.\n" +
			"All data is lost at the end, on Ctrl-C. The key is " + envKey + ", or the key of --key-file, or a new key.\n" +
			"The settings of the portal, of the sign-in of people and of the proof of endpoints are the variables of the function\n" +
			"manage, such as SUREHOOK_PORTAL_NAME, SUREHOOK_OIDC_ISSUER and SUREHOOK_OWNERSHIP=challenge.",
	}
	c.Flags().Uint16Var(&port, "port", devPort, "port on loopback; 0 chooses a free port")
	c.Flags().IntVar(&keep, "keep", dev.Keep, fmt.Sprintf("deliveries to keep, %d or more; each takes about 10 KB of memory", leastKept))
	c.Flags().StringVar(&level, "log", "warn", "least level of the log: debug, info, warn or error")
	c.Flags().DurationVar(&history, "history", 0, "begin with a past to look at, such as 30h: three tenants with good and bad hours")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if history < 0 || history > longestHistory {
			return usagef("--history is %s: say 0 to %s", history, longestHistory)
		}
		if keep < leastKept {
			return usagef("--keep is %d: say %d or more", keep, leastKept)
		}
		o := dev.Options{Port: int(port), History: history, Keep: keep}
		var least slog.Level
		if err := least.UnmarshalText([]byte(level)); err != nil {
			return usagef("--log is %q: say debug, info, warn or error", level)
		}
		cfg, ignored, err := config.Read("dev", p.Lookup)
		if err = errors.Join(append(ignored, err)...); err != nil { // a person sees the faults
			return usagef("%w", err)
		}
		o.Validation, o.Ownership, o.SignIn, o.Portal = cfg.Validation, cfg.Ownership, cfg.SignIn, cfg.Portal
		o.Log = slog.New(slog.NewTextHandler(p.Out, &slog.HandlerOptions{Level: least}))
		if p.flags.KeyFile != "" {
			key, err := readSecret("key", p.flags.KeyFile)
			if err != nil {
				return err
			}
			o.Key = key
		} else if key, ok := p.Lookup(envKey); ok {
			o.Key = strings.TrimSpace(key)
		}
		return p.runDev(c.Context(), o)
	}
	return c
}

// runDev runs Surehook until ctx ends.
func (p *program) runDev(ctx context.Context, o dev.Options) error {
	s, err := dev.Start(context.WithoutCancel(ctx), o)
	if err != nil {
		return failure(err.Error())
	}
	if _, err := io.WriteString(p.Out, devGreeting(s.URL, s.Key, o.Keep, httpapi.HasConsole())); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	<-ctx.Done()

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), devGrace)
	defer cancel()
	if err := s.Stop(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return failure(err.Error())
	}
	return nil
}
