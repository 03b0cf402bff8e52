package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// An effect counts in one request what a call ends or takes away.
type effect struct {
	path, query string // of the request; {arg} in them is the first argument
	count       func(arg string, answer json.RawMessage) (string, error)
	unread      string // said in place of the number to a key that may not read
}

// waitingOf counts the waiting deliveries of the endpoint.
func waitingOf() *effect {
	return &effect{path: endpointsPath + "/{arg}/health", unread: "What waits is cancelled.", count: func(_ string, answer json.RawMessage) (string, error) {
		var health openapi.EndpointHealth
		err := decode(answer, &health)
		return cancelled(health.Deliveries.Retrying+health.Deliveries.Parked, about(health.Complete, health.AsOf)), err
	}}
}

// unsettledOf counts the waiting deliveries of the event.
func unsettledOf() *effect {
	return &effect{path: eventsPath + "/{arg}/deliveries", query: "limit=100", unread: "What waits is cancelled.", count: func(_ string, answer json.RawMessage) (string, error) {
		var list openapi.DeliveryList
		err := decode(answer, &list)
		n := 0
		for _, d := range list.Data {
			if slices.Contains([]openapi.DeliveryState{openapi.DeliveryStateQueued, openapi.DeliveryStateRetrying, openapi.DeliveryStateParked}, d.State) {
				n++
			}
		}
		return cancelled(n, atLeast(list.NextCursor == nil)), err
	}}
}

func cancelled(n int, about string) string {
	return about + counted(n, "waiting delivery is", "waiting deliveries are") + " cancelled."
}

// sentBy counts the deliveries that the job has sent.
func sentBy() *effect {
	return &effect{path: replaysPath + "/{arg}", unread: "What it has sent goes on.", count: func(_ string, answer json.RawMessage) (string, error) {
		var job openapi.Replay
		err := decode(answer, &job)
		of := ""
		if job.Expected != nil {
			of = fmt.Sprintf(" of %d", *job.Expected)
		}
		return fmt.Sprintf("%d%s are sent, and go on.", job.Enqueued, of), err
	}}
}

// endpointsOfTenant counts the endpoints of the tenant. Nobody counts its events.
func endpointsOfTenant() *effect {
	return &effect{path: "/v1/tenants", query: "limit=1&prefix={arg}", unread: "Its events are not counted.", count: func(arg string, answer json.RawMessage) (string, error) {
		var list openapi.TenantList
		err := decode(answer, &list)
		n := 0
		if len(list.Data) > 0 && list.Data[0].Id == arg {
			n = list.Data[0].Endpoints
		}
		return counted(n, "endpoint goes", "endpoints go") + "; its events are not counted.", err
	}}
}

// said returns what the call with the argument ends or takes away.
func (e *effect) said(ctx context.Context, api *client.Client, tenant, arg string) (string, error) {
	query, err := url.ParseQuery(strings.ReplaceAll(e.query, "{arg}", url.QueryEscape(arg)))
	if err != nil {
		return "", fmt.Errorf("count what ends: %w", err)
	}
	answer, err := api.Call(ctx, client.Call{Method: get, Path: client.Path(e.path, map[string]string{"tenant": tenant, "arg": arg}), Query: query})
	if problem, refused := errors.AsType[*client.Problem](err); refused && problem.Status == http.StatusForbidden { // the key may change, and not read
		return e.unread, nil
	}
	if err != nil {
		return "", fmt.Errorf("count what ends: %w", err)
	}
	return e.count(arg, answer)
}

// askBefore asks the question of the operation about the argument. It says where the call acts.
func (p *program) askBefore(ctx context.Context, api *client.Client, s settings, o operation, arg string) error {
	if o.mild && p.Secret == nil { // nobody is there
		return nil
	}
	question := fmt.Sprintf(o.ask, printable(arg))
	if o.effect != nil {
		said, err := o.effect.said(ctx, api, s.Tenant, arg)
		if err != nil {
			return err
		}
		question += " " + said
	}
	return p.confirm(ctx, question+p.where(s, strings.Contains(o.path, "{tenant}") && !strings.Contains(o.use, "TENANT")))
}

// where names the tenant, the context and the deployment that a call acts on.
func (p *program) where(s settings, tenant bool) string {
	place := s.URL
	if file, err := p.readConfig(); err == nil {
		if named := p.contextInUse(file); named != "" {
			place = named + ", " + place
		}
	}
	if tenant && s.Tenant != "" {
		place = "tenant " + s.Tenant + ", " + place
	}
	return " [" + printable(place) + "]"
}

// atLeast returns the words before a number that is a lower bound.
func atLeast(complete bool) string {
	if complete {
		return ""
	}
	return "at least "
}

// about returns the words before a number that is a lower bound, or was counted before.
func about(complete bool, asOf *time.Time) string {
	if asOf != nil && complete {
		return "about "
	}
	return atLeast(complete)
}

// counted returns the number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
