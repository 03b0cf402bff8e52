package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
	"surehook.example/surehook/internal/names"
)

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: arguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.Out, names.Version)
			return err
		},
	}
}

// why says in a few lines what is wrong with an endpoint. It reads the health, of one with dead deliveries those
// that block their ordering key, and of one that fails the newest deliveries with a failed attempt.
func (p *program) why() *cobra.Command {
	return &cobra.Command{
		Use: "why ENDPOINT", Short: "Say in a few lines how an endpoint does: since when, what it answers, what waits, what is lost", Args: arguments,
		RunE: func(c *cobra.Command, args []string) error {
			s, api, err := p.ofTenant(c.Context())
			if err != nil {
				return err
			}
			path := client.Path(endpointsPath+"/{endpoint}", map[string]string{"tenant": s.Tenant, "endpoint": args[0]})
			answer, err := api.Call(c.Context(), client.Call{Method: get, Path: path + "/health"})
			if err != nil {
				return fmt.Errorf("read the health: %w", err)
			}
			if s.Output == outputJSON {
				return writeJSON(p.Out, answer)
			}
			var h openapi.EndpointHealth
			if err := decode(answer, &h); err != nil {
				return err
			}
			blocked, last := "", ""
			if h.Deliveries.Dead > 0 {
				if blocked, err = p.blocked(c.Context(), api, s.Tenant, args[0]); err != nil {
					return err
				}
			}
			if fails(h.Condition) {
				if last, err = lastFailure(c.Context(), api, path); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(p.Out, printable(p.verdict(args[0], h)+blocked+last))
			return err
		},
	}
}

// verdict returns what the health says, a line for each fact.
func (p *program) verdict(name string, h openapi.EndpointHealth) string {
	lines := []string{name + " is " + string(h.Condition.State)}
	if c := h.Condition; c.Since != nil {
		lines[0] += " since " + c.Since.In(p.Now().Location()).Format("Mon 15:04") + " (" + relative(*c.Since, p.Now()) + ")"
		if c.Class != nil {
			lines[0] += ": " + answered(c.Status, *c.Class)
		}
		if c.Reason != nil {
			lines[0] += ": " + string(*c.Reason)
		}
	}
	if n := h.Deliveries.Retrying + h.Deliveries.Parked; n > 0 {
		line := about(h.Complete, h.AsOf) + counted(n, "delivery waits", "deliveries wait")
		if at := h.CircuitState.NextProbeAt; at != nil && h.Status == openapi.EndpointHealthStatusActive {
			line += ", the next probe " + relative(*at, p.Now())
		}
		lines = append(lines, line)
	}
	if b := h.Backlog; b != nil && b.FirstLossAt != nil {
		lines = append(lines, counted(b.AtRisk, "delivery is", "deliveries are")+" lost if nothing changes, the first "+relative(*b.FirstLossAt, p.Now()))
	}
	if h.Deliveries.Dead > 0 {
		lines = append(lines, about(h.Complete, h.AsOf)+counted(h.Deliveries.Dead, "dead letter", "dead letters")+": surehook dead-letters")
	}
	if h.AsOf != nil {
		lines = append(lines, "of more than 100, as counted "+relative(*h.AsOf, p.Now()))
	}
	return strings.Join(lines, "\n")
}

// blocked returns a line for each of the ordering keys that a dead delivery blocks, the newest ones, and what to do;
// empty without one.
func (p *program) blocked(ctx context.Context, api *client.Client, tenant, endpoint string) (string, error) {
	path := client.Path(deadPath, map[string]string{"tenant": tenant})
	answer, err := api.Call(ctx, client.Call{Method: get, Path: path, Query: query("endpoint", endpoint, "blocking", "true", "limit", "5")})
	if err != nil {
		return "", fmt.Errorf("list the blocked ordering keys: %w", err)
	}
	var list openapi.DeliveryList
	if err := decode(answer, &list); err != nil || len(list.Data) == 0 {
		return "", err
	}
	lines := ""
	for _, d := range list.Data {
		lines += fmt.Sprintf("\nordering key %s stands still: number %d is dead since %s, %d behind it\n  surehook deliveries get %s",
			d.Ordering.Key, d.Ordering.Number, relative(d.UpdatedAt, p.Now()), *d.Ordering.Behind, d.Id)
	}
	if list.NextCursor != nil {
		lines += "\nthere may be more: surehook dead-letters list --blocking true --endpoint " + endpoint
	}
	return lines + "\nreplay or discard it, and the next one is sent. With --on-failure skip, a dead delivery blocks no other", nil
}

// fails reports whether the condition comes from answers of the endpoint.
func fails(c openapi.Condition) bool {
	switch c.State {
	case openapi.ConditionStateFailing, openapi.ConditionStateDegraded:
		return true
	case openapi.ConditionStateDisabled:
		return c.Reason != nil && *c.Reason != openapi.ConditionReasonManual
	case openapi.ConditionStateHealthy, openapi.ConditionStatePaused, openapi.ConditionStateQuiet:
	}
	return false
}

// lastFailure returns the newest failed answer of the endpoint as lines of text; empty without one
// that is the last of its delivery.
func lastFailure(ctx context.Context, api *client.Client, path string) (string, error) {
	answer, err := api.Call(ctx, client.Call{Method: get, Path: path + "/deliveries", Query: query("limit", "20", "failed_attempt", "true")})
	if err != nil {
		return "", fmt.Errorf("list the deliveries: %w", err)
	}
	var list openapi.DeliveryList
	if err := decode(answer, &list); err != nil {
		return "", err
	}
	for _, d := range list.Data {
		if d.Last == nil || d.Last.Class == openapi.OutcomeClassDelivered {
			continue
		}
		return "\nlast answer: " + answered(d.Last.Status, d.Last.Class) + indented(d.Last.Error, d.Last.Body) + "\nsurehook deliveries get " + d.Id, nil
	}
	return "", nil
}

// indented returns the texts that are there, each on lines of its own.
func indented(texts ...*string) string {
	lines := ""
	for _, text := range texts {
		if text != nil && *text != "" {
			lines += "\n  " + strings.ReplaceAll(strings.TrimSpace(*text), "\n", "\n  ")
		}
	}
	return lines
}

// answered returns the status, if there was an answer, and the class of an attempt.
func answered[C ~string](status *int, class C) string {
	if status == nil {
		return string(class)
	}
	return strconv.Itoa(*status) + " " + string(class)
}
