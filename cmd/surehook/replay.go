package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// replayPoll is the time between two reads of a job.
const replayPoll = time.Second

// job is a replay job with what came of its deliveries.
type job struct {
	ID         string `json:"id"`
	State      string `json:"state"`
	Selected   int    `json:"selected"`
	Enqueued   int    `json:"enqueued"`
	Skipped    int    `json:"skipped"`
	Delivered  int    `json:"delivered"`
	Dead       int    `json:"dead"`
	InProgress int    `json:"in_progress"`
}

// preview is the answer to a dry run.
type preview struct {
	Total      int               `json:"total"`
	Complete   bool              `json:"complete"`
	ByEndpoint []json.RawMessage `json:"by_endpoint"`
}

// replaying is the command line of replay.
type replaying struct {
	endpoint, state, since, until, addTo string
	types                                []string
	rate                                 float64
	yes                                  bool
}

func (p *program) replay() *cobra.Command {
	var r replaying
	c := &cobra.Command{
		Use: "replay", Short: "Replay the deliveries of a filter: dry run, confirmation, progress", Args: cobra.NoArgs,
		Long: "Show what a replay job would send, ask, start the job and show its progress.\n" +
			"Ctrl-C leaves the job running, and says how to cancel it. `replays` lists, shows and cancels jobs.",
		Example: "  surehook replay --endpoint orders --since 2026-11-20T00:00:00Z --rate 50",
	}
	f := c.Flags()
	f.StringVar(&r.endpoint, "endpoint", "", "only deliveries of this endpoint, by id or uid")
	f.StringVar(&r.state, "state", "", "dead (default), parked, delivered or discarded")
	f.StringSliceVar(&r.types, "event-type", nil, "event type, such as order.*; repeatable")
	f.StringVar(&r.since, "since", "", "not before this time, such as 2026-11-01T00:00:00Z")
	f.StringVar(&r.until, "until", "", "before this time")
	f.Float64Var(&r.rate, "rate", 0, "deliveries per second; 0 for the API's default")
	f.StringVar(&r.addTo, "add-to", "", "send the events to this endpoint instead, by id or uid")
	f.BoolVarP(&r.yes, "yes", "y", false, "start without a question")
	c.RunE = func(c *cobra.Command, _ []string) error { return p.runReplay(c.Context(), r) }
	return c
}

// body returns the request of the job.
func (r replaying) body(dry bool) ([]byte, error) {
	filter := map[string]any{}
	for name, value := range map[string]string{"endpoint": r.endpoint, "state": r.state, "since": r.since, "until": r.until} {
		if value != "" {
			filter[name] = value
		}
	}
	if len(r.types) > 0 {
		filter["event_types"] = r.types
	}
	start := map[string]any{"filter": filter}
	if r.rate != 0 {
		start["rate_per_second"] = r.rate
	}
	if r.addTo != "" {
		start["add_to"] = r.addTo
	}
	if dry {
		start["dry_run"] = true
	}
	body, err := json.Marshal(start)
	if err != nil {
		return nil, usagef("write the filter: %w", err)
	}
	return body, nil
}

func (p *program) runReplay(ctx context.Context, r replaying) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	tenant, err := s.requireTenant()
	if err != nil {
		return err
	}
	client, err := p.api(ctx, s)
	if err != nil {
		return err
	}
	path := route(replaysPath, map[string]string{"tenant": tenant})
	total, err := p.dryRun(ctx, client, path, r)
	if err != nil || total == 0 {
		return err
	}
	if !r.yes {
		if err := p.confirm(ctx, fmt.Sprintf("Replay %d deliveries?", total)); err != nil {
			return err
		}
	}
	started, err := p.startJob(ctx, client, path, r)
	if err != nil {
		return err
	}
	answer, err := p.watch(ctx, client, path, started)
	if err != nil {
		return err
	}
	return p.show(s, answer)
}

// dryRun shows the selection and returns its number.
func (p *program) dryRun(ctx context.Context, client *api, path string, r replaying) (int, error) {
	body, err := r.body(true)
	if err != nil {
		return 0, err
	}
	answer, err := client.do(ctx, request{method: post, path: path, body: body, again: true})
	if err != nil {
		return 0, fmt.Errorf("try the filter: %w", err)
	}
	var found preview
	if err := json.Unmarshal(answer, &found); err != nil {
		return 0, &badAnswerError{err}
	}
	if found.Total == 0 {
		fmt.Fprintln(p.Err, "The filter selects no delivery: there is nothing to replay.")
		return 0, nil
	}
	if err := writeRows(p.Err, columns("ENDPOINT=endpoint_id", "DELIVERIES=count"), found.ByEndpoint); err != nil {
		return 0, err
	}
	if !found.Complete {
		fmt.Fprintln(p.Err, "The dry run stopped counting: the job may select more.")
	}
	return found.Total, nil
}

// confirm asks the question. Without an answer the command needs --yes.
func (p *program) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(p.Err, "%s [y/N] ", question)
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() { // a read from a terminal does not end with ctx
		text, err := bufio.NewReader(p.In).ReadString('\n')
		replies <- reply{text, err}
	}()
	select {
	case <-ctx.Done():
		return errInterrupted
	case got := <-replies:
		switch strings.ToLower(strings.TrimSpace(got.text)) {
		case "y", "yes":
			return nil
		case "":
			if got.err != nil {
				return usagef("no answer on standard input: say --yes")
			}
		}
		return failure("nothing was replayed")
	}
}

// startJob starts the job. The request is not repeated: an unknown result may be a
// job, and a second request a second job.
func (p *program) startJob(ctx context.Context, client *api, path string, r replaying) (job, error) {
	var started job
	body, err := r.body(false)
	if err != nil {
		return started, err
	}
	// Ctrl-C does not end the request: its answer names the job.
	answer, err := client.do(context.WithoutCancel(ctx), request{method: post, path: path, body: body})
	if err != nil {
		var lost *unreachableError
		if errors.As(err, &lost) {
			return started, fmt.Errorf("start the job: %w\nthe job may have started: surehook replays list", err)
		}
		return started, fmt.Errorf("start the job: %w", err)
	}
	if err := json.Unmarshal(answer, &started); err != nil {
		return started, &badAnswerError{err}
	}
	return started, nil
}

// watch shows the progress until the job has sent its deliveries.
func (p *program) watch(ctx context.Context, client *api, path string, j job) (json.RawMessage, error) {
	id := j.ID
	goesOn := func() {
		fmt.Fprintf(p.Err, "\nThe job %[1]s goes on. Look: surehook replays get %[1]s. End it: surehook replays cancel %[1]s.\n", id)
	}
	for {
		answer, err := client.do(ctx, request{method: get, path: path + "/" + url.PathEscape(id), query: url.Values{}})
		if err == nil {
			if err = json.Unmarshal(answer, &j); err != nil {
				err = &badAnswerError{err}
			}
		}
		if err != nil {
			goesOn()
			return nil, fmt.Errorf("read the job: %w", err)
		}
		fmt.Fprintf(p.Err, "\r%s ", bar(j))
		if j.State != "running" {
			fmt.Fprintln(p.Err)
			return answer, nil
		}
		if err := sleep(ctx, replayPoll); err != nil {
			goesOn()
			return nil, err
		}
	}
}

// barWidth is the number of characters of a full bar.
const barWidth = 30

// bar draws the progress of a job. The job selects page by page, so the bar shows
// settled deliveries of those sent so far.
func bar(j job) string {
	settled := j.Delivered + j.Dead
	full := 0
	if j.Enqueued > 0 {
		full = min(barWidth, settled*barWidth/j.Enqueued)
	}
	return fmt.Sprintf("[%s%s] %s %s: %d selected, %d sent, %d delivered, %d dead",
		strings.Repeat("#", full), strings.Repeat(".", barWidth-full), j.ID, j.State, j.Selected, j.Enqueued, j.Delivered, j.Dead)
}
