package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

const (
	replayPoll = time.Second // between two reads of a job
	// settlePolls bounds the wait for deliveries after the job sent the last one, without
	// --wait: a retry may take hours.
	settlePolls = 10
)

// replaying is the command line of replay.
type replaying struct {
	endpoint, state, class, addTo string
	since, until, diedSince       *moment
	status, limit                 int
	types                         []string
	rate                          float64
	discard, wait, yes            bool
}

func (p *program) replay() *cobra.Command {
	var r replaying
	c := &cobra.Command{
		Use: "replay", Short: "Replay the deliveries of a filter: dry run, confirmation, result", Args: arguments,
		Long: "Show what a replay job would send, ask, start the job and show what becomes of the deliveries.\n" +
			"The exit code is 1 when a delivery died again or was cancelled. Without --wait the command ends some seconds after\n" +
			"the job sent the last delivery; deliveries that wait for a retry then have no result yet.\n" +
			"Ctrl-C leaves the job running, and says how to cancel it. `replays` lists, shows and cancels jobs.",
		Example: "  surehook replay --endpoint orders --since 2d --limit 10 --wait\n" +
			"  surehook replay --endpoint orders --since 2d --rate 50",
	}
	f := c.Flags()
	f.StringVar(&r.endpoint, "endpoint", "", "only deliveries of this endpoint, by id or uid")
	f.StringVar(&r.state, "state", "", "dead (default), parked, delivered or discarded")
	f.StringSliceVar(&r.types, "event-type", nil, "event type, such as order.*; repeatable")
	f.StringVar(&r.class, "class", "", "only this class of the last attempt, such as timeout; none for no attempt")
	f.IntVar(&r.status, "status", 0, "only this HTTP status of the last attempt")
	r.since = p.moment(f, "since", sinceUsage, time.Second)
	r.until = p.moment(f, "until", untilUsage, time.Second)
	r.diedSince = p.moment(f, "died-since", "only deliveries that died at this time or later, such as 2h or yesterday", time.Second)
	f.IntVar(&r.limit, "limit", 0, "at most this many deliveries, the oldest first; 0 for all")
	f.BoolVar(&r.discard, "discard", false, "discard the dead deliveries instead of sending them again")
	f.BoolVar(&r.wait, "wait", false, "wait until every delivery has a result")
	f.Float64Var(&r.rate, "rate", 0, "deliveries per second; 0 for the API's default")
	f.StringVar(&r.addTo, "add-to", "", "send the events to this endpoint instead, by id or uid")
	f.BoolVarP(&r.yes, "yes", "y", false, "start without a question")
	c.RunE = func(c *cobra.Command, _ []string) error { return p.runReplay(c.Context(), r) }
	return c
}

// body returns the request of the job, or of its dry run, after which expected is what that found.
func (r replaying) body(dry bool, expected int) ([]byte, error) {
	filter := map[string]any{}
	for name, value := range map[string]string{
		"endpoint": r.endpoint, "state": r.state, "class": r.class,
		"since": r.since.String(), "until": r.until.String(), "died_since": r.diedSince.String(),
	} {
		if value != "" {
			filter[name] = value
		}
	}
	if r.status != 0 {
		filter["status"] = r.status
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
	if r.limit != 0 {
		start["limit"] = r.limit
	}
	if r.discard {
		start["action"] = "discard"
	}
	if dry {
		start["dry_run"] = true
	} else {
		start["expected"] = expected
	}
	body, err := json.Marshal(start)
	if err != nil {
		return nil, usagef("write the filter: %w", err)
	}
	return body, nil
}

func (p *program) runReplay(ctx context.Context, r replaying) error {
	s, api, err := p.ofTenant(ctx)
	if err != nil {
		return err
	}
	path := s.path(replaysPath)
	total, err := p.dryRun(ctx, api, s.Tenant, path, r)
	if err != nil || total == 0 {
		return err
	}
	if !r.yes {
		if err := p.confirm(ctx, r.question(total)+p.where(s, true)); err != nil {
			return err
		}
	}
	started, err := p.startJob(ctx, api, path, r, total)
	if err != nil {
		return err
	}
	answer, err := p.watch(ctx, api, s.Tenant, started.Id, r.wait)
	if err != nil {
		return err
	}
	if err := p.show(s, answer.Body); err != nil {
		return err
	}
	return verdict(*answer.JSON200)
}

// question asks about the selected deliveries, total of them.
func (r replaying) question(total int) string {
	verb := "Replay"
	if r.discard {
		verb = "Discard"
	}
	noun := "deliveries"
	if total == 1 {
		noun = "delivery"
	}
	if r.limit > 0 && r.limit < total {
		return fmt.Sprintf("%s the oldest %d of %d deliveries?", verb, r.limit, total)
	}
	return fmt.Sprintf("%s %d %s?", verb, total, noun)
}

// verdict returns the failure of a job with deliveries that will not arrive.
func verdict(j openapi.ReplayProgress) error {
	if lost := j.Dead + j.Cancelled; lost > 0 {
		return failure(fmt.Sprintf("%d of %d deliveries did not arrive: %d dead again, %d cancelled", lost, j.Enqueued, j.Dead, j.Cancelled))
	}
	return nil
}

// dryRun shows the selection and returns its number.
func (p *program) dryRun(ctx context.Context, api *client.Client, tenant, path string, r replaying) (int, error) {
	body, err := r.body(true, 0)
	if err != nil {
		return 0, err
	}
	answer, err := api.Call(ctx, client.Call{Method: post, Path: path, Body: body})
	if err != nil {
		return 0, fmt.Errorf("try the filter: %w", err)
	}
	var found struct {
		openapi.ReplayPreview

		ByEndpoint []json.RawMessage `json:"by_endpoint"`
	}
	if err := decode(answer, &found); err != nil {
		return 0, err
	}
	if found.Total == 0 {
		fmt.Fprintln(p.Err, "The filter selects no delivery: there is nothing to do.")
		return 0, nil
	}
	if err := p.writeRows(p.Err, columns("ENDPOINT=endpoint_id", "DELIVERIES=count"), found.ByEndpoint, p.endpointNames(ctx, api, tenant)); err != nil {
		return 0, err
	}
	if !r.discard {
		p.warnUnready(ctx, api, tenant, found.ByEndpoint)
	}
	if !found.Complete {
		fmt.Fprintln(p.Err, "The counts are lower bounds: the job may select more.")
	}
	return found.Total, nil
}

// confirm asks the question. Without an answer the command needs --yes.
func (p *program) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(p.Err, "%s [y/N] ", question)
	text, err := p.line(ctx)
	switch answer := strings.ToLower(strings.TrimSpace(text)); {
	case errors.Is(err, errInterrupted):
		return err
	case answer == "y", answer == "yes":
		return nil
	case answer == "" && err != nil:
		return usagef("no answer on standard input: say --yes")
	}
	return failure("nothing was done")
}

// startJob starts the job. The request is not repeated: an unknown result may be a
// job, and a second request a second job.
func (p *program) startJob(ctx context.Context, api *client.Client, path string, r replaying, total int) (openapi.Replay, error) {
	var started openapi.Replay
	body, err := r.body(false, total)
	if err != nil {
		return started, err
	}
	// Ctrl-C does not end the request: its answer names the job.
	answer, err := api.Call(context.WithoutCancel(ctx), client.Call{Method: post, Path: path, Body: body})
	if err != nil {
		if _, lost := errors.AsType[*client.UnreachableError](err); lost {
			return started, fmt.Errorf("start the job: %w\nthe job may have started: surehook replays list", err)
		}
		return started, fmt.Errorf("start the job: %w", err)
	}
	if err := decode(answer, &started); err != nil {
		return started, err
	}
	return started, nil
}

// watch shows the progress until the job has sent its deliveries, and then until the
// deliveries have an outcome: for some seconds, or with all for as long as it takes.
func (p *program) watch(ctx context.Context, api *client.Client, tenant, id string, all bool) (*openapi.GetReplayResult, error) {
	goesOn := func() {
		fmt.Fprintf(p.Err, "\nThe job %[1]s goes on. Look: surehook replays get %[1]s. End it: surehook replays cancel %[1]s.\n", id)
	}
	for ended := 0; ; {
		answer, err := api.GetReplayWithResponse(ctx, tenant, id)
		if err != nil {
			goesOn()
			return nil, fmt.Errorf("read the job: %w", err)
		}
		j := *answer.JSON200
		fmt.Fprintf(p.Err, "\r%s ", bar(j))
		if j.State != openapi.ReplayProgressStateRunning {
			if ended++; j.InProgress == 0 || ended > settlePolls && !all {
				fmt.Fprintln(p.Err)
				if j.InProgress > 0 {
					fmt.Fprintf(p.Err, "%d deliveries have no outcome yet. Look: surehook replays get %s.\n", j.InProgress, id)
				}
				return answer, nil
			}
		}
		if err := sleep(ctx, replayPoll); err != nil {
			goesOn()
			return nil, err
		}
	}
}

// barWidth is the number of characters of a full bar.
const barWidth = 30

// bar draws the progress of a job: of all its deliveries, the share with an outcome.
func bar(j openapi.ReplayProgress) string {
	all, done := whole(j), j.Enqueued-j.InProgress+j.Skipped
	full := 0
	if all > 0 {
		full = min(barWidth, done*barWidth/all)
	}
	result := fmt.Sprintf("%d discarded", j.Enqueued)
	if j.Action != openapi.ReplayProgressActionDiscard {
		of := ""
		if left := all - j.Skipped; left > j.Enqueued {
			of = fmt.Sprintf(" of %d", left)
		}
		result = fmt.Sprintf("%d%s queued, %d delivered, %d dead again, %d waiting", j.Enqueued, of, j.Delivered, j.Dead, j.InProgress)
	}
	if j.Cancelled > 0 {
		result += fmt.Sprintf(", %d cancelled", j.Cancelled)
	}
	return fmt.Sprintf("[%s%s] %s %s: %s%s",
		strings.Repeat("#", full), strings.Repeat(".", barWidth-full), j.Id, j.State, result, skipped(j))
}

// whole returns the number of deliveries of the job: those selected, and while it runs what its dry run
// found, if that is more.
func whole(j openapi.ReplayProgress) int {
	if j.State != openapi.ReplayProgressStateRunning || j.Expected == nil {
		return j.Enqueued + j.Skipped
	}
	expected := *j.Expected
	if j.Limit != nil {
		expected = min(expected, *j.Limit+j.Skipped)
	}
	return max(expected, j.Enqueued+j.Skipped)
}

// skipped names the deliveries that the job left alone, by reason.
func skipped(j openapi.ReplayProgress) string {
	if j.Skipped == 0 {
		return ""
	}
	var why []string
	if j.SkippedByReason != nil {
		for _, reason := range slices.Sorted(maps.Keys(*j.SkippedByReason)) {
			why = append(why, fmt.Sprintf("%d %s", (*j.SkippedByReason)[reason], strings.ReplaceAll(reason, "_", " ")))
		}
	}
	if len(why) == 0 {
		return fmt.Sprintf(", %d skipped", j.Skipped)
	}
	return fmt.Sprintf(", %d skipped (%s)", j.Skipped, strings.Join(why, ", "))
}

// mostWarned is the number of endpoints that replay looks at before it asks.
const mostWarned = 10

// warnUnready names the endpoints that cannot take the deliveries now: these wait, or die again.
func (p *program) warnUnready(ctx context.Context, api *client.Client, tenant string, to []json.RawMessage) {
	for _, row := range to[:min(len(to), mostWarned)] {
		var of openapi.EndpointCount
		if decode(row, &of) != nil {
			continue
		}
		answer, err := api.Call(ctx, client.Call{Method: get, Path: client.Path(endpointsPath+"/{endpoint}/health", map[string]string{"tenant": tenant, "endpoint": of.EndpointId})})
		var h openapi.EndpointHealth
		if err != nil || decode(answer, &h) != nil { // deleted, or the key may not read: the job says what it skips
			continue
		}
		switch {
		case h.Status != openapi.EndpointHealthStatusActive:
			fmt.Fprintf(p.Err, "%s is %s: its deliveries wait until that ends.\n", of.EndpointId, h.Status)
		case h.CircuitState.State != openapi.CircuitStateStateClosed:
			fmt.Fprintf(p.Err, "The circuit of %s is %s: its deliveries wait for a probe that succeeds.\n", of.EndpointId, strings.ReplaceAll(string(h.CircuitState.State), "_", " "))
		case h.Condition.State == openapi.ConditionStateFailing && h.Condition.Class != nil:
			fmt.Fprintf(p.Err, "%s still fails: %s. Its deliveries may die again.\n", of.EndpointId, answered(h.Condition.Status, *h.Condition.Class))
		}
	}
}
