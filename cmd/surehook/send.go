package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
)

func (p *program) send() *cobra.Command {
	var key, orderingKey, lines, resume string
	var rate float64
	c := &cobra.Command{
		Use: "send [EVENT-TYPE PAYLOAD]", Short: "Send one event, or the events of a file",
		Long: "Send one event: a type and a payload of JSON, @FILE, or - for standard input.\n" +
			"Or send the events of a file with --lines: JSON lines with event_type, payload, and if wanted idempotency_key, ordering_key and retain_for.\n\n" +
			"With --resume the command notes in a file how far it came. The same command continues there, and no event is sent twice:\n" +
			"a line without idempotency_key gets a key of the run and the line.",
		Example: "  surehook send order.paid '{\"order\": 4711}' --idempotency-key order-4711-paid\n" +
			"  surehook send --lines events.jsonl --rate 200 --resume events.progress",
	}
	c.Flags().StringVar(&key, "idempotency-key", "", "your own id of the event: a repeat is accepted once")
	c.Flags().StringVar(&orderingKey, "ordering-key", "", "ordered endpoints get the events with an equal key one after the other")
	c.Flags().StringVar(&lines, "lines", "", "file with events as JSON lines, or - for standard input")
	c.Flags().Float64Var(&rate, "rate", 0, "most events per second; 0 for no limit")
	c.Flags().StringVar(&resume, "resume", "", "file with the progress: continue there")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := excludes(c, "lines", "idempotency-key", "ordering-key"); err != nil {
			return err
		}
		if rate < 0 {
			return usagef("--rate is %g: say 0 or more events per second", rate)
		}
		if lines == "" && (rate != 0 || resume != "") {
			return usagef("--rate and --resume are for --lines")
		}
		want := 2
		if lines != "" {
			want = 0
		}
		if len(args) != want {
			return usagef("say an event type and a payload, such as: surehook send order.paid '{\"order\": 4711}'; or say --lines FILE alone")
		}
		s, api, err := p.ofTenant(c.Context())
		if err != nil {
			return err
		}
		path := s.path(eventsPath)
		if lines == "" {
			return p.sendOne(c.Context(), api, s, path, args[0], args[1], key, orderingKey)
		}
		return p.sendLines(c.Context(), api, path+"/batch", lines, resume, rate)
	}
	return c
}

// sendOne posts one event. Without a key of the caller the event has a key of
// this run, so that a repeat after a lost answer makes no second event.
func (p *program) sendOne(ctx context.Context, api *client.Client, s settings, path, eventType, given, key, orderingKey string) error {
	payload, err := p.data("the payload", given)
	if err != nil {
		return err
	}
	if payload == nil {
		return usagef("the payload is empty: say JSON, @FILE, or - for standard input")
	}
	event := map[string]any{"event_type": eventType, "payload": json.RawMessage(payload)}
	if orderingKey != "" {
		event["ordering_key"] = orderingKey
	}
	body, err := json.Marshal(event)
	if err != nil {
		return usagef("the payload: %w", err)
	}
	header := http.Header{"Idempotency-Key": {cmp.Or(key, newRun())}}
	answer, err := api.Call(ctx, client.Call{Method: post, Path: path, Body: body, Header: header})
	if err != nil {
		return fmt.Errorf("send the event: %w", err)
	}
	return p.show(s, answer)
}

// sendLines posts the events of a file.
func (p *program) sendLines(ctx context.Context, api *client.Client, path, name, resume string, rate float64) error {
	in := p.In
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return usagef("--lines: %w", err)
		}
		defer f.Close() //nolint:errcheck // the file was read only
		in = f
	}
	progress, err := openProgress(resume)
	if err != nil {
		return err
	}
	if progress.Lines > 0 {
		fmt.Fprintf(p.Err, "continuing after line %d\n", progress.Lines)
	}
	run := &sending{program: p, api: api, path: path, progress: progress, began: p.Now(), rate: rate}
	err = run.all(ctx, bufio.NewReaderSize(in, lineBuffer))
	run.report(true)
	switch {
	case err != nil && resume != "":
		fmt.Fprintf(p.Err, "The same command continues after line %d.\n", progress.Lines)
		return err
	case err != nil:
		return err
	case progress.Refused > 0:
		return failure(fmt.Sprintf("%d of %d lines were refused", progress.Refused, progress.Lines))
	}
	return nil
}

// all sends the lines after those of an earlier run.
func (s *sending) all(ctx context.Context, in *bufio.Reader) error {
	skip := s.progress.Lines
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return usagef("read line %d: %w", number, err)
		}
		if number == 1 {
			line = unmarked(line)
		}
		ended := err != nil
		if len(line) > 0 && number > skip {
			if err := s.add(ctx, number, line); err != nil {
				return err
			}
		}
		if ended {
			return s.flush(ctx)
		}
	}
}
